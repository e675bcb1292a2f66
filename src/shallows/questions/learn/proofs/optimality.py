"""How far from the global optimum a fit is, proved in ball arithmetic where it can be proved.

The convex counterpart L(a) = Σ w (y − aᵀψ)²/W + α‖a‖² has Hessian at least 2G/W, so for α = 0 a point with gradient
−2g/W,
g = Σ w rψ (zero exactly at the optimum: paper 002, Lemma C.1), is within

    L(a) − L* ≤ ‖g‖² / (W λ_min(G))

of its minimum, and no network of any width is better than L*. Everything on the right is enclosed: g by balls
(`form`), λ_min from below by a Cholesky factor whose product is checked (`gram_curvature`). Where the data leaves
directions undetermined λ_min is zero; where they are exact relations between columns the rest is proved (`quotient`),
and an exact fit is optimal because no loss is negative. With a penalty its own curvature does it, whatever the data
are (`ridge`).

What is proved is about the polynomial whose float64 coefficients the estimator holds and `predict` evaluates;
`matrix_` and `network_` are that polynomial rewritten in floating point.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from shallows.mathematics.balls.arrays import Ball, raised, raised_number, stacked
from shallows.mathematics.tensors import coordinates
from shallows.questions.learn.fitting.frame import Frame, chunks
from shallows.questions.learn.fitting.least_squares import Solution
from shallows.questions.learn.fitting.statistics import Statistics
from shallows.questions.learn.proofs.form import entries_ball, feature_balls, matrix_ball, transformed
from shallows.questions.learn.proofs.gram_curvature import smallest_eigenvalue_bound
from shallows.questions.learn.proofs.quotient import quotient, reduced_gap
from shallows.questions.learn.proofs.ridge import ridge, ridge_gap
from shallows.support.checks import Array

#: Features of the largest Gram matrix whose curvature is proved.
LARGEST_PROOF = 3000
#: Samples a feature from which the curvature is tried to be proved, in turn: a part of the data is enough.
SAMPLES_A_FEATURE = (2, 8)
#: A loss below this share of the mean square of y is a fit to rounding (1e-10 of y): no network is better.
EXACT_FIT = 1e-20
ZERO = Ball.exact(np.zeros(()))


@dataclass(frozen=True)
class Optimality:
    """What was minimised, a lower bound on its optimum over all networks of this width, and the gap between them.

    - `loss`: the mean square error, summed over outputs; `objective` adds the ridge penalty α‖A‖² (the same without);
    - `proved`: `gap` ≥ objective − optimum and `lower_bound` ≤ optimum by ball arithmetic. Otherwise `reason` says what
      is missing, `gap` is an estimate, or NaN when there is none, and `lower_bound` is an estimate too, or the
      trivial 0 (no loss is negative);
    - `gradient_norm`: ‖g‖/W in the frame of the fit; `smallest_eigenvalue`: the bound on λ_min(G)/W, 0 when unproved.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 3))
    >>> found = sh.learn.QuadraticNetRegressor(alpha=0.0).fit(X, X[:, 0] ** 2 + rng.standard_normal(200)).certificate_
    >>> found.proved, found.gap < 1e-12, found.reason
    (True, True, 'gradient and curvature enclosed in ball arithmetic')
    """

    loss: float
    objective: float
    lower_bound: float
    gap: float
    proved: bool
    reason: str
    gradient_norm: float
    smallest_eigenvalue: float

    def below(self, loss: Ball, objective: Ball, reason: str, least: float = 0.0) -> Optimality:
        """The certificate of a network of a smaller class, whose optimum is higher by at least `least`."""
        value, best = float(objective.mid), self.lower_bound
        if self.proved:
            best = float(np.nextafter(best + least, -np.inf)) if least else best
            gap = max(float(np.nextafter(objective.upper - best, np.inf)), 0.0)
        else:
            reason = f"{reason}; its optimum is not proved ({self.reason})"
            gap = max(value - self.objective, 0.0)
            best = value - gap
        return replace(self, loss=float(loss.mid), objective=value, lower_bound=best, gap=gap, reason=reason)

    def __repr__(self) -> str:
        if self.proved:
            gap = f"gap <= {self.gap:.2g}, proved"
        elif math.isnan(self.gap):
            gap = "gap not known"
        else:
            gap = f"gap about {self.gap:.2g}, not proved"
        return f"Optimality(loss={self.loss:.8g}, {gap}: {self.reason})"


@dataclass(frozen=True, eq=False)
class Point:
    """Σ w r², the penalty, g and W at a solution, enclosed; `doubt` bounds what else the norm of g may be off by."""

    squares: Ball
    penalty: Ball
    gradient: Ball
    weight: Ball
    doubt: float = 0.0

    @property
    def loss(self) -> Ball:
        """Σ w r² / W."""
        return self.squares / self.weight

    @property
    def objective(self) -> Ball:
        """The loss with its penalty."""
        return (self.squares + self.penalty) / self.weight

    @property
    def gradient_bound(self) -> float:
        """An upper bound on ‖g‖."""
        return raised_number(self.gradient.norm() + self.doubt)


def check_optimality(
    X: Array, Y: Array, weights: Array, solution: Solution, alpha: float, certify: bool = True
) -> Optimality:
    """The bound for a full solution of least squares on data in memory."""
    point = point_on_data(X, Y, weights, solution, alpha)
    if not certify:
        return judge(point, 0.0, "certify=False", -1.0)
    if alpha:
        return _judge_ridge(point, solution, alpha, _feature_norms(X, weights, solution))
    eigenvalue, reason = _sampled_curvature(X, weights, solution.frame, solution.degree)
    found = judge(point, eigenvalue, reason, float(weights @ np.sum(Y**2, axis=1)))
    return found if found.proved else _judge_quotient(X, Y, weights, solution, point, found)


def check_statistics(statistics: Statistics, solution: Solution, alpha: float, certify: bool) -> Optimality:
    """The same from gathered statistics alone."""
    point = point_from_statistics(statistics, solution, alpha)
    if not certify:
        return judge(point, 0.0, "certify=False", -1.0)
    if alpha:
        sums = float(np.linalg.norm(statistics.gram[-1])) if solution.frame.affine else 0.0
        return _judge_ridge(
            point, solution, alpha, raised_number(sums + statistics.rounding.gram, len(statistics.gram) + 4)
        )
    eigenvalue, reason = _curvature(statistics.gram, statistics.rounding.gram)
    return judge(point, eigenvalue, reason, float(statistics.energy.sum()))


def point_on_data(X: Array, Y: Array, weights: Array, solution: Solution, alpha: float) -> Point:
    """Loss, penalty and gradient of a form, enclosed sample by sample."""
    squares, gradient = residual_moments(X, Y, weights, solution)
    return _penalised(Point(squares, ZERO, gradient, Ball.exact(weights).sum()), solution, alpha)


def point_from_statistics(statistics: Statistics, solution: Solution, alpha: float) -> Point:
    """Σ w r² = Σ w y² − 2aᵀb + aᵀGa and g = b − Ga, with the rounding of the statistics."""
    a, rounding = Ball.exact(solution.entries), statistics.rounding
    moment, size = Ball.exact(statistics.moment.T), a.norm()
    image = a @ Ball.exact(statistics.gram)
    squares = Ball.exact(statistics.energy).sum() + (a * (image - moment - moment)).sum()
    doubt = rounding.energy + 2 * size * rounding.moment + size**2 * rounding.gram
    squares = Ball(squares.mid, np.asarray(raised_number(float(squares.rad) + doubt, 6)))
    weight = Ball(np.asarray(statistics.weight), np.asarray(rounding.weight))
    off = raised_number(rounding.moment + size * rounding.gram, 4)
    return _penalised(Point(squares, ZERO, moment - image, weight, off), solution, alpha)


def judge(point: Point, eigenvalue: float, reason: str, energy: float) -> Optimality:
    """The certificate at a point, from a bound on λ_min(G) or from an exact fit; else why there is none."""
    objective, weight = point.objective, float(point.weight.mid)
    loss, value = max(float(point.loss.mid), 0.0), max(float(objective.mid), 0.0)
    slope = float(np.linalg.norm(point.gradient.mid)) / weight
    if eigenvalue > 0:
        gap = raised_number(point.gradient_bound**2 / (float(point.weight.lower) * eigenvalue), 4)
        if gap < value:
            lower = max(float(np.nextafter(objective.lower - gap, -np.inf)), 0.0)
            how = "gradient and curvature enclosed in ball arithmetic"
            return Optimality(loss, value, lower, gap, True, how, slope, eigenvalue / weight)
    top = float(objective.upper)
    if top <= EXACT_FIT * energy / weight:
        return Optimality(loss, value, 0.0, top, True, "an exact fit: no loss is negative", slope, 0.0)
    if not reason:
        reason = "the gradient is not small enough for its bound to say anything"
    return Optimality(loss, value, 0.0, float("nan"), False, reason, slope, 0.0)


def _judge_quotient(
    X: Array, Y: Array, weights: Array, solution: Solution, point: Point, unproved: Optimality
) -> Optimality:
    """The certificate on the features that determine the others exactly; the unproved one where there is none."""
    spanning = quotient(X, solution.frame.affine, solution.degree)
    if spanning is None or not spanning.dropped:
        return unproved
    parts = [r for r, _ in _residuals_and_moments(X, Y, weights, solution)]
    gap = reduced_gap(spanning, stacked(parts), weights, point.weight)
    objective = point.objective
    if not gap < float(objective.mid):
        return unproved
    lower = max(float(np.nextafter(objective.lower - gap, -np.inf)), 0.0)
    kept = len(spanning.kept)
    reason = (
        f"gradient and curvature enclosed in ball arithmetic, on {kept} features that determine the other "
        f"{spanning.dropped} on every sample, which is proved in integers"
    )
    return replace(unproved, lower_bound=lower, gap=gap, proved=True, reason=reason)


def _judge_ridge(point: Point, solution: Solution, alpha: float, features: float) -> Optimality:
    """The certificate of a penalised fit."""
    objective = point.objective
    gap = ridge_gap(point.gradient, point.doubt, solution.frame.affine, alpha, point.weight, features)
    lower = max(float(np.nextafter(objective.lower - gap, -np.inf)), 0.0)
    slope = float(np.linalg.norm(point.gradient.mid)) / float(point.weight.mid)
    loss, value = max(float(point.loss.mid), 0.0), max(float(objective.mid), 0.0)
    reason = "gradient enclosed in ball arithmetic, curvature of the penalty"
    return Optimality(loss, value, lower, gap, True, reason, slope, alpha)


def _feature_norms(X: Array, weights: Array, solution: Solution) -> float:
    """A bound on ‖Σ wψ‖ ≤ Σ w‖z′‖^d."""
    total = 0.0
    for rows in chunks(len(X), solution.frame.size):
        Z = transformed(solution.frame, X[rows])
        lengths = raised(np.linalg.norm(np.abs(Z.mid) + Z.rad, axis=1), solution.frame.size + 4)
        total = raised_number(total + float(weights[rows] @ lengths**solution.degree), len(Z.mid) + 8)
    return total


def residual_moments(X: Array, Y: Array, weights: Array, solution: Solution) -> tuple[Ball, Ball]:
    """Σ w r² and g = Σ w rψ(z′), one row an output; for degree 2 through D×D matrices instead of F features."""
    squares, moments = ZERO, Ball.exact(np.zeros_like(solution.entries))
    begin = 0
    for r, moment in _residuals_and_moments(X, Y, weights, solution):
        rows = slice(begin, begin := begin + len(r.mid))
        squares = squares + (r * r * Ball.exact(weights[rows, None])).sum()
        moments = moments + moment
    return squares, moments


def _residuals_and_moments(
    X: Array, Y: Array, weights: Array, solution: Solution
) -> Iterator[tuple[Ball, Ball]]:
    """The same of a chunk of samples after the other: their residuals and Σ w rψ."""
    frame, degree, entries = solution.frame, solution.degree, solution.entries
    parts = _quadratic_moments if degree == 2 else _moments
    for rows in chunks(len(X), frame.size if degree == 2 else entries.shape[1]):
        yield parts(transformed(frame, X[rows]), Y[rows], weights[rows], entries, degree)


def _moments(Z: Ball, Y: Array, w: Array, entries: Array, degree: int) -> tuple[Ball, Ball]:
    """Residuals and Σ w rψ of a chunk, on its features."""
    block = feature_balls(Z, degree)
    r = Ball.exact(Y) - block @ Ball.exact(entries.T)
    return r, (r * Ball.exact(w[:, None])).T @ block


def _quadratic_moments(Z: Ball, Y: Array, w: Array, entries: Array, degree: int) -> tuple[Ball, Ball]:
    """The same with zᵀAz for the features' sum and Σ w r zzᵀ for the moments."""
    matrices = matrix_ball(entries, Z.mid.shape[1])
    mids, rads, parts = [], [], []
    for m in range(len(entries)):
        r = Ball.exact(Y[:, m]) - ((Z @ matrices[m]) * Z).sum(axis=1)
        parts.append(entries_ball(Z.T @ ((r * Ball.exact(w))[:, None] * Z)))
        mids.append(r.mid)
        rads.append(r.rad)
    gradient = Ball(np.array([p.mid for p in parts]), np.array([p.rad for p in parts]))
    return Ball(np.stack(mids, axis=1), np.stack(rads, axis=1)), gradient


