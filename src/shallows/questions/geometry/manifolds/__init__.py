"""The manifolds on which students live, and the distance of a teacher to them."""
