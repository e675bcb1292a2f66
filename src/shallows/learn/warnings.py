"""Warnings of the estimators; each is a class of its own, so that it can be filtered or made an error by name."""

from __future__ import annotations


class UndeterminedWarning(UserWarning):
    """The data does not determine every coefficient; the choice of minimum norm was made (see `undetermined_`)."""


class WidthWarning(UserWarning):
    """More neurons were asked for than any quadratic network of this many inputs can use."""