def _penalised(point: Point, solution: Solution, alpha: float) -> Point:
    """The point with the ridge penalty in its objective and gradient."""
    if not alpha:
        return point
    penalty, slope = ridge(solution, alpha, point.weight)
    return replace(point, penalty=penalty, gradient=point.gradient - slope)


def _curvature(gram: Array, error: float) -> tuple[float, str]:
    """A proved lower bound on λ_min(G) for every G within `error` of `gram`, or zero and what stands in the way."""
    if len(gram) > LARGEST_PROOF:
        limit = f"{LARGEST_PROOF:,} whose curvature is bounded rigorously"
        return 0.0, f"{len(gram):,} features are more than the {limit}"
    bound = smallest_eigenvalue_bound(gram, error)
    return bound, "" if bound > 0 else "the Gram matrix of the features is singular to rounding"


def _sampled_curvature(X: Array, weights: Array, frame: Frame, degree: int) -> tuple[float, str]:
    """The bound from some of the samples: G only grows with more of them."""
    size = coordinates.dimension(frame.size, degree)
    if size > LARGEST_PROOF:
        return _curvature(np.empty((size, 0)), 0.0)
    if len(X) < size:
        return 0.0, f"{len(X)} samples leave some of the {size} features undetermined"
    empty, found = Statistics.empty(frame, degree, 1), (0.0, "")
    for count in sorted({min(len(X), many * size) for many in SAMPLES_A_FEATURE}):
        chosen = np.linspace(0, len(X) - 1, count).astype(np.intp)
        some = empty.add(X[chosen], np.zeros((count, 1)), weights[chosen])
        found = _curvature(some.gram, some.rounding.gram)
        if found[0] > 0:
            break
    return found


def mean_square_ball(values: Ball, Y: Array, weights: Array) -> Ball:
    """The weighted mean of squares of y − values, summed over outputs."""
    r = Ball.exact(Y) - values
    return (r * r * Ball.exact(weights[:, None])).sum() / Ball.exact(weights).sum()
