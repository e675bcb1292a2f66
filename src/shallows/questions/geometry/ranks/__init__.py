"""Ranks and widths: what networks of a width compute, and how many parameters that takes."""
