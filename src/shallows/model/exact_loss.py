"""The loss as the exact quadratic function that it is: ∇ℓ/2 = G s − b, G and b as the rationals that were given.

Doubles are rationals. b = G t for a target tensor t, of a teacher Σ aᵢ wᵢ^⊗d too; for labels y it is E[y x^⊗d], and no
least-squares tensor, which would be rounded, comes in. Proofs start from these numbers: at a condition of 10¹¹ the
rounding of G t alone moves critical points by more than the radius of their certificates.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb_mat, fmpq, fmpq_mat
from numpy.typing import NDArray

from shallows.mathematics.balls.systems import BITS, precision
from shallows.mathematics.exact.rational_arrays import (
    exact_product,
    exact_solution,
    fractions,
    rational_array,
    rational_matrix,
)
from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.data.samples import exact_means
from shallows.model.network import Network
from shallows.model.objective.best_forms import is_polynomial, right_of
from shallows.model.objective.build import is_form, labels_of
from shallows.model.polynomial_target import best_form
from shallows.model.problem import Problem
from shallows.model.reduced_problem import ReducedMetric, ReducedProblem, identity
from shallows.support.checks import Array


@dataclass(frozen=True, eq=False)
class ExactLoss:
    """G, (N, N), and b, (N,), as arrays of fractions: the critical equations are about G s − b."""

    gram: NDArray[Any]
    right: NDArray[Any]
    known: NDArray[Any] | None = None

    @classmethod
    def of(cls, problem: Problem) -> ExactLoss:
        """A problem's own, for one output; `known` is a target with Gt = b where G vanishes somewhere."""
        if isinstance(problem, ReducedProblem):
            own, change, known = cls.of(problem.original), problem.reduction, None
            with suppress(ZeroDivisionError):  # the data's own metric may vanish somewhere too
                known = None if change.penalty else _without_norm(own, change.constants)
            return cls(change.gram(own.gram), change.right(own.gram, own.right), known)
        gram = fractions(problem.data.exact_gram(problem.degree))
        right = problem.data.exact_right()
        if right is not None:
            return cls(gram, right, problem.data.exact_known())
        samples = problem.data.as_samples()
        target = problem.target
        if samples is not None and (target is None or not is_form(target, problem.degree)):
            weights = coordinates.multiplicities(problem.n, problem.degree).astype(int).astype(object)
            labels = labels_of(target, samples)[:, 0]
            return cls(
                gram, np.asarray(weights * exact_means(samples.X, problem.degree, labels, samples.given))
            )
        assert target is not None
        if problem.affine or not is_form(target, problem.degree):
            return cls(gram, _of_other(target, problem))
        return cls(gram, exact_product(gram, exact_target(problem)))

    @classmethod
    def of_doubles(cls, gram: Array, target: Array) -> ExactLoss:
        """From G and t as the doubles that they are."""
        exact = fractions(gram)
        return cls(exact, exact_product(exact, fractions(target)))

    def balls(self, bits: int) -> tuple[arb_mat, arb_mat]:
        """G, and b as a column, in balls of so many bits; of BITS at the least."""
        with precision(max(bits, BITS)):
            return arb_mat(rational_matrix(self.gram)), arb_mat(rational_matrix(self.right[:, None]))

    def excess(self, entries: Array) -> Array:
        """(s − t)ᵀG(s − t), t = G⁻¹b, of tensors as the doubles that they are, a row each; rounded once, at the end."""
        gram, target = rational_matrix(self.gram), rational_matrix(self.target[:, None])
        found = []
        for row in fractions(entries):
            gap = rational_matrix(row[:, None]) - target
            value = (gap.transpose() * gram * gap)[0, 0]
            found.append(float(Fraction(int(value.p), int(value.q))))
        return np.array(found)

    @property
    def target(self) -> NDArray[Any]:
        """G⁻¹b: what the least-squares tensor is before it is rounded."""
        if self.known is not None:
            return self.known
        return exact_solution(self.gram, self.right)

    def in_frame(self, frame: Array) -> ExactLoss:
        """The same at degree 2 in the entries of S′, S = R S′ Rᵀ, for a frame R of doubles: PᵀGP and Pᵀb."""
        R = np.array([[fmpq(*x.as_integer_ratio()) for x in row] for row in frame.tolist()], dtype=object)
        action = fmpq_mat(coordinates.square_action(R).tolist())
        gram = action.transpose() * rational_matrix(self.gram) * action
        right = action.transpose() * rational_matrix(self.right[:, None])
        size = len(self.right)
        return ExactLoss(rational_array(gram).reshape(size, size), rational_array(right))


