"""All ridge fits of a data set at once, and which of them to take.

With the centred features √w ψ̃ = U diag(s) Vᵀ (in the standardising frame) the fit with penalty αW‖a‖² has residuals
R − U diag(f) UᵀR, f = s²/(s² + αW), R = √w (y − ȳ): one eigendecomposition, of the Gram matrix of the features or of
that
of the samples, whichever is smaller, gives every α.

- *Generalised cross-validation* needs the spectrum only: GCV(α) = (‖residuals‖²/W) / (1 − df/W)², df = Σ f + 1
  (G. Golub, M. Heath, G. Wahba, Technometrics 21, 1979).
- *Leave one out* needs the leverages h of the samples, a second pass: the prediction of a sample by the fit to all
others
  is y − r/(1 − h).

Weights count like repetitions: W stands for the number of samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from shallows.mathematics.tensors import coordinates
from shallows.questions.learn.fitting.frame import Frame, features
from shallows.questions.learn.fitting.least_squares import centred_kernel
from shallows.questions.learn.fitting.statistics import Statistics
from shallows.support.checks import Array

#: Penalties that are looked at, as shares of the mean curvature Σ s²/(W F): from one that changes no digit that a
#: fit has
#: to one that leaves nothing of it; two a decade.
PENALTIES = np.logspace(-12, 5, 35)
#: Singular values below this share of the largest are directions that the samples do not see: s² is known to F ε.
UNSEEN = 1e-12
#: No penalty at all is taken when the least is not better by this share: on data without noise it never is.
NO_BETTER = 1e-9
#: With fewer samples than this many times the degrees of freedom the criteria say nothing.
LEAST_SAMPLES = 1.000001
#: Rows that the penalty is chosen on where the features are too many to gather: their Gram matrix is of this size.
SAMPLED_ROWS = 1500


@dataclass(frozen=True, eq=False)
class RidgePath:
    """The spectrum s² of the centred features, UᵀR (one row a direction) and what is left of R.

    `basis` is U where samples were decomposed (`of_samples`: fewer of them than features), else V.
    """

    squares: Array
    targets: Array
    rest: Array
    weight: float
    affine: bool
    basis: Array
    of_samples: bool

    @classmethod
    def of(cls, X: Array, Y: Array, weights: Array, frame: Frame, degree: int = 2) -> RidgePath:
        """The path of a data set in memory."""
        total, root = float(weights.sum()), np.sqrt(weights)[:, None]
        Z = frame.apply(X)
        level = weights @ Y / total if frame.affine else np.zeros(Y.shape[1])
        right = root * (Y - level)
        few = len(X) < coordinates.dimension(frame.size, degree)
        if few:
            values, basis = np.linalg.eigh(centred_kernel(Z, weights, frame.affine, degree))
            seen = values > UNSEEN * max(float(values[-1]), 0.0)
            squares, basis = values[seen], basis[:, seen]
            targets = basis.T @ right
        else:
            block = features(Z, degree)
            if frame.affine:
                block = block - weights @ block / total
            block = root * block
            values, basis = np.linalg.eigh(block.T @ block)
            seen = values > UNSEEN * max(float(values[-1]), 0.0)
            squares, basis = values[seen], basis[:, seen]
            targets = (basis.T @ (block.T @ right)) / np.sqrt(squares)[:, None]
        rest = np.maximum(np.sum(right**2, axis=0) - np.sum(targets**2, axis=0), 0.0)
        return cls(squares, targets, rest, total, frame.affine, basis, few)

    @classmethod
    def of_statistics(cls, statistics: Statistics) -> RidgePath:
        """The path of gathered statistics."""
        total, affine = statistics.weight, statistics.frame.affine
        gram, moment, energy = statistics.gram, statistics.moment, statistics.energy
        if affine:
            mean, level = gram[-1] / total, moment[-1] / total
            gram = gram - total * np.outer(mean, mean)
            moment, energy = moment - total * np.outer(mean, level), energy - total * level**2
        values, basis = np.linalg.eigh(gram)
        seen = values > UNSEEN * max(float(values[-1]), 0.0)
        squares, basis = values[seen], basis[:, seen]
        targets = (basis.T @ moment) / np.sqrt(squares)[:, None]
        rest = np.maximum(energy - np.sum(targets**2, axis=0), 0.0)
        return cls(squares, targets, rest, total, affine, basis, False)

    def kept(self, alpha: float) -> Array:
        """f = s²/(s² + αW), what a fit keeps of each direction."""
        return np.asarray(self.squares / (self.squares + alpha * self.weight))

    def generalised(self, alpha: float) -> float:
        """GCV(α), summed over outputs; infinite where there are no samples left to judge by."""
        kept = self.kept(alpha)
        left = 1 - (float(kept.sum()) + self.affine) / self.weight
        if left * LEAST_SAMPLES <= LEAST_SAMPLES - 1:
            return float("inf")
        squares = float(np.sum(self.rest) + np.sum(((1 - kept)[:, None] * self.targets) ** 2))
        return squares / self.weight / left**2

    def left_out(self, X: Array, Y: Array, weights: Array, frame: Frame, degree: int, alpha: float) -> Array:
        """The prediction of each sample by the fit to all others, shape of Y (these targets, or others).

        Of a sample of weight w > 1, which counts like w samples, one is left out.
        """
        root = np.sqrt(weights)[:, None]
        U, kept = self.directions(X, weights, frame, degree), self.kept(alpha)
        level = weights @ Y / self.weight if frame.affine else np.zeros(Y.shape[1])
        right = root * (Y - level)
        residual = right - U @ (kept[:, None] * (U.T @ right))
        leverage = np.sum(U**2 * kept, axis=1)[:, None] + (
            weights[:, None] / self.weight if frame.affine else 0.0
        )
        leverage = leverage / np.maximum(weights, 1.0)[:, None]
        return np.asarray(Y - residual / np.maximum(1 - leverage, LEAST_SAMPLES - 1) / root)

    def directions(self, X: Array, weights: Array, frame: Frame, degree: int) -> Array:
        """U: a row a sample, a column a direction."""
        if self.of_samples:
            return self.basis
        block = features(frame.apply(X), degree)
        if frame.affine:
            block = block - weights @ block / self.weight
        return np.asarray(np.sqrt(weights)[:, None] * (block @ self.basis) / np.sqrt(self.squares))

    def best(self, criterion: Callable[[float], float]) -> float:
        """The α of the least criterion: best of a grid, then between its neighbours; 0 where no penalty is as good."""
        if not len(self.squares) or not np.any(self.targets):
            return 0.0
        grid = PENALTIES * float(np.mean(self.squares)) / self.weight
        values = [criterion(alpha) for alpha in grid]
        place = int(np.argmin(values))
        if not np.isfinite(values[place]):
            return float(grid[-1])
        if criterion(0.0) <= values[place] * (1 + NO_BETTER):
            return 0.0
        low, high = np.log(grid[max(place - 1, 0)]), np.log(grid[min(place + 1, len(grid) - 1)])
        found = minimize_scalar(lambda t: criterion(float(np.exp(t))), bounds=(low, high), method="bounded")
        better = bool(found.fun < values[place])
        return float(np.exp(found.x)) if better else float(grid[place])


def chosen_penalty(
    X: Array, Y: Array, weights: Array, affine: bool, degree: int, criterion: str, limit: int | None = None
) -> tuple[float, RidgePath | None]:
    """α by "auto" (generalised cross-validation) or "loo" (leave one out), all outputs together, and the path.

    With fewer samples than features "auto" leaves one out too, which costs little then: what generalised
    cross-validation takes for leverage, the mean, says little about samples that are nearly alone in their directions.

    With `limit` it is chosen on that many rows and scaled to all: noise is averaged over them, so the best α goes
    like 1/N. There is no path of all rows then.
    """
    share = 1.0
    if limit is not None and len(X) > limit:
        rows = np.linspace(0, len(X) - 1, limit).astype(np.intp)
        share = float(weights[rows].sum() / weights.sum())
        X, Y, weights = X[rows], Y[rows], weights[rows]
    frame = Frame.standardising(X, weights, affine)
    path = RidgePath.of(X, Y, weights, frame, degree)

    def by_leaving_out(alpha: float) -> float:
        errors = Y - path.left_out(X, Y, weights, frame, degree, alpha)
        return float(weights @ np.sum(errors**2, axis=1) / path.weight)

    generalised = criterion == "auto" and path.weight >= coordinates.dimension(frame.size, degree)
    alpha = share * path.best(path.generalised if generalised else by_leaving_out)
    return alpha, path if share == 1.0 else None
