"""Estimators for scikit-learn, and deep quadratic networks (paper 002).

`QuadraticNetRegressor`, `QuadraticNetClassifier`, `PolynomialNetRegressor` and `DeepQuadraticRegressor` follow
scikit-learn's interface and need the extra `learn`; everything else here needs NumPy and SciPy only. The names are
listed in `learn.pyi`.
"""

from typing import Any

from shallows.support.errors import MissingExtra
from shallows.support.first_use import names_of_stub

_load, __dir__, __all__ = names_of_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    try:
        return _load(name)
    except ImportError as error:
        if (error.name or "").startswith("sklearn"):
            raise MissingExtra("scikit-learn", "learn") from error
        raise
