"""What training returns: runs, ensembles, distinct minima, matches with a chart, text and figures."""
