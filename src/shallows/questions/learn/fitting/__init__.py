"""Least squares on polynomial features, and networks with fewer neurons than it takes to reach it."""