class InDoubles:
    """G and b of the exact loss that an object brings, rounded; its `target` is the best of all."""

    exact: Any
    target: Any

    @cached_property
    def gram(self) -> Array:
        """G."""
        return np.asarray(self.exact.gram.astype(np.float64))

    @cached_property
    def right(self) -> Array:
        """b."""
        return np.asarray(self.exact.right.astype(np.float64))

    def excess(self, entries: Array) -> Array:
        """The loss above the floor, one a row."""
        gap = entries - self.target
        return np.asarray(np.maximum(np.einsum("ij,jk,ik->i", gap, self.gram, gap), 0.0))


def exact_target(problem: Problem) -> NDArray[Any]:
    """The entries of a target that is a form, as fractions: a tensor's own, or Σ aᵢ wᵢ^⊗d of a teacher, not rounded."""
    if isinstance(problem, ReducedProblem):
        return _reduced_target(problem)
    other = problem.target is None or problem.affine or not is_form(problem.target, problem.degree)
    if other or problem.data.exact_right() is not None:
        return ExactLoss.of(problem).target
    if isinstance(problem.target, Network):
        return _teacher(problem.target)
    assert isinstance(problem.target, SymmetricTensor)
    return np.asarray(fractions(problem.target.entries))


def _of_other(target: Network | SymmetricTensor, problem: Problem) -> NDArray[Any]:
    """b of a teacher that is no form of the students' degree: exact for polynomials, of doubles otherwise."""
    if is_polynomial(target):
        return best_form(target, problem.data, problem.degree)[0]
    return np.asarray(fractions(right_of(target, problem.data, problem.degree)[0]))


def _without_norm(own: ExactLoss, constants: int) -> NDArray[Any]:
    """t − ν₀q with ν₀ = qᵀb/(qᵀGq), what a norm neuron leaves of the target."""
    q = fractions(identity(len(own.right), constants))
    return np.asarray(own.target - (q @ own.right) / (q @ own.gram @ q) * q)


def _reduced_target(problem: ReducedProblem) -> NDArray[Any]:
    """t − ν₀q, or t″ with (G + pF)t″ = Gt + pαq; for G = A‖S‖² + B(tr S)² that is (A T + xI)/(A + p)."""
    change = problem.reduction
    assert isinstance(problem.data, ReducedMetric)
    parts = problem.data.isotropy()
    if parts is None:
        return ExactLoss.of(problem).target
    n, q = problem.n, fractions(identity(len(problem.gram())))
    t = exact_target(problem.original)
    if not change.penalty:
        return np.asarray(t - (q @ t) / n * q)
    scale, trace = parts
    whole = scale + change.penalty
    before, pull = q @ t, change.penalty * change.outer
    after = ((scale + n * trace) * before + n * pull) / (whole + n * trace)
    return np.asarray((scale * t + (trace * (before - after) + pull) * q) / whole)


def _teacher(net: Network) -> NDArray[Any]:
    """Σ aᵢ wᵢ^⊗d, and α‖x‖² for the norm neuron."""
    degree = net.tensor().degree
    index = coordinates.indices(net.n, degree)
    W, a = fractions(net.W), fractions(np.ravel(net.a))
    entries = a @ np.prod(W[:, index], axis=-1)
    if np.any(net.norm):
        entries = entries + fractions(np.where(index[:, 0] == index[:, 1], np.ravel(net.norm)[0], 0.0))
    return np.asarray(entries)
