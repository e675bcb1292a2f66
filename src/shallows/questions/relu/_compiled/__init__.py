"""Compiled loops of symmetric charts: the lengths of neurons over many boxes of directions."""
