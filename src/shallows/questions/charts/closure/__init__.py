"""Limits of networks that are no networks of their width: merged neurons, their critical equations and proofs."""
