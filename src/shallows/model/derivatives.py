"""Check derivatives by Taylor slope, on your own problem."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.model.network import Network
from shallows.model.problem import Problem, as_problem
from shallows.support.checks import Array
from shallows.support.seeds import generator
from shallows.support.tolerances import EPSILON, SQRT_EPSILON, TINY

#: Steps h of the Taylor remainders, four a decade: where they meet rounding depends on the problem.
STEPS = np.logspace(-1, -7, 25)
#: The least slope of a right derivative: it tends to 2, that of a wrong one to 1.
SLOPE_WANTED = 1.8
#: Remainders below this, relative to the loss, are rounding: a loss is a sum of up to some thousand rounded terms.
ROUNDING = 1e4 * EPSILON


@dataclass(frozen=True)
class DerivativeCheck:
    """Slopes of the Taylor remainders; a right derivative gives 2, a wrong one 1, `inf` means exact to rounding.

    `check_derivatives` makes it; it is true when the check passed.

    >>> sine = sh.Smooth(np.sin)
    >>> problem = sh.Problem(sh.Network([[1.0, 0.0]], activation=sine), sh.Gaussian(2), width=1)
    >>> sh.check_derivatives(problem, sh.Network([[0.3, 1.0]], activation=sine))
    DerivativeCheck(passed: gradient remainder O(h^2.0...), Hessian remainder O(h^2.0...), expected 2; Hessian
    asymmetry ...)
    """

    gradient_slope: float
    hessian_slope: float
    symmetry: float
    seed: int | None

    @property
    def passed(self) -> bool:
        """Both remainders are of second order and the Hessian is symmetric."""
        slopes = min(self.gradient_slope, self.hessian_slope)
        return slopes >= SLOPE_WANTED and self.symmetry < SQRT_EPSILON

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        verdict = "passed" if self.passed else "FAILED"
        return (
            f"DerivativeCheck({verdict}: gradient remainder O(h^{self.gradient_slope:.2f}), Hessian remainder "
            f"O(h^{self.hessian_slope:.2f}), expected 2; Hessian asymmetry {self.symmetry:.1e})"
        )


def check_derivatives(problem: Problem, net: Network, rng: int | np.random.Generator = 0) -> DerivativeCheck:
    """Compare loss, gradient and Hessian at `net` along random directions u, v.

    |L(θ+hu) − L(θ) − h g·u| and ‖g(θ+hu) − g(θ) − h Hu‖ must shrink like h²; uᵀHv must equal vᵀHu.

    >>> problem = sh.Problem(np.diag([3.0, 1.0]), sh.IID.laplace(2), width=2)
    >>> check = sh.check_derivatives(problem, sh.Network([[1.0, 0.5], [-0.2, 1.0]], a=[1.0, 2.0]))
    >>> f"{check.gradient_slope:.1f} {check.hessian_slope:.1f}", check.passed
    ('2.0 2.0', True)
    """
    problem = as_problem(problem)
    source = generator(rng)
    theta = problem.pack(net)
    u, v = (_unit(source.standard_normal(problem.size)) for _ in range(2))
    value, slope = problem.value_and_gradient(theta)
    product = problem.hessian_product(theta, np.stack([u, v]))
    moved = theta + STEPS[:, None] * u
    values, slopes = problem.value_and_gradient(moved)
    first = np.abs(values - value - STEPS * (slope @ u))
    second = np.linalg.norm(slopes - slope - STEPS[:, None] * product[0], axis=-1)
    scale = max(float(np.max(np.abs(product))), TINY)
    return DerivativeCheck(
        gradient_slope=_slope(first, max(abs(float(value)), float(np.max(np.abs(values))))),
        hessian_slope=_slope(second, max(float(np.linalg.norm(slope)), scale)),
        symmetry=float(abs(product[0] @ v - product[1] @ u)) / scale,
        seed=int(rng) if not isinstance(rng, np.random.Generator) else None,
    )


def _unit(x: Array) -> Array:
    return np.asarray(x / np.linalg.norm(x))


def _slope(errors: Array, scale: float) -> float:
    """The slope of log error against log h over the smallest six steps whose error is above rounding."""
    above = np.flatnonzero(errors > ROUNDING * max(scale, TINY))
    if len(above) < 3:
        return float("inf")
    chosen = above[-6:]
    return float(np.polyfit(np.log(STEPS[chosen]), np.log(errors[chosen]), 1)[0])
