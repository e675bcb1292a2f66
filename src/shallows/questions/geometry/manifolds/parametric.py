"""A manifold the user gives as a function: curves, surfaces, anything with a parameterisation."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shallows.questions.geometry.manifolds.rank_manifolds import ManifoldChart
from shallows.support.checks import Array, describe, finite_array
from shallows.support.errors import InvalidProblem

#: h of the complex step: its error is h², and nothing cancels (Squire and Trapp 1998).
COMPLEX_STEP = 1e-30
#: Of fourth-order differences of a Jacobian exact to ε: h⁴ = 1e-12 and ε/h = 2e-13 balance.
DIFFERENCE_STEP = 1e-3
#: Of the central differences that derivatives are compared with: their error is h² = 1e-10 and ε/h = 2e-11.
CHECK_STEP = 1e-5
#: How well derivatives agree with them at least: much better than this where the function varies on a scale of one.
CHECK_TOLERANCE = 1e-5

VectorFunction = Callable[[NDArray[Any]], ArrayLike]


class ParametricChart(ManifoldChart):
    """X near x(at), for a function u ↦ x(u) from R^k to R^N written with NumPy.

    Derivatives, in this order of preference (`method` says which was used):

    - given: `jacobian(u)` of shape (N, k) and `hessian(u)` of shape (N, k, k);
    - Jacobian by the complex step Im x(u + i h e_j)/h, h = 1e-30: exact to rounding, for functions that are
      analytic and accept complex numbers;
    - second derivatives by the complex step of a given Jacobian, or else by fourth-order central differences
      (step 1e-3) of the complex-step Jacobian: about 1e-11 relative for functions that vary on a scale of one.

    Every first and second derivative is compared with central differences at the base point; a disagreement (a
    wrong formula, or a function such as |u| that is not analytic) is an error, not a wrong answer.

    >>> circle = ParametricChart(lambda u: [np.cos(u[0]), np.sin(u[0])], at=0.0)
    >>> circle.jacobian(circle.base).round(12).tolist()
    [[-0.0], [1.0]]
    """

    def __init__(
        self,
        function: VectorFunction,
        at: ArrayLike,
        jacobian: VectorFunction | None = None,
        hessian: VectorFunction | None = None,
    ) -> None:
        for name, given in (("function", function), ("jacobian", jacobian), ("hessian", hessian)):
            if not callable(given) and (given is not None or name == "function"):
                raise InvalidProblem(f"{name} is {describe(given)}; expected a function of the parameters u.")
        self._function, self._jacobian, self._hessian = function, jacobian, hessian
        self._base = finite_array("at", np.atleast_1d(at), 1)
        self._ambient = len(finite_array("function(at)", function(np.array(self._base)), 1))
        if not 1 <= len(self._base) <= self._ambient:
            raise InvalidProblem(
                f"The function maps {len(self._base)} parameters to {self._ambient} coordinates; expected at least "
                "one parameter and no more than there are coordinates."
            )
        self._check_first()
        self._check_second()

    @property
    def base(self) -> Array:
        """The parameters `at`."""
        return self._base

    @property
    def ambient(self) -> int:
        """The number of coordinates of x."""
        return self._ambient

    @property
    def method(self) -> str:
        """How the derivatives are taken."""
        first = "complex step" if self._jacobian is None else "given"
        if self._hessian is not None:
            second = "given"
        elif self._jacobian is not None:
            second = "complex step of the given Jacobian"
        else:
            second = "fourth-order differences of the complex step"
        return f"first derivatives: {first}; second derivatives: {second}"

    def value(self, u: Array) -> Array:
        """x(u)."""
        return np.asarray(self._function(np.array(u)), dtype=np.float64)

    def jacobian(self, u: Array) -> Array:
        """∂x/∂u, shape (N, k)."""
        if self._jacobian is not None:
            return self._shaped("jacobian", self._jacobian(np.array(u)), (self._ambient, len(u)))
        return _complex_step(self._function, u, "function", "jacobian= and hessian=")

    def second(self, u: Array, covector: Array) -> Array:
        """Σ_a c_a ∂²x_a/∂uᵢ∂uⱼ."""
        return np.asarray(np.tensordot(covector, self.derivatives(u), axes=1))

    def derivatives(self, u: Array) -> Array:
        """∂²x_a/∂uᵢ∂uⱼ, shape (N, k, k), symmetrised."""
        if self._hessian is not None:
            raw = self._shaped("hessian", self._hessian(np.array(u)), (self._ambient, len(u), len(u)))
        elif self._jacobian is not None:
            raw = _complex_step(self._jacobian, u, "jacobian", "hessian=")
        else:
            raw = _fourth_order(self.jacobian, u)
        return np.asarray((raw + raw.transpose(0, 2, 1)) / 2)

    def typical_speed(self, u: Array) -> float:
        """The largest of |∂x/∂u| and |∂²x/∂u²|: a curve that stops (a cusp) is slow against its acceleration."""
        return float(max(np.max(np.abs(self.jacobian(u))), np.max(np.abs(self.derivatives(u)))))

    def _shaped(self, name: str, value: ArrayLike, shape: tuple[int, ...]) -> Array:
        array = finite_array(f"{name}(u)", value, range(4))
        if array.shape != shape:
            raise InvalidProblem(f"{name}(u) has shape {array.shape}; expected {shape}.")
        return array

    def _check_first(self) -> None:
        name = "function, by the complex step," if self._jacobian is None else "given jacobian"
        difference = _central(self.value, self._base)
        _require_agreement(name, self.jacobian(self._base), difference, "jacobian= and hessian=")

    def _check_second(self) -> None:
        name = "given hessian" if self._hessian is not None else "numerical hessian"
        difference = _central(self.jacobian, self._base)
        _require_agreement(name, self.derivatives(self._base), difference, "hessian=")

    def __repr__(self) -> str:
        return f"ParametricChart(dimension={self.dimension}, ambient={self.ambient}, {self.method})"


def _complex_step(function: VectorFunction, u: Array, name: str, remedy: str) -> Array:
    """Im f(u + i h e_j) / h on a new last axis: no subtraction, so no cancellation."""
    columns = []
    for j in range(len(u)):
        shifted = np.array(u, dtype=np.complex128)
        shifted[j] += 1j * COMPLEX_STEP
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", np.exceptions.ComplexWarning)
                moved = np.array(function(shifted), dtype=np.complex128)
        except (TypeError, np.exceptions.ComplexWarning) as error:
            raise InvalidProblem(
                f"{name} does not accept complex numbers ({error}), which the complex step needs. Write it with "
                f"NumPy functions, or give {remedy}"
            ) from error
        columns.append(moved.imag / COMPLEX_STEP)
    return np.stack(columns, axis=-1)


def _central(function: Callable[[Array], Array], u: Array, step: float = CHECK_STEP) -> Array:
    """Second-order central differences on a new last axis."""
    shifts = step * np.maximum(1.0, np.abs(u)) * np.eye(len(u))
    slopes = [(function(u + h) - function(u - h)) / (2 * h[j]) for j, h in enumerate(shifts)]
    return np.stack(slopes, axis=-1)


def _fourth_order(function: Callable[[Array], Array], u: Array) -> Array:
    """(4 D(h/2) − D(h)) / 3 with D the central difference: error O(h⁴)."""
    wide, narrow = _central(function, u, DIFFERENCE_STEP), _central(function, u, DIFFERENCE_STEP / 2)
    return (4 * narrow - wide) / 3


def _require_agreement(name: str, value: Array, difference: Array, remedy: str) -> None:
    scale = max(1.0, float(np.max(np.abs(difference))))
    gap = float(np.max(np.abs(value - difference))) / scale
    if not gap <= CHECK_TOLERANCE:
        raise InvalidProblem(
            f"The derivative of the {name} differs from central differences by {gap:.3g} relative "
            f"(allowed {CHECK_TOLERANCE:.0e}). Correct the formula; if the function is not analytic, give {remedy}"
        )
