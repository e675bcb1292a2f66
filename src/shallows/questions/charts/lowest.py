"""Is it global? The lowest loss of a problem where theory gives it: the one number by which every function answers."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

import numpy as np

from shallows.model.activations import Power, ReLU
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.chart import chart
from shallows.support.errors import InvalidProblem


def lowest_loss(problem: Problem) -> float | None:
    """The global minimum of the loss, or None where none of these tells it.

    A teacher that is itself a student has loss 0. With d = 2, trained outer weights and width ≥ n for each output every
    form is a network, so the loss falls to its floor; narrower ones have closed forms under Frobenius,
    rotation-invariant and some i.i.d. data (paper 000, Theorems 34, 35 and 36).

    >>> from shallows.questions.charts.lowest import lowest_loss
    >>> [lowest_loss(sh.Problem(np.diag([3.0, 2.0, 1.0]), sh.Frobenius(3), width)) for width in (3, 2, 1)]
    [0.0, 1.0, 5.0]
    """
    if is_realisable(problem):
        return 0.0
    if not isinstance(problem.activation, Power) or problem.affine or problem.degree != 2:
        return None
    if problem.outer is None and problem.width >= problem.n * problem.outputs:
        return float(problem.floor)
    with suppress(InvalidProblem):
        lowest = chart(problem, "closed-form", certify=False).minimum
        return float(lowest.loss) if lowest.kind == "global minimum" else None
    return None


def is_realisable(problem: Problem) -> bool:
    """Whether a student computes the same as the teacher: its neurons, and idle ones beside them.

    With fixed outer weights the teacher's have to be among them (of ReLU neurons their signs), and neurons that are
    left over must be able to rest, σ(0) = 0. False says only that this is not seen.

    >>> [is_realisable(sh.relu_problem(3, width)) for width in (2, 3, 4)]
    [False, True, True]
    """
    teacher = problem.target
    if not isinstance(teacher, Network) or problem.orthogonality or np.any(teacher.norm):
        return False
    if teacher.activation != problem.activation or (teacher.bias is not None and not problem.bias):
        return False
    left = problem.width - teacher.width
    if problem.outer is None or left < 0:
        return left >= 0
    given, wanted = problem.outer, np.atleast_2d(teacher.a)
    if isinstance(problem.activation, ReLU) and problem.outputs == 1:
        given, wanted = np.sign(given), np.sign(wanted)
    missing = Counter(map(tuple, wanted.T.tolist())) - Counter(map(tuple, given.T.tolist()))
    return not missing and (left == 0 or float(problem.activation(np.zeros(1))[0]) == 0.0)
