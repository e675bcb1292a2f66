"""Estimators for scikit-learn, and deep quadratic networks (paper 002).

`QuadraticNetRegressor`, `QuadraticNetClassifier`, `PolynomialNetRegressor` and `DeepQuadraticRegressor` follow
scikit-learn's interface and need the extra `learn`; everything else here needs NumPy and SciPy only. The names are
listed in `learn.pyi`.
"""

from shallows.support.first_use import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
