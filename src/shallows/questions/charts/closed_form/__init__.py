"""Critical points by formula: Theorems 34, 35 and 36 of paper 000, and matrices of full rank."""
