"""The convex counterpart min_A mean (yₙ − A•Xₙ)²: least squares on quadratic features (paper 002, equation 2.5).

Networks of width at least d attain its optimum: A* = QΛQᵀ by the eigendecomposition (Lemma C.5), k = d neurons.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.mathematics.signature import signature
from shallows.model.network import Network
from shallows.model.objective.function_space import RCOND
from shallows.model.problem import Problem
from shallows.questions.quadratic.sample_span import Span, require_span, spans_symmetric
from shallows.questions.quadratic.statistics import require_quadratic
from shallows.questions.quadratic.teachers import network_of
from shallows.support.checks import Array, positive_integer
from shallows.support.tolerances import EPSILON

#: Eigenvalues of A* below this share of the largest have no sign: least squares on well-conditioned features knows them
#: to about 1e-12.
NO_EIGENVALUE = 1e-10


@dataclass(frozen=True, eq=False)
class ConvexOptimum:
    """The optimum A* over all symmetric matrices, its loss L* and its signature; `unique` when the data determines it.

    `network(k)` attains L* for every width k ≥ rank A* (paper 002, Lemma C.5: k = d neurons are enough). A loss up to
    `rounding` cannot be told from zero in double precision.

    >>> problem = sh.Problem(np.diag([2.0, -1.0, 0.0]), sh.Gaussian(3), width=3)
    >>> best = sh.quadratic.convex_optimum(problem)
    >>> best.rank, best.positive, best.negative
    (2, 1, 1)
    >>> f"{problem.loss(best.network()):.10f}", best.network(2).a.tolist()
    ('0.0000000000', [-1.0, 1.0])
    """

    matrix: Array
    loss: float
    unique: bool
    positive: int
    negative: int
    span: Span | None
    rounding: float = 0.0

    @property
    def rank(self) -> int:
        """The rank of A*: the least width that attains L*."""
        return self.positive + self.negative

    def network(self, width: int | None = None) -> Network:
        """A network with this function: the eigendecomposition, of width d by default."""
        width = len(self.matrix) if width is None else positive_integer("width", width)
        return network_of(self.matrix, width)

    def __repr__(self) -> str:
        which = "unique" if self.unique else "of minimum norm, not unique"
        loss = f"{self.loss:.8g}"
        if 0 < self.loss <= self.rounding:
            loss = f"0 to rounding ({self.rounding:.1g})"
        return f"ConvexOptimum(loss {loss}, {self.positive} positive and {self.negative} negative, {which})"


def convex_optimum(problem: Problem, *, minimum_norm: bool = False) -> ConvexOptimum:
    """The least-squares optimum over all symmetric matrices, min_A E(y − xᵀAx)² (paper 002, equation 2.5).

    Samples that do not determine it are refused with what is missing, unless `minimum_norm` asks for the optimum of
    least norm.

    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]])
    >>> y = 2 * X[:, 0] ** 2 - 6 * X[:, 0] * X[:, 1] + X[:, 1] ** 2
    >>> best = sh.quadratic.convex_optimum(sh.Problem(None, sh.Samples(X, y), width=2))
    >>> best.matrix.round(6).tolist(), best.unique
    ([[2.0, -3.0], [-3.0, 1.0]], True)
    """
    require_quadratic(problem)
    samples = problem.data.as_samples()
    span = None if samples is None else spans_symmetric(samples.seen)
    if samples is not None and not span and not minimum_norm:
        require_span(samples.seen)
    matrix = problem.target_tensor().to_matrix()
    positive, _, negative = signature(np.linalg.eigvalsh(matrix), NO_EIGENVALUE)
    unique, rounding = span is None or span.full, 0.0 if span is None else _rounding(problem)
    return ConvexOptimum(matrix, problem.floor, unique, positive, negative, span, rounding)


def _rounding(problem: Problem) -> float:
    """(N ε)² κ(G) E y², G of unit diagonal and size N: about what the normal equations leave of a loss that is zero.

    An error ε‖G‖‖s*‖ of the right side moves s by δ with δᵀGδ ≤ ε²‖G‖²‖s*‖²/λ_min = ε² κ ‖G‖‖s*‖².
    """
    gram = problem.gram()
    scale = np.sqrt(np.diag(gram))
    scale = np.where(scale > 0, scale, 1.0)
    values = np.linalg.eigvalsh(gram / np.outer(scale, scale))
    kept = values[values > RCOND * values[-1]]
    energy = float(problem.value(np.zeros(problem.size)))
    return float((len(gram) * EPSILON) ** 2 * kept[-1] / kept[0] * energy)
