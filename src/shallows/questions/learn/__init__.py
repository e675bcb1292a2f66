"""Estimators for scikit-learn, and deep quadratic networks (paper 002)."""
