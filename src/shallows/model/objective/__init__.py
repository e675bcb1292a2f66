"""Objectives: the loss as a function of neurons and outer weights, one exact method a file."""
