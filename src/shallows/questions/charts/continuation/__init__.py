"""From a solved member of a family of critical equations to any other."""
