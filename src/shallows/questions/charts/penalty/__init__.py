"""Quadratic networks under the orthogonality penalty, with outer weights that differ or are trained."""
