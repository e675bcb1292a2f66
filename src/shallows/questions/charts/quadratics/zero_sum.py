"""Quadratic neurons a(αz² + βz + γ) without bias, β ≠ 0, whose fixed outer weights have the sum zero.

With A = diag(a) and V = (1, W), a network is the Gram matrix VᵀAV = ((0, ℓ), (ℓ, Q)) of the columns of V, ℓ = Σ aᵢwᵢ
and Q = Σ aᵢwᵢwᵢᵀ: the ones are isotropic, 1ᵀA1 = Σ aᵢ = 0. By Witt's theorem isometries of A take every isotropic
vector but zero to the ones. So with p positive and m negative weights the functions are all (ℓ, Q) for which the
restriction of Q to the complement of ℓ has at most p − 1 positive and m − 1 negative signs (a hyperbolic plane goes to
the ones and ℓ). For ℓ = tu, u = (1, z) in a random frame, that is Q = uYᵀ + Yuᵀ + S, S of rank ≤ r − 2 in all
coordinates but the first: polynomials in (t, z, Y, A, Z), S = UAUᵀ, U = [0; I; Z]. Neurons grow like Y/t as t → 0.

Where ℓ → 0 more can be had in the limit: ℓ = 0 and Q with up to p and m signs, since every such Q has a hyperplane in
which it has p − 1 and m − 1. A critical function with ℓ = 0 has a slope E with E_ℓ orthogonal to the differences of
neurons, which generic targets do not allow. An even target under symmetric data has E_ℓ = 0 at ℓ = 0 and nowhere else:
then its critical functions are those of matrices Q with p and m signs, limits where all of one sign are in use.

The zero function is critical where all neurons are one w with βE_ℓ + 2αE_Q w = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.network import Network
from shallows.questions.charts.matrices.sharp import low_rank_products
from shallows.questions.charts.neurons.neuron import Neuron
from shallows.questions.charts.quadratics.fixed_slope import Spread
from shallows.support.checks import Array
from shallows.support.tolerances import EPSILON

#: An isometry is looked for again when the ones and the vector to be taken to them are nearly orthogonal for A: of the
#: random reflections that are tried the best is taken, and digits are lost to this share.
TRIED = 8


@lru_cache(maxsize=64)
def zero_sum_neuron(n: int, rank: int) -> Neuron:
    """(t, z, Y, A, Z) ↦ (tu, uYᵀ + Yuᵀ + UAUᵀ), u = (1, z), A symmetric of this rank, U = [0; I; Z].

    >>> zero_sum_neuron(2, 1).values(np.array([2.0, 5.0, 3.0, 4.0, 10.0]))     # ℓ = 2(1, 5), Y = (3, 4), A = 10
    array([ 2., 10.,  6., 19., 50.])
    """

    def u(i: int) -> tuple[int, ...]:
        """The unknown in uᵢ: none in the first, which is 1."""
        return (i,) if i else ()

    pairs = coordinates.indices(n, 2).tolist()
    entries = {tuple(pair): n + k for k, pair in enumerate(pairs)}
    products: list[tuple[int, float, tuple[int, ...]]] = [(i, 1.0, (0, *u(i))) for i in range(n)]
    for i, j in pairs:
        products += [(entries[i, j], 1.0, (*u(i), n + j)), (entries[i, j], 1.0, (*u(j), n + i))]
    products += [
        (entries[i + 1, j + 1], 1.0, unknowns) for i, j, unknowns in low_rank_products(n - 1, rank, 2 * n)
    ]
    total = 2 * n + rank * (2 * (n - 1) - rank + 1) // 2
    return Neuron.of_products(total, n + len(pairs), products)


@dataclass(frozen=True, eq=False)
class ZeroSum(Spread):
    """The exact loss as a function of (ℓ, Q) in a frame, and the way back to networks."""

    #: A function of rank r has a matrix of rank r − 2 beside ℓ and y.
    beside: ClassVar[int] = 2

    def neuron(self, rank: int) -> Neuron:
        """The functions with an S of this rank."""
        return zero_sum_neuron(self.problem.n, rank)

    def parts(self, entries: Array) -> tuple[Array, Array]:
        """ℓ and Q from their entries in the frame."""
        n = self.problem.n
        Q = SymmetricTensor(entries[n:], n, 2).to_matrix()
        return self.frame @ entries[:n], self.frame @ Q @ self.frame.T

    def filled(self, rank: int) -> Array | None:
        """The unknowns of the target, the one critical point where functions of this rank are all that have ℓ ≠ 0."""
        n = self.problem.n
        if rank < n - 1:
            return None
        entries = np.linalg.lstsq(self.exact.gram.astype(np.float64), self.exact.right.astype(np.float64))[0]
        t, Q = entries[0], SymmetricTensor(entries[n:], n, 2).to_matrix()
        u = entries[:n] / t
        Y = Q[0] - u * Q[0, 0] / 2
        S = Q - np.outer(u, Y) - np.outer(Y, u)
        return np.concatenate([[t], u[1:], Y, S[1:, 1:][np.triu_indices(n - 1)]])

    def entries(self, m: Array, B: Array) -> Array:
        """The function's coordinates, with the constant where the space has one."""
        rest = np.concatenate([m, B[np.triu_indices(self.problem.n)]]) * self.factors
        constant = [float(self.students.fixed_constant)] if 0 in self.students.space.degrees else []
        return np.concatenate([constant, rest])

    def network(self, m: Array, B: Array, rank: int) -> Network | None:
        """A network with this ℓ ≠ 0 and Q; None where no real one has the signs for it."""
        n, a = self.problem.n, self.weights
        gram = np.zeros((n + 1, n + 1))
        gram[0, 1:] = gram[1:, 0] = m
        gram[1:, 1:] = B
        values, vectors = np.linalg.eigh(gram)
        V = np.zeros((len(a), n + 1))
        free = {s: np.flatnonzero(np.sign(a) == s).tolist() for s in (1.0, -1.0)}
        for k in np.argsort(-np.abs(values))[: rank + 2]:
            places = free[float(np.sign(values[k]))]
            if not places:
                return None
            place = places.pop(0)
            V[place] = np.sqrt(values[k] / a[place]) * vectors[:, k]
        return Network(_to_ones(V, a)[:, 1:], a, self.problem.activation)

    def flat(self, rank: int) -> int:
        """Isometries of A that keep the ones and change no function, but those that leave all neurons alone."""
        k, used = int(np.count_nonzero(self.weights)), rank + 2
        still = self.problem.n * (len(self.weights) - k)  # neurons of weight zero
        return (k - 1) * (k - 2) // 2 - (k - used) * (k - used - 1) // 2 + still


def _to_ones(V: Array, a: Array) -> Array:
    """gV, g an isometry of diag(a) that takes the first column, isotropic, to the ones: a reflection, or two."""
    used = a != 0
    A, rng = a[used], np.random.default_rng(len(a))
    best, found = 0.0, V[used]
    for _ in range(TRIED):
        size = abs(float(np.sum(A * found[:, 0]))) / (
            float(np.abs(A).sum()) * float(np.abs(found[:, 0]).max()) + EPSILON
        )
        if size > best:
            best, kept = size, found
        v = rng.standard_normal(len(A))
        found = _reflected(V[used], v, A)
    moved = np.array(V)
    moved[used] = _reflected(kept, kept[:, 0] - 1.0, A)
    moved[~used, 0] = 1.0
    return moved


def _reflected(V: Array, v: Array, A: Array) -> Array:
    """V − 2 v (vᵀAV)/(vᵀAv)."""
    return np.asarray(V - 2 * np.outer(v, (A * v) @ V) / float(v @ (A * v)))
