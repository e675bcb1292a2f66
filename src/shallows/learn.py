"""Estimators for scikit-learn, and deep quadratic networks (paper 002).

`QuadraticNetRegressor`, `QuadraticNetClassifier`, `PolynomialNetRegressor` and `DeepQuadraticRegressor` follow
scikit-learn's interface and need the extra `learn`; everything else here needs NumPy and SciPy only.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from shallows.support.errors import MissingExtra

_LATER = {
    "DeepQuadraticRegressor": "deep_regressor",
    "DeepRuns": "deep.training",
    "Frame": "frame",
    "Optimality": "proofs.optimality",
    "PolynomialNetRegressor": "polynomial",
    "PolynomialRun": "deep.polynomial_linear",
    "QuadraticNetClassifier": "classifier",
    "QuadraticNetRegressor": "regressor",
    "QuadraticReceptiveField": "receptive_fields",
    "Statistics": "statistics",
    "Undetermined": "least_squares",
    "UndeterminedWarning": "warnings",
    "WidthWarning": "warnings",
    "receptive_field": "receptive_fields",
    "simulate_spikes": "receptive_fields",
    "train_deep": "deep.training",
    "train_polynomial": "deep.polynomial_linear",
}
__all__ = sorted(_LATER)
_ESTIMATORS = ("regressor", "classifier", "polynomial", "deep_regressor")


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'shallows.learn' has no attribute {name!r}")
    module = _LATER[name]
    try:
        value = getattr(import_module(f"shallows.questions.learn.{module}"), name)
    except ImportError as error:
        if module in _ESTIMATORS and (error.name or "").startswith("sklearn"):
            raise MissingExtra("scikit-learn", "learn") from error
        raise
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
