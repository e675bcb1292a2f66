"""Training: flows, descents and ensembles for any problem."""
