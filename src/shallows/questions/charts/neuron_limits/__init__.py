"""Limits of pairs of polynomial neurons: where neurons end, what pairs leave there, and which limits are critical."""
