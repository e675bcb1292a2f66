"""Exact arithmetic: rational polynomials, linear algebra over Q, and msolve."""
