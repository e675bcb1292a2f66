"""Discriminants and focal loci: where the landscape changes (paper 000, sections 3.2 and 3.3)."""
