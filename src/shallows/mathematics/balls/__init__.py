"""Proofs in ball arithmetic: roots of exact systems, their number, realness and signatures."""
