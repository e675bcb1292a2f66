"""Least squares on the features of a data set, by the method that suits its size, with its certificate."""

from __future__ import annotations

import warnings

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.questions.learn.fitting.conjugate import conjugate
from shallows.questions.learn.fitting.frame import Frame
from shallows.questions.learn.fitting.least_squares import (
    Solution,
    dense,
    dual,
    fewer_samples,
    from_statistics,
)
from shallows.questions.learn.fitting.statistics import Statistics
from shallows.questions.learn.proofs.optimality import Optimality, check_optimality
from shallows.questions.learn.warnings import UndeterminedWarning
from shallows.support.budget import require
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem

METHODS = ("auto", "dense", "conjugate", "statistics")
#: Seconds an operation on dense matrices; and forms of all inputs that conjugate gradients and their proof hold.
WORK_SECONDS, FORMS = 2e-10, 8
#: Matrices of all pairs of features that statistics hold: those so far, those of a chunk, their sum, a factor.
GRAMS = 4
#: Numbers are written out below this: a thousand billion.
READABLE = 10**12
#: The dense method is taken up to so many operations (a second or two) and numbers (200 MB): 2,289 samples of many
#: features, whose kernel is factorised.
DENSE_WORK, DENSE_MEMORY = 4_000_000_000, 25_000_000


def choose_method(method: str, samples: int, inputs: int, degree: int, penalised: bool = False) -> str:
    """Dense when it is quick and small; otherwise conjugate gradients (degree 2) or gathered statistics.

    A penalised fit to fewer samples than features factorises the samples' kernel (`dual`), whatever the features.
    """
    if method not in METHODS:
        raise InvalidProblem(f"method is {method!r}; expected one of {', '.join(METHODS)}.")
    if method == "conjugate" and degree != 2:
        raise InvalidProblem(
            f'method="conjugate" is for quadratic features; the degree is {degree}. Use "auto", "dense" or '
            '"statistics".'
        )
    if method != "auto":
        return method
    size = coordinates.dimension(inputs, degree)
    dual = penalised and samples < size
    work = samples**3 // 3 if dual else max(samples, size) * min(samples, size) ** 2
    if work <= DENSE_WORK and samples * size <= DENSE_MEMORY:
        return "dense"
    return "conjugate" if degree == 2 else "statistics"


def solve(
    X: Array,
    Y: Array,
    weights: Array,
    affine: bool,
    degree: int,
    alpha: float,
    method: str = "auto",
    certify: bool = True,
    limit: int = 500,
) -> tuple[Solution, Optimality]:
    """The optimum of the convex counterpart and its certificate; weights must be positive."""
    inputs = X.shape[1] + affine
    size = coordinates.dimension(inputs, degree)
    method = choose_method(method, len(X), inputs, degree, alpha > 0)
    require_fit(method, len(X), inputs, degree, Y.shape[1])
    scarce = len(X) - affine < size - affine and alpha == 0
    if method == "dense" and scarce:
        solution = fewer_samples(X, Y, weights, affine, degree)
    elif method == "dense":
        solution = (dual if len(X) < size and alpha else dense)(
            X, Y, weights, frame_of_fit(X, weights, affine, alpha), degree, alpha
        )
    elif method == "statistics":
        frame = frame_of_fit(X, weights, affine, alpha)
        solution = from_statistics(Statistics.empty(frame, degree, Y.shape[1]).add(X, Y, weights), alpha)
    else:
        return _solve_conjugate(X, Y, weights, affine, alpha, certify, limit, scarce)
    return solution, check_optimality(X, Y, weights, solution, alpha, certify)


def frame_of_fit(X: Array, weights: Array, affine: bool, alpha: float) -> Frame:
    """Whitening, which least squares likes best; with a penalty the frame that it is counted in."""
    return (Frame.standardising if alpha else Frame.whitening)(X, weights, affine)


def require_fit(method: str, samples: int, inputs: int, degree: int, outputs: int) -> None:
    """Refuse a fit that takes too much: tables of features, their Gram matrix, or (conjugate) forms of all inputs."""
    size = coordinates.dimension(inputs, degree)
    numbers, work = {
        "dense": (size * (samples + min(samples, size)), max(samples, size) * min(samples, size) ** 2),
        "statistics": (GRAMS * size**2, (samples + size) * size**2),
        "conjugate": (FORMS * outputs * inputs**2, inputs**3),
    }[method]
    require(
        f"Fitting {f'{size:,}' if size < READABLE else f'{size:.1e}'} features of {inputs:,} columns",
        seconds=WORK_SECONDS * float(work),
        size=8.0 * numbers,
        fix="Use fewer columns, or project them.",
    )


def _solve_conjugate(
    X: Array, Y: Array, weights: Array, affine: bool, alpha: float, certify: bool, limit: int, scarce: bool
) -> tuple[Solution, Optimality]:
    """Whitened conjugate gradients; in the data's own frame when directions are undetermined, for minimum norm."""
    if not scarce:
        frame = frame_of_fit(X, weights, affine, alpha)
        solution = conjugate(X, Y, weights, frame, alpha, limit=limit)
        optimality = check_optimality(X, Y, weights, solution, alpha, certify)
        if optimality.proved or alpha or not certify or "singular" not in optimality.reason:
            return solution, optimality
    solution = conjugate(X, Y, weights, Frame.identity(X.shape[1], affine), alpha, limit=10 * limit)
    warnings.warn(
        "The data leaves some quadratic features undetermined; conjugate gradients from zero took the solution of "
        'minimum norm. Use method="dense" to list the undetermined monomials.',
        UndeterminedWarning,
        stacklevel=4,
    )
    return solution, check_optimality(X, Y, weights, solution, alpha, certify)


def warn_undetermined(solution: Solution, columns: list[str], stacklevel: int = 4) -> None:
    """Say which directions are undetermined and what was chosen."""
    if solution.undetermined is None:
        return
    names = [*columns, "1"] if solution.frame.affine else columns
    worst = ", ".join(solution.undetermined.names(names, solution.degree))
    free, features = solution.undetermined.dimension, solution.undetermined.features
    warnings.warn(
        f"The data determines {features - free} of {features} coefficients; in the other "
        f"{'direction' if free == 1 else f'{free} directions'} the choice of minimum norm was made. Most affected "
        f"monomials: {worst}. Use more samples, fewer columns, or alpha > 0 to make the choice explicit.",
        UndeterminedWarning,
        stacklevel=stacklevel,
    )


def mean_square(r: Array, weights: Array) -> float:
    """The weighted mean of squares, summed over outputs."""
    return float(weights @ np.sum(r**2, axis=1) / weights.sum())
