"""Limits of polynomial neurons: where neurons end, what they leave there, and which limits are critical."""
