"""Is it global? The lowest loss of a problem where theory gives it: the one number by which every function answers."""

from __future__ import annotations

from contextlib import suppress

from shallows.model.activations import Power
from shallows.model.problem import Problem
from shallows.questions.charts.chart import chart
from shallows.support.errors import InvalidProblem


def lowest_loss(problem: Problem) -> float | None:
    """The global minimum of the loss, or None where neither a full function space nor a closed form tells it.

    With d = 2, trained outer weights and width ≥ n for each output every form is a network, so the loss falls to its
    floor; narrower ones have closed forms under Frobenius, rotation-invariant and some i.i.d. data (paper 000,
    Theorems 34, 35 and 36).

    >>> from shallows.questions.charts.lowest import lowest_loss
    >>> [lowest_loss(sh.Problem(np.diag([3.0, 2.0, 1.0]), sh.Frobenius(3), width)) for width in (3, 2, 1)]
    [0.0, 1.0, 5.0]
    """
    if not isinstance(problem.activation, Power) or problem.degree != 2:
        return None
    if problem.outer is None and problem.width >= problem.n * problem.outputs:
        return float(problem.floor)
    with suppress(InvalidProblem):
        lowest = chart(problem, "closed-form", certify=False).minimum
        return float(lowest.loss) if lowest.kind == "global minimum" else None
    return None
