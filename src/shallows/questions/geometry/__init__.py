"""The geometry of function space: widths, fibers, critical parameters, focal points (paper 000, sections 2 and 3)."""
