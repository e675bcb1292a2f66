"""Quadratic networks (papers 001 and 002): barriers, sample thresholds, certificates, spurious minima."""
