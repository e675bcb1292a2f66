"""The metrics of a loss with an orthogonality penalty, on pairs of matrices (s, P): G on s and γ‖P‖² on P."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.model.data.metric import Frobenius
from shallows.model.reduced_problem import identity
from shallows.questions.charts.continuation.metrics import AllMetrics, Complex, Pair
from shallows.support.checks import Array

Law = Literal["any", "isotropic", "wide"]


@dataclass(frozen=True)
class PenalisedMetrics:
    """Blocks (G, γF), F that of Frobenius: G any metric, or u₁‖S‖² + u₂(tr S)² where rotations leave the data alone.

    "wide" has any metric on P too: no critical point of a generic one is at infinity. P is of the inputs behind the
    first ones, if these are `constants`.
    """

    n: int
    law: Law
    constants: int = 0

    @property
    def kind(self) -> str:
        """What they are."""
        return {"any": "penalised", "isotropic": "penalised isotropic", "wide": "pairs of"}[self.law]

    @property
    def size(self) -> int:
        """N, the entries of s."""
        return coordinates.dimension(self.n, 2)

    @property
    def second(self) -> int:
        """Those of P."""
        return coordinates.dimension(self.n - self.constants, 2)

    @property
    def _first(self) -> int:
        """How many numbers G takes."""
        return 2 if self.law == "isotropic" else AllMetrics(self.size).parameters

    @property
    def parameters(self) -> int:
        """Those of G, and γ or all of the second metric."""
        return self._first + (AllMetrics(self.second).parameters if self.law == "wide" else 1)

    def at(self, u: Complex) -> Pair:
        """The block matrix."""
        own, rest = u[: self._first], u[self._first :]
        F = Frobenius(self.n - self.constants).gram(2)
        q = identity(self.size)
        G = (
            own[0] * F + own[1] * np.outer(q, q)
            if self.law == "isotropic"
            else AllMetrics(self.size).at(own).high
        )
        second = AllMetrics(self.second).at(rest).high if self.law == "wide" else rest[0] * F
        across = np.zeros((self.size, self.second))
        return Pair.of(np.block([[G, across], [across.T, second]]))

    def of(self, gram: Array, penalty: float) -> Array:
        """The parameters u of a G of this kind, and γ."""
        if self.law == "isotropic":  # G on entries 11 and 22 is u₂, and u₁ + u₂ on 11 twice
            trace = float(gram[0, self.n]) if self.n > 1 else 0.0
            return np.array([float(gram[0, 0]) - trace, trace, penalty])
        upper = np.triu_indices(self.size)
        if self.law == "any":
            return np.append(gram[upper], penalty)
        inner = Frobenius(self.n - self.constants).gram(2)
        return np.concatenate([gram[upper], penalty * inner[np.triu_indices(self.second)]])


@dataclass(frozen=True)
class JoinedMetrics:
    """Blocks (G, …, G, γF): one G for each of M outputs, and the penalty's metric on P (`one_more_output`)."""

    n: int
    law: Law
    outputs: int

    @property
    def kind(self) -> str:
        """What they are."""
        return self._pair.kind

    @property
    def _pair(self) -> PenalisedMetrics:
        return PenalisedMetrics(self.n, self.law)

    @property
    def size(self) -> int:
        """The entries of all outputs."""
        return self.outputs * self._pair.size

    @property
    def second(self) -> int:
        """Those of P."""
        return self._pair.second

    @property
    def parameters(self) -> int:
        """Those of G, and γ."""
        return self._pair.parameters

    def at(self, u: Complex) -> Pair:
        """The block matrix."""
        one, N = self._pair.at(u).high, self._pair.size
        whole = np.zeros((self.size + N, self.size + N), np.complex128)
        for m in range(self.outputs):
            whole[m * N : (m + 1) * N, m * N : (m + 1) * N] = one[:N, :N]
        whole[self.size :, self.size :] = one[N:, N:]
        return Pair.of(whole)

    def of(self, gram: Array, penalty: float) -> Array:
        """The parameters u of a G of this kind, and γ."""
        return self._pair.of(gram, penalty)
