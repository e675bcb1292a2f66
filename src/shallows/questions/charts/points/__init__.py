"""What is said of a critical point once it is found: kind, network, signs, its look in parameter space."""
