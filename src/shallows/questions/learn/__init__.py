"""Estimators for scikit-learn, and deep quadratic networks (paper 002).

`QuadraticNetRegressor`, `QuadraticNetClassifier`, `PolynomialNetRegressor` and `DeepQuadraticRegressor` follow
scikit-learn's interface and need the extra `learn`; everything else here needs NumPy and SciPy only.
"""
