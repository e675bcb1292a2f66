"""The errors of `shallows`: each says what was given, what was expected, and how to fix it."""

from __future__ import annotations


class ShallowsError(Exception):
    """Base of every error that `shallows` raises on purpose."""


class InvalidProblem(ShallowsError, ValueError):
    """The input does not describe a problem: raised at construction, before any work starts."""


class NotConverged(ShallowsError, ArithmeticError):
    """A numerical method did not reach the accuracy it promises."""


class IncompleteChart(ShallowsError):
    """Critical points may be missing: paths failed or a count does not match."""


class MissingExtra(ShallowsError, ImportError):
    """An optional dependency is not installed; the message names the extra that brings it."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed. Fix: pip install 'shallows[{extra}]'")
        self.package = package
        self.extra = extra


class NotDifferentiable(InvalidProblem):
    """A derivative was asked for at a point where the loss has none (a zero ReLU neuron)."""
