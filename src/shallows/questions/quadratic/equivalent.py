"""The set M_Q: all networks with the same Q and the same function (paper 002, Definition C.1, Lemmas C.6 to C.9).

With M = Λ and V a basis of ker Q (Q = Wᵀ), M_Q = {M + VCVᵀ : C symmetric} has dimension (k−r)(k−r+1)/2, r = rank Q.
Its members have the same QM, hence the same function and the same first-order conditions. A member M̂ = UΛ̂Uᵀ is the
network with neurons QU and outer weights Λ̂ (Lemma C.6). At a stationary point with indefinite ΣrX almost all members
have a direction of negative curvature (Lemma C.9).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from shallows.mathematics.numerical_rank import rank_of
from shallows.model.activations import Power
from shallows.model.network import Network
from shallows.support.arguments import typed
from shallows.support.checks import Array, finite_number, symmetric_matrix
from shallows.support.errors import InvalidProblem
from shallows.support.seeds import generator

#: Singular values of Q below this share of the largest are zero: its members have the same function to about as much.
ZERO = 1e-9


@dataclass(frozen=True, eq=False)
class EquivalentSet:
    """All networks with the same Q and the same function as a given one (paper 002, Definition C.1).

    M_Q = {Λ + VCVᵀ : C symmetric}; `null` holds V, an orthonormal basis of ker Q, one vector a column.

    >>> net = sh.Network([[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]], a=[1.0, 2.0, 3.0])
    >>> members = sh.quadratic.equivalent_set(net)
    >>> members
    EquivalentSet(dimension 3: Network(width=3, n=2, activation=Power(2)), rank Q 1)
    >>> other = members.sample(rng=0)
    >>> f"{abs(other.tensor().entries - net.tensor().entries).max():.6f}"   # the same function
    '0.000000'
    """

    network: Network
    null: Array

    @property
    def dimension(self) -> int:
        """(k−r)(k−r+1)/2."""
        free = int(self.null.shape[1])
        return free * (free + 1) // 2

    def member(self, C: ArrayLike) -> Network:
        """The network of M = Λ + VCVᵀ."""
        change = symmetric_matrix("C", C)
        if len(change) != self.null.shape[1]:
            raise InvalidProblem(
                f"C is {change.shape}; expected a symmetric {self.null.shape[1]}×{self.null.shape[1]}."
            )
        M = np.diag(self.network.a) + self.null @ change @ self.null.T
        values, U = np.linalg.eigh(M)
        return Network(U.T @ self.network.W, values, norm=self.network.norm)

    def sample(self, rng: int | np.random.Generator = 0, size: float = 1.0) -> Network:
        """A random member, C symmetric with independent N(0, size²) entries."""
        source, free = generator(rng), self.null.shape[1]
        C = finite_number("size", size, minimum=0.0) * source.standard_normal((free, free))
        return self.member(np.tril(C) + np.tril(C, -1).T)

    def __repr__(self) -> str:
        rank = self.network.width - self.null.shape[1]
        return f"EquivalentSet(dimension {self.dimension}: {self.network!r}, rank Q {rank})"


@typed
def equivalent_set(net: Network) -> EquivalentSet:
    """The set M_Q of a quadratic network with one output, all with the same Q and function (paper 002, Definition C.1).

    >>> sh.quadratic.equivalent_set(sh.Network([[1.0, 0.0], [0.0, 0.0]])).dimension
    1
    """
    if net.activation != Power(2) or net.a.ndim != 1:
        raise InvalidProblem(f"M_Q is for quadratic networks with one output (Lemma C.6); given {net!r}.")
    _, values, rows = np.linalg.svd(net.W.T, full_matrices=True)
    rank = rank_of(values, ZERO)
    return EquivalentSet(net, rows[rank:].T)
