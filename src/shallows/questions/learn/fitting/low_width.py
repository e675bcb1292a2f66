"""Polynomial networks with fewer neurons than Theorem G.1 asks for: trained from several starts, the best kept."""

from __future__ import annotations

import numpy as np

from shallows.model.activations import Power
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.descent.ensemble import ensemble
from shallows.questions.learn.fitting.frame import Frame
from shallows.questions.learn.fitting.least_squares import Solution
from shallows.questions.learn.fitting.spanning_powers import realise
from shallows.questions.learn.fitting.statistics import Statistics
from shallows.support.checks import Array
from shallows.support.seeds import generator

#: Gradient norm at which training stops, relative to the target's size.
TRAINED = 1e-9


def best_low_width(
    X: Array,
    Y: Array,
    weights: Array,
    affine: bool,
    degree: int,
    width: int,
    solution: Solution,
    runs: int,
    rng: int | np.random.Generator,
) -> tuple[Array, Array]:
    """W and outer weights (outputs, width): neurons are shared by the outputs, as in paper 002, appendix E.

    The loss is (s − s*)ᵀG(s − s*) + L* with the statistics of the data (`Statistics.metric`).
    """
    frame = Frame.identity(X.shape[1], affine)
    statistics = Statistics.empty(frame, degree, Y.shape[1]).add(X, Y, weights)
    W, a = _teacher(solution, frame.size, degree)
    problem = Problem(Network(W, a, Power(degree)), statistics.metric(), width)
    trained = ensemble(
        problem, runs, "lbfgs", "normal", rng=generator(rng), tolerance=TRAINED, iterations=3000, cores=1
    )
    best = problem.unpack(trained.thetas[int(np.argmin(trained.losses))])
    return np.asarray(best.W), np.atleast_2d(best.a)


def _teacher(solution: Solution, n: int, degree: int) -> tuple[Array, Array]:
    """The least-squares optimum as a network."""
    W, outer = realise(solution.original, n, degree)
    return W, outer[0] if len(outer) == 1 else outer
