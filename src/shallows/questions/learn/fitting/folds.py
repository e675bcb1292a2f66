"""Width and penalty by cross-validation on statistics: they are additive, so each fold is gathered once.

With fewer neurons than D the fit is no linear function of the labels, so nothing short of fitting without a part of the
samples says what it predicts there. A fold's own statistics (G, b, Σ w y²) give its error exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from shallows.questions.learn.fitting.frame import Frame, features, from_matrix
from shallows.questions.learn.fitting.least_squares import from_statistics
from shallows.questions.learn.fitting.quadratic_fit import truncate, with_norm
from shallows.questions.learn.fitting.statistics import Statistics
from shallows.support.checks import Array

#: Parts that the samples are dealt into, different ones by chance that is always the same and equal ones into one: the
#: order of the samples does not matter (a class after the other, day after day), and weights count like repetitions.
FOLDS = 5
#: Penalties that are tried at a width, as multiples of the one chosen at full width: fewer neurons need less of it.
MULTIPLES = (0.0, 0.1, 1.0, 10.0)
#: Widths that "auto" tries, as far as they are useful; then all neurons.
WIDTHS = (1, 2, 3, 5, 8, 13, 21, 34)


@dataclass(frozen=True)
class Choice:
    """A width and a penalty, with the mean square error on samples that were left out and its standard error."""

    width: int
    alpha: float
    error: float
    spread: float


def choose(
    X: Array,
    Y: Array,
    weights: Array,
    frame: Frame,
    widths: list[int],
    alpha: float,
    norm_neuron: bool,
    rng: np.random.Generator,
) -> Choice:
    """The best penalty at each width; then the smallest width that is within one standard error of the best."""
    parts, rests = folds(X, Y, weights, frame)
    best: list[Choice] = []
    for width in widths:
        tried = []
        for penalty in sorted({factor * alpha for factor in MULTIPLES}):
            errors = [
                held_out(part, narrow(rest, penalty, width, norm_neuron, rng))
                for part, rest in zip(parts, rests, strict=True)
            ]
            spread = float(np.std(errors, ddof=1) / np.sqrt(FOLDS))
            tried.append(Choice(width, penalty, float(np.mean(errors)), spread))
        best.append(min(tried, key=lambda choice: choice.error))
    least = min(best, key=lambda choice: choice.error)
    return next(choice for choice in best if choice.error <= least.error + least.spread)


def folds(X: Array, Y: Array, weights: Array, frame: Frame) -> tuple[list[Statistics], list[Statistics]]:
    """The statistics of each fold, and of all samples but those."""
    parts = [
        Statistics.empty(frame, 2, Y.shape[1]).add(X[rows], Y[rows], weights[rows]) for rows in _dealt(X, Y)
    ]
    return parts, [reduce(add, parts[:i] + parts[i + 1 :]) for i in range(FOLDS)]


def out_of_fold(
    X: Array,
    Y: Array,
    weights: Array,
    frame: Frame,
    width: int,
    alpha: float,
    norm_neuron: bool,
    rng: np.random.Generator,
) -> Array:
    """The outputs at each sample by the fit to the other folds, shape of Y."""
    result = np.empty_like(Y)
    for rows, rest in zip(_dealt(X, Y), folds(X, Y, weights, frame)[1], strict=True):
        entries = narrow(rest, alpha, width, norm_neuron, rng)
        result[rows] = features(frame.apply(X[rows]), 2) @ entries.T
    return result


def _dealt(X: Array, Y: Array) -> list[NDArray[np.intp]]:
    """The samples of each fold."""
    different, which = np.unique(np.column_stack([X, Y]), axis=0, return_inverse=True)
    if len(different) < FOLDS:
        return [np.arange(i, len(X), FOLDS) for i in range(FOLDS)]
    fold = np.random.default_rng(FOLDS).permutation(len(different)) % FOLDS
    return [np.flatnonzero(fold[which.ravel()] == i) for i in range(FOLDS)]


def narrow(
    statistics: Statistics, alpha: float, width: int, norm_neuron: bool, rng: np.random.Generator
) -> Array:
    """The coefficients of the best form of this width found, from the spectra of the relaxation alone."""
    solution = from_statistics(statistics, alpha)
    parts = truncate(statistics, solution, alpha, width, norm_neuron, 0, rng)
    matrices, norms = np.array([p.matrix for p in parts]), np.array([p.norm for p in parts])
    return from_matrix(with_norm(matrices, norms, statistics.frame))


def held_out(statistics: Statistics, entries: Array) -> float:
    """The mean square error of a form on the samples behind the statistics, summed over outputs."""
    image = entries @ statistics.gram
    squares = statistics.energy.sum() + np.sum(entries * (image - 2 * statistics.moment.T))
    return float(squares) / statistics.weight
