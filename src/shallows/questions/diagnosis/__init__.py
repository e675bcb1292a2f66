"""Trained weights, looked at from all sides: what they are, what is proved of them, and what is only sampled."""
