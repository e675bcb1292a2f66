"""Critical sums of r powers of degree d ≥ 3 under any metric: the equations, their tracking, their proofs."""
