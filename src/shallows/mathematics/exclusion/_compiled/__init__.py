"""Loops over many intervals at once."""
