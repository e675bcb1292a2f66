"""Deep quadratic-linear networks: layers of quadratic forms (paper 002, section 3.4 and appendix F)."""
