"""Trained weights of several outputs whose targets are multiples p y of one: a single output, seen several times.

Equations in outer weights make every output the best one on the squares of the neurons, so that outputs across p, whose
targets are zero, vanish. What is left is the problem of one output p·f, p of length 1; outer weights across p are
r(M − 1) more positive directions. Minima stay minima, as outputs across p add to the loss.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shallows.model.problem import Problem
from shallows.questions.charts.outputs.parallel import ROUNDED, OneOutput, labels_along, with_outputs
from shallows.questions.charts.penalty.joined_loss import JoinedLoss
from shallows.questions.charts.result import Chart


def one_direction_chart(problem: Problem, loss: JoinedLoss, charted: Callable[[Problem], Chart]) -> Chart:
    """The chart of a problem all of whose targets are parallel."""
    rights = loss.outputs.right.astype(np.float64)
    p = rights[:, int(np.argmax(np.abs(rights).max(axis=0)))]
    p = np.asarray(p / np.linalg.norm(p))
    target, data, exact = labels_along(problem, p)
    single = Problem(
        target,
        data,
        problem.width,
        problem.activation,
        norm_neuron=problem.norm_neuron,
        orthogonality=problem.orthogonality,
    )
    found = OneOutput(p, single, "" if exact and np.count_nonzero(p) == 1 else ROUNDED)
    return with_outputs(problem, found, charted(single))
