"""The landscape of one neuron as a picture: a map, hills and a globe; one module for site, reports and explorer."""
