"""The errors of `shallows`: each says what was given, what was expected, and how to fix it."""

from __future__ import annotations


class ShallowsError(Exception):
    """Base of every error that `shallows` raises on purpose: `except sh.ShallowsError` catches them all.

    >>> try:
    ...     sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(3), width=1)
    ... except sh.ShallowsError as error:
    ...     print(error)
    The target has 2 inputs and the data 3; they must agree. Fix: Gaussian(2, ...), or a target with 3 inputs.
    """


class InvalidProblem(ShallowsError, ValueError):
    """The input does not describe a problem: raised at construction, before any work starts.

    >>> sh.Gaussian(2, covariance=[[1.0, 2.0], [2.0, 1.0]])
    Traceback (most recent call last):
        ...
    shallows.support.errors.InvalidProblem: covariance is indefinite: its smallest eigenvalue is -1; expected a positive
    semidefinite matrix.
    """


class NotConverged(ShallowsError, ArithmeticError):
    """A numerical method did not reach the accuracy it promises.

    >>> sign = sh.Smooth(np.sign)               # not smooth: its Hermite coefficients decay too slowly
    >>> sh.Problem(sh.Network([[1.0, 0.0]], activation=sign), sh.Gaussian(2), width=1)
    Traceback (most recent call last):
        ...
    shallows.support.errors.NotConverged: The Hermite series of Smooth(sign) and Smooth(sign) does not converge: ...
    """


class IncompleteChart(ShallowsError):
    """Critical points may be missing: paths failed or a count does not match.

    >>> hasty = sh.homotopy.TrackerSettings(steps=3)
    >>> sh.homotopy.solve(["x^2 + y^2 - 5", "x*y - 2"], settings=hasty)
    Traceback (most recent call last):
        ...
    shallows.support.errors.IncompleteChart: 4 of 4 paths were lost (path 0: the path took more steps than allowed ...
    """


class MissingExtra(ShallowsError, ImportError):
    """An optional dependency is not installed; the message names the extra that brings it.

    >>> raise sh.MissingExtra("dash", "explore")        # what `shallows explore` does without Dash
    Traceback (most recent call last):
        ...
    shallows.support.errors.MissingExtra: dash is not installed. Fix: pip install 'shallows[explore]'
    """

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed. Fix: pip install 'shallows[{extra}]'")
        self.package = package
        self.extra = extra


class NotDifferentiable(InvalidProblem):
    """A derivative was asked for at a point where the loss has none (a zero ReLU neuron).

    >>> zero = sh.Network([[0.0, 0.0]], activation=sh.ReLU())
    >>> problem = sh.Problem(sh.Network([[1.0, 0.0]], activation=sh.ReLU()), sh.Gaussian(2), width=1)
    >>> problem.loss(zero)
    0.5
    >>> problem.gradient(zero)
    Traceback (most recent call last):
        ...
    shallows.support.errors.NotDifferentiable: Neuron 0 is zero (under the data's covariance): a ReLU network is not ...
    """
