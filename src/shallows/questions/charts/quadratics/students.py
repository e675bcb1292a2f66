"""Which functions networks of quadratic neurons are, and the problem of matrices that is charted in their stead.

A neuron a(αz² + βz + γ) is aα(w·x + b)² + aκ: with a bias the square is completed, b → b + β/2α and κ = γ − β²/4α;
without one, and with β = 0, it is one as it stands. So networks are quadrics of rank ≤ r, and the constant κ Σ aᵢ:

- *a fixed*: a known constant. Matrices of rank ≤ r under the data's metric, the target less that constant.
- *a trained*: with signs to choose, Σ aᵢ is free whatever the matrix is, since neurons can be stretched, a → aτ²,
  w → w/τ. So the constant is eliminated: G − G_c G_cᵀ/G_cc. Without bias and with β = 0 that leaves matrices Q of rank
  ≤ r; with a bias quadrics modulo constants, (ℓ, Q) with rank (ℓ Q) ≤ r (`matrices.modulo_square`). If all r neurons
  are needed and all have one sign, so has the constant: `one_sided`.
- *a trained, no bias, γ = 0, β ≠ 0*: a(αz² + βz) has Q = αΣ awwᵀ and ℓ = βΣ aw, again rank (ℓ Q) ≤ r, and no constant.
- *a trained, an even target under symmetric data*: then ℓ = 0 at all critical points (`even`), and matrices Q of rank r
  are charted; ℓ in the span of Q adds r positive directions.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.exact.rational_arrays import (
    exact_solution,
    fractions,
    rational_array,
    rational_matrix,
)
from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Polynomial
from shallows.model.data.base import Distribution
from shallows.model.data.equivalent_metric import EquivalentMetric
from shallows.model.data.given_metric import GivenMetric
from shallows.model.data.rotation_invariance import RotationInvariance
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.support.checks import Array
from shallows.support.tolerances import TINY


@dataclass(frozen=True, eq=False)
class QuadraticStudents:
    """α, the shift h of the bias, κ and β/2α of a problem whose networks are such quadrics."""

    problem: Problem
    space: PolynomialSpace
    square: float
    shift: float
    own: Fraction
    slope: float

    @classmethod
    def of(cls, problem: Problem) -> QuadraticStudents | None:
        """Those of two and more quadratic neurons with one output, and of one αz² + βz; None without a reduction.

        One neuron of another kind has a constant that its outer weight decides.
        """
        activation = problem.activation
        if not isinstance(activation, Polynomial) or activation.degree != 2:
            return None
        gamma, beta, alpha = (Fraction(float(c)) for c in activation.coefficients)
        if problem.width < 2 and (problem.outer is not None or problem.bias or gamma or not beta):
            return None
        if problem.outer is not None and beta and not problem.bias:
            return None
        half = beta / (2 * alpha)
        own = gamma - beta * half / 2 if problem.bias else gamma
        if problem.bias and not own:
            return None
        shift = float(half) if problem.bias else 0.0
        return cls(problem, PolynomialSpace.of(problem), float(alpha), shift, own, float(half))

    @property
    def linear(self) -> bool:
        """Whether functions have a linear part."""
        return 1 in self.space.degrees

    @cached_property
    def even(self) -> bool:
        """Whether the best linear part is 0 whatever the squares are, with trained outer weights.

        Where E[xᵢ xⱼxₖ] = 0 and the target has no linear part, the loss is ℓᵀHℓ and one of Q: with ℓ = Uc, UᵀHUc = 0.
        """
        return self.linear and self.problem.outer is None and self.apart

    @property
    def apart(self) -> bool:
        """Whether the slope in ℓ vanishes where ℓ does: E[xᵢ xⱼxₖ] = 0, and the target has no linear part."""
        gram, right = self.without_constant()
        n = self.problem.n
        return not gram[:n, n:].any() and not right[:n].any()

    @property
    def free_constant(self) -> bool:
        """Whether the constant is chosen by the outer weights."""
        return self.problem.outer is None and bool(self.own)

    @property
    def fixed_constant(self) -> Fraction:
        """κ Σ aᵢ where outer weights are fixed, or 0."""
        if self.problem.outer is None:
            return Fraction(0)
        return self.own * sum(map(Fraction, self.problem.outer[0].tolist()), Fraction(0))

    @cached_property
    def best_constant(self) -> tuple[Array, float]:
        """(h, c₀) with c₀ − hᵀs the best constant beside the other entries s."""
        gram, right = self.space.exact.gram, self.space.exact.right
        h = np.asarray((gram[0, 1:] / gram[0, 0]).astype(np.float64))
        return h, float(right[0] / gram[0, 0])

    def without_constant(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """G and b on the entries but the constant, that one eliminated where it is free."""
        gram, right = self.space.exact.gram, self.space.exact.right
        if 0 not in self.space.degrees:
            return gram, right
        rest, lead = slice(1, None), gram[0, 1:]
        if not self.free_constant:
            return gram[rest, rest], right[rest] - lead * self.fixed_constant
        schur = gram[rest, rest] - np.multiply.outer(lead, lead) / gram[0, 0]
        return schur, right[rest] - lead * (right[0] / gram[0, 0])

    def matrices(self) -> Problem:
        """Without linear part, or where that is 0: matrices Q of rank ≤ r, outer weights αa where those are fixed."""
        gram, right = self.without_constant()
        start = self.problem.n if self.even else 0
        return self._of_matrices(gram[start:, start:], right[start:], self._invariance())

    def squares(self) -> Problem:
        """The same networks without their constants, Σ aα(w·x + b)²: limits where one sign alone leaves no constant."""
        if self.linear:
            return self.with_constant_fixed()
        plain = QuadraticStudents(self.problem, self.space, self.square, self.shift, Fraction(0), self.slope)
        gram, right = plain.without_constant()
        return plain._of_matrices(gram, right, plain._invariance())

    def _of_matrices(
        self, gram: NDArray[Any], right: NDArray[Any], invariance: RotationInvariance | None
    ) -> Problem:
        data = GivenMetric(self.problem.n, gram, right, None, invariance)
        target = np.asarray(np.linalg.solve(data.gram(2), right.astype(np.float64)), np.float64)
        outer = "free" if self.problem.outer is None else self.problem.outer[0] * self.square
        return Problem(SymmetricTensor(target, data.n, 2), data, self.problem.width, outer=outer)

    def _invariance(self) -> RotationInvariance | None:
        """A‖S‖² + B(tr S)² stays one when the constant is eliminated, which takes (E x₁²)² from B."""
        law = self.problem.data.rotation_invariance(2)
        if law is None or not self.free_constant:
            return law
        n, lead = self.problem.n, self.space.exact.gram[0, 1 + self.problem.n * (1 in self.space.degrees) :]
        if law.covariance is not None:
            second = coordinates.matrix_entries(law.covariance) * coordinates.multiplicities(n, 2)
            own = (
                law.family == "Gaussian"
                and law.scale == 1.0
                and np.array_equal(second, lead.astype(np.float64))
            )
            return RotationInvariance("Frobenius", 2, 2.0, law.covariance) if own else None
        if n == 1:
            return None
        exact = fractions(self.problem.data.exact_gram(2))
        scale = exact[1, 1] / 2
        share = (exact[0, n] - lead[0] ** 2) / scale
        return RotationInvariance("isotropic", 2, float(scale), share=share)

    def with_constant_fixed(self) -> Problem:
        """With linear part: quadrics in (1, x) of rank ≤ r, the target less the fixed constant."""
        problem, scales = self.problem, np.array([1, 2, 1])[self.space.at]
        assert isinstance(problem.data, Distribution)
        exact, factors = self.space.exact, fractions(scales)
        gram = exact.gram * np.multiply.outer(factors, factors)
        right = (exact.right - exact.gram[:, 0] * self.fixed_constant) * factors
        target = self.space.target.copy()
        target[0] -= float(self.fixed_constant)
        metric = EquivalentMetric(problem.data, 2, gram, right)
        outer = "free" if problem.outer is None else problem.outer[0] * self.square
        return Problem(SymmetricTensor(target / scales, metric.n, 2), metric, problem.width, outer=outer)

    def modulo_constants(self) -> Problem:
        """With linear part, a trained: quadrics in (x, 1), the constant last, under a metric that does not see it."""
        gram, right = self.without_constant()
        size, order, scales = len(right) + 1, *tensor_order(self.problem.n)
        factors = fractions(scales)
        full = np.full((size, size), Fraction(0), dtype=object)
        full[:-1, :-1] = gram[np.ix_(order, order)] * np.multiply.outer(factors, factors)
        none = fractions(np.zeros(1))
        b = np.concatenate([right[order] * factors, none])
        best = self.space.exact.target[self.space.at > 0][order] / factors
        known = np.concatenate([best, none])
        data = GivenMetric(self.problem.n + 1, full, b, known)
        return Problem(SymmetricTensor(known.astype(np.float64), data.n, 2), data, self.problem.width)

    def without_linear(self, rank: int) -> BesideLinear:
        """With linear part, a trained: matrices Q of a rank under the metric with ℓ and the constant eliminated."""
        gram, right = self.without_constant()
        n = self.problem.n
        head, tail = slice(0, n), slice(n, None)
        solve = rational_array(rational_matrix(gram[head, head]).inv()).reshape(n, n)
        lift, best = solve @ gram[head, tail], solve @ right[head]
        schur, rest = gram[tail, tail] - gram[tail, head] @ lift, right[tail] - lift.T @ right[head]
        invariance = (
            None if lift.any() else self._invariance()
        )  # ℓ and Q are orthogonal: Q has its own metric
        exact = exact_solution(schur, rest)
        data = GivenMetric(n, schur, rest, exact, invariance)
        squares = Problem(SymmetricTensor(exact.astype(np.float64), n, 2), data, rank)
        return BesideLinear(squares, best, lift)

    def frame(self) -> Array:
        """Coordinates of (x, 1), the constant last, in which inputs count alike: whitened, with a bias centred too.

        With (x, 1) = K(z, 1) a matrix M in (x, 1) is K⁻ᵀM′K⁻¹; the square of the constant stays what it is.
        """
        data, n = self.problem.data, self.problem.n
        assert isinstance(data, Distribution)
        mean = data.moments(1) if self.problem.bias else np.zeros(n)
        values, vectors = np.linalg.eigh(data.cross_gram(1, 1) - np.outer(mean, mean))
        K = np.eye(n + 1)
        K[:n, :n] = vectors * np.sqrt(np.where(values > TINY, values, 1.0))
        K[:n, n] = mean
        return np.asarray(np.linalg.inv(K).T)


@dataclass(frozen=True, eq=False)
class BesideLinear:
    """The problem of squares beside the best linear part, and (ℓ₀, L) as fractions: ℓ₀ − LQ is best beside Q."""

    squares: Problem
    best: NDArray[Any]
    lift: NDArray[Any]

    def linear(self, entries: Array) -> Array:
        """ℓ₀ − LQ."""
        return np.asarray(self.best.astype(np.float64) - self.lift.astype(np.float64) @ entries)


def tensor_order(n: int) -> tuple[NDArray[np.intp], Array]:
    """Where the entries (but the last) of a matrix in (x, 1) are among (ℓ, Q), and how often they count there."""
    pairs = coordinates.indices(n + 1, 2)[:-1]
    of_pair = {tuple(pair): n + k for k, pair in enumerate(coordinates.indices(n, 2).tolist())}
    order = [i if j == n else of_pair[i, j] for i, j in pairs.tolist()]
    return np.array(order, dtype=np.intp), np.where(pairs[:, 1] == n, 2.0, 1.0)
