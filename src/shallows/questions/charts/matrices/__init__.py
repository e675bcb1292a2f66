"""Critical matrices of given rank under any metric: the equations, their tracking, their proofs."""
