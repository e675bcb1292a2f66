"""Estimators with scikit-learn's interface; where that is not installed they say which extra brings it."""

from shallows.support.errors import MissingExtra

try:
    import sklearn  # noqa: F401
except ImportError:
    raise MissingExtra("scikit-learn", "learn") from None
