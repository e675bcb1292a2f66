"""Norm neurons and orthogonality penalties, reduced to plain problems: the same students under another metric.

*Norm neuron.* With q = ‖x‖² the best weight ν of a student s solves a linear equation, and what is left is

    min_ν (s + νq − t)ᵀG(s + νq − t) = (s − t)ᵀG′(s − t),    G′ = G − Gq qᵀG/(qᵀGq),   ν = −qᵀG(s − t)/(qᵀGq),

a metric that vanishes on q and nowhere else.

*Orthogonality penalty.* If all outer weights are the same α ≠ 0, then s = αWᵀW, so that γ‖WᵀW − I‖² = p‖s − αq‖²_F with
p = γ/α²: the metric is G + pF, F that of Frobenius, its target t″ solves (G + pF)t″ = Gt + pαFq, and the loss at t″ is
(t″ − t)ᵀG(t″ − t) + p‖t″ − αq‖². With both, ν goes first. If outer weights differ, or are trained, WᵀW and s are
different matrices, and the penalty is no function of s.

*Bias.* On (1, x) students are s = Σ aᵢ (bᵢ, wᵢ)^⊗2; ‖x‖² is q = 0 ⊕ I, and WᵀW a block of (b W)ᵀ(b W): F is Frobenius'
metric on that block, zero on constant and linear part. The formulas are the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.exact.rational_arrays import fractions
from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Power
from shallows.model.data.base import InnerProduct
from shallows.model.data.metric import Semidefinite
from shallows.model.data.rotation_invariance import RotationInvariance
from shallows.model.objective.function_space import FunctionSpaceObjective
from shallows.model.problem import Problem
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem
from shallows.support.tolerances import EPSILON

#: Roundings in ν₀q, a sum over the entries of the target.
ROUNDINGS = 64


@dataclass(frozen=True)
class Reduction:
    """What is done to the metric: `norm` divides by q = ‖x‖², `penalty` p and `outer` α add p‖s − αq‖²_F.

    Both leave out the first `constants` inputs.
    """

    norm: bool
    penalty: Fraction = Fraction(0)
    outer: Fraction = Fraction(1)
    constants: int = 0

    @classmethod
    def of(cls, problem: Problem) -> Reduction:
        """That of a problem; refused where the penalty is no function of the student's tensor."""
        if not problem.orthogonality:
            return cls(problem.norm_neuron, constants=problem.constants)
        require_quadratic(problem)
        weights = None if problem.outer is None else problem.outer[0]
        if weights is None or np.any(weights != weights[0]) or not weights[0]:
            given = "trained" if weights is None else f"({', '.join(f'{a:g}' for a in weights[:6])})"
            raise InvalidProblem(
                f"The penalty is a function of WᵀW and the loss one of Wᵀdiag(a)W. With outer weights that are {given} "
                "these are two matrices, and critical points are not those of one quadratic function on matrices of "
                'bounded rank. Fix: outer="ones" (or any equal weights but 0), or method="descent".'
            )
        alpha = Fraction(float(weights[0]))
        penalty = Fraction(problem.orthogonality) / alpha**2
        return cls(problem.norm_neuron, penalty, alpha, problem.constants)

    def gram(self, gram: NDArray[Any]) -> NDArray[Any]:
        """G, as doubles or as fractions, after the reduction."""
        q: NDArray[Any] = identity(len(gram), self.constants)
        frobenius: NDArray[Any] = np.diag(frobenius_weights(len(gram), self.constants))
        penalty: Any = float(self.penalty)
        if gram.dtype == object:
            q, frobenius, penalty = fractions(q), fractions(frobenius), self.penalty
        if self.norm:
            image = gram @ q
            gram = gram - np.outer(image, image) / (q @ image)
        return np.asarray(gram + penalty * frobenius if self.penalty else gram)

    def right(self, gram: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
        """b = Gt, as fractions, after the reduction."""
        q = fractions(identity(len(gram), self.constants))
        if self.norm:
            image = gram @ q
            right = right - image * ((q @ right) / (q @ image))
        return np.asarray(right + self.penalty * self.outer * q)


def require_quadratic(problem: Problem) -> None:
    """Refuse a penalty beside other students than squares."""
    if problem.activation != Power(2):
        raise InvalidProblem(
            f"The orthogonality penalty is a function of the matrix WᵀW, and students with {problem.activation!r} "
            'are no functions of that matrix. Fix: Power(2), or method="descent".'
        )


def identity(size: int, constants: int = 0) -> Array:
    """The entries of q = ‖x‖², the identity but for constants, the first inputs; with Frobenius' weights Fq = q."""
    rows, columns = coordinates.indices(coordinates.inputs_of(size), 2).T
    return np.where((rows == columns) & (rows >= constants), 1.0, 0.0)


def frobenius_weights(size: int, constants: int = 0) -> Array:
    """The diagonal of Frobenius' metric on the block of a matrix behind its first inputs, if these are constants.

    >>> frobenius_weights(6, 1)          # 11, 1x, 1y, xx, xy, yy
    array([0., 0., 0., 1., 2., 1.])
    """
    n = coordinates.inputs_of(size)
    rows, _ = coordinates.indices(n, 2).T
    return np.where(rows >= constants, coordinates.multiplicities(n, 2), 0.0)


class ReducedMetric(Semidefinite):
    """A law's metric at degree 2 after a reduction."""

    def __init__(self, law: InnerProduct, reduction: Reduction) -> None:
        self.law, self.reduction = law, reduction
        gram = reduction.gram(law.gram(2))
        super().__init__(law.n, 2, (gram + gram.T) / 2)

    def exact_gram(self, degree: int) -> NDArray[Any]:
        """The reduction of the law's exact Gram matrix."""
        return self.reduction.gram(fractions(self.law.exact_gram(degree)))

    def isotropy(self) -> tuple[Fraction, Fraction] | None:
        """(A, B) where the metric before the penalty is A‖S‖² + B(tr S)²: beside a norm neuron B is −A/n."""
        metric = self.law.rotation_invariance(2)
        if metric is None or metric.covariance is not None or self.reduction.constants:
            return None
        scale = Fraction(float(metric.coefficients[0]))
        return scale, -scale / self.n if self.reduction.norm else scale * metric.trace_share

    def rotation_invariance(self, degree: int) -> RotationInvariance | None:
        """A‖S‖² + B(tr S)² stays one under the penalty, which adds p to A."""
        parts = self.isotropy()
        if parts is None:
            return None
        scale = parts[0] + self.reduction.penalty
        return RotationInvariance("isotropic", degree, float(scale), share=parts[1] / scale)

    def __repr__(self) -> str:
        return f"{self.law!r}, reduced"


class ReducedProblem(Problem):
    """A problem with a norm neuron or an orthogonality penalty as a plain one; losses are the same."""

    def __init__(self, original: Problem) -> None:
        self.original = original
        self.reduction = Reduction.of(original)
        metric = ReducedMetric(original.data, self.reduction)
        target, floor = self._minimum(metric.gram(2))
        outer = "free" if original.outer is None else original.outer
        super().__init__(SymmetricTensor(target, original.n, 2), metric, original.width, Power(2), outer)
        self.objective = FunctionSpaceObjective(self.n, 2, metric.gram(2), target[None], floor)

    def _minimum(self, gram: Array) -> tuple[Array, float]:
        """t″ and the loss there."""
        t, floor = self.original.target_tensor().entries, self.original.floor
        penalty, outer = float(self.reduction.penalty), float(self.reduction.outer)
        if not penalty:
            return self._without_norm(t), floor
        constants = self.reduction.constants
        q, weights = identity(len(gram), constants), frobenius_weights(len(gram), constants)
        plain = Reduction(self.reduction.norm, constants=constants).gram(self.original.gram())
        target = np.linalg.solve(gram, plain @ t + penalty * outer * q)
        gap, away = target - t, target - outer * q
        return np.asarray(target, np.float64), floor + float(gap @ plain @ gap) + penalty * float(
            away @ (weights * away)
        )

    def _without_norm(self, t: Array) -> Array:
        """t − ν₀q, what the norm neuron leaves of the target: exactly zero for a multiple of q."""
        q = identity(len(t), self.reduction.constants)
        rest = t - self.optimal_norm[1] * q
        size = ROUNDINGS * EPSILON * float(np.abs(t).max())
        spread = np.abs(t - t[-1] * q).max()
        return np.zeros_like(t) if spread == 0.0 and np.abs(rest).max() <= size else rest

    @cached_property
    def optimal_norm(self) -> tuple[Array, float]:
        """(h, ν₀) with ν = ν₀ − hᵀs the best weight of the norm neuron beside a student s."""
        gram = self.original.gram()
        q = identity(len(gram), self.reduction.constants)
        image = gram @ q
        h = np.asarray(image / float(image @ q), np.float64)
        return h, float(h @ self.original.target_tensor().entries)


def needs_pairs(problem: Problem) -> bool:
    """Whether the penalty is no function of the student's matrix, so that pairs are charted."""
    if not problem.orthogonality or problem.outputs != 1 or problem.activation != Power(2):
        return False
    return problem.outer is None or bool(np.any(problem.outer != problem.outer[0, 0]))


def reduced(problem: Problem) -> Problem:
    """The plain problem with the same critical points; one without norm neuron and penalty is returned as it is.

    With a bias it is one on (1, x).
    """
    return ReducedProblem(problem.homogeneous()) if problem.norm_neuron or problem.orthogonality else problem
