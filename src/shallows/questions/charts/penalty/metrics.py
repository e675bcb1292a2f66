"""The metrics of a loss with an orthogonality penalty, on matrices (s, P): G on s and γ‖P‖² on P; of several outputs on
(s₁, …, s_M, P), one G for each (`one_more_output`)."""

from __future__ import annotations

from dataclasses import dataclass, field
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
    """Blocks (G, …, G, γF), F that of Frobenius: G any metric, or u₁‖S‖² + u₂(tr S)² where rotations leave data alone.

    "wide" has any metric on P too: no critical point of a generic one is at infinity. P is of the inputs behind the
    first ones, if these are `constants`.
    """

    n: int
    law: Law
    constants: int = 0
    outputs: int = field(default=1, repr=False)  # the equations' own names have it

    @property
    def kind(self) -> str:
        """What they are."""
        return {"any": "penalised", "isotropic": "penalised isotropic", "wide": "pairs of"}[self.law]

    @property
    def block(self) -> int:
        """N, the entries of one output."""
        return coordinates.dimension(self.n, 2)

    @property
    def size(self) -> int:
        """Those of all outputs."""
        return self.outputs * self.block

    @property
    def second(self) -> int:
        """Those of P."""
        return coordinates.dimension(self.n - self.constants, 2)

    @property
    def _first(self) -> int:
        """How many numbers G takes."""
        return 2 if self.law == "isotropic" else AllMetrics(self.block).parameters

    @property
    def parameters(self) -> int:
        """Those of G, and γ or all of the second metric."""
        return self._first + (AllMetrics(self.second).parameters if self.law == "wide" else 1)

    def at(self, u: Complex) -> Pair:
        """The block matrix."""
        own, rest = u[: self._first], u[self._first :]
        F = Frobenius(self.n - self.constants).gram(2)
        q = identity(self.block)
        G = (
            own[0] * F + own[1] * np.outer(q, q)
            if self.law == "isotropic"
            else AllMetrics(self.block).at(own).high
        )
        second = AllMetrics(self.second).at(rest).high if self.law == "wide" else rest[0] * F
        whole = np.zeros((self.size + self.second,) * 2, np.complex128)
        for m in range(self.outputs):
            own_block = slice(m * self.block, (m + 1) * self.block)
            whole[own_block, own_block] = G
        whole[self.size :, self.size :] = second
        return Pair.of(whole)

    def of(self, gram: Array, penalty: float) -> Array:
        """The parameters u of a G of this kind, and γ."""
        if self.law == "isotropic":  # G on entries 11 and 22 is u₂, and u₁ + u₂ on 11 twice
            trace = float(gram[0, self.n]) if self.n > 1 else 0.0
            return np.array([float(gram[0, 0]) - trace, trace, penalty])
        upper = np.triu_indices(self.block)
        if self.law == "any":
            return np.append(gram[upper], penalty)
        inner = Frobenius(self.n - self.constants).gram(2)
        return np.concatenate([gram[upper], penalty * inner[np.triu_indices(self.second)]])
