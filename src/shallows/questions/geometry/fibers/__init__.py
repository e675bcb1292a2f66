"""Fibers: all networks with the same function, their components and the paths inside them."""
