"""`chart`: the strongest method that applies to a problem."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shallows.activations import Power
from shallows.charts import Chart
from shallows.critical.spectral import spectral_chart, spectrum_of
from shallows.errors import InvalidProblem
from shallows.problem import Problem

METHODS = ("auto", "closed-form", "homotopy", "exact", "descent")


def chart(
    problem: Problem, method: str = "auto", certify: bool = True, rng: int | np.random.Generator = 0
) -> Chart:
    """Every critical point of the loss in function space, for every rank up to the width.

    `method`: "closed-form" (Theorems 34, 35, 36), "homotopy" (any metric), "exact" (msolve), "descent" (samples
    only what training finds); "auto" takes the strongest that applies. `certify` proves points, signatures and
    realness in ball arithmetic. The result says what is proved: `chart.completeness`, `point.certificate`.

    >>> chart = sh.chart(sh.Problem(np.diag([3.0, 2.0, 1.0]), sh.Frobenius(3), width=1))
    >>> [float(loss) for loss in chart.losses]
    [5.0, 10.0, 13.0, 14.0]
    """
    if method not in METHODS:
        raise InvalidProblem(f"method is {method!r}; expected one of {', '.join(METHODS)}.")
    _require_polynomial(problem)
    if method in ("auto", "closed-form"):
        spectrum = spectrum_of(problem)
        if spectrum is not None:
            return _titled(spectral_chart(problem, spectrum, certify), problem)
        if method == "closed-form":
            raise InvalidProblem(
                f"{problem.data!r} at degree {problem.degree} has no closed form; there is one for Frobenius and "
                'rotation-invariant or Gaussian data at degree 2. Use method="homotopy".'
            )
    raise InvalidProblem(f"method {method!r} is not available for {problem!r} in this version.")


def _require_polynomial(problem: Problem) -> None:
    if not isinstance(problem.activation, Power):
        raise InvalidProblem(
            f'{problem.activation!r} is not a power, so the critical points are not algebraic. Use method="descent".'
        )
    if problem.outputs != 1 or problem.norm_neuron or problem.orthogonality:
        raise InvalidProblem(
            "A chart is of one output without norm neuron and penalty: those are not distances to a rank stratum. "
            'Use method="descent".'
        )


def _titled(chart: Chart, problem: Problem) -> Chart:
    return replace(chart, title=f"{problem!r}")
