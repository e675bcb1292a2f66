"""Ways down: paths along which a convex loss never increases, and where there is none."""
