"""Sweeps: many problems from one file, on one machine or a cluster; results that survive whatever happens."""
