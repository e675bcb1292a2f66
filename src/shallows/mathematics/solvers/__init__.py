"""Iterative solvers for batches: conjugate gradients and Levenberg-Marquardt, one of each."""
