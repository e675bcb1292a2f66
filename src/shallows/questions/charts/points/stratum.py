"""The critical points of one rank: those that are real, how many there are over C, and how complete the list is."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import comb
from typing import Generic, TypeVar

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.curves import curve_coefficients
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.problem import Problem
from shallows.questions.charts.continuation.lost_paths import LOST
from shallows.questions.charts.points.jet import Jet
from shallows.questions.charts.points.point import EXACT, Certificate
from shallows.support.checks import Array, counted

Item = TypeVar("Item")
#: Points are refined to ten digits (`certify`), and so is the Hessian there: eigenvalues closer to zero, relatively to
#: the largest, say nothing.
POINT_ERROR = 1e-10
#: Imaginary parts below this share of a point are rounding, where no proof decides: ends are known to ε times their
#: condition, which is 2·10⁻⁸ at a condition of 10⁸.
REAL = 1e-7


@dataclass(frozen=True)
class RealPoint:
    """A real critical tensor Σ signsᵢ vectorsᵢ^⊗d + Σⱼ wⱼ^(d−1)vⱼ + … with its signature on its stratum.

    `merged` holds the (w, v), (m, 2, n): pairs of neurons that have merged; `triples` the (w, v, u), (m, 3, n), of
    three that have, turnⱼ wⱼ^(d−2)vⱼ² + wⱼ^(d−1)uⱼ with `turns` ±1; `jets` are three and more in one place, in two
    inputs. With any, the tensor is a limit of networks.
    """

    vectors: Array
    signs: Array
    signature: tuple[int, int, int]
    certificate: Certificate | None = None
    merged: Array = field(default_factory=lambda: np.zeros((0, 2, 0)))
    triples: Array = field(default_factory=lambda: np.zeros((0, 3, 0)))
    turns: Array = field(default_factory=lambda: np.zeros(0))
    jets: tuple[Jet, ...] = ()

    @property
    def rank(self) -> int:
        """The number of neurons: a merged pair is two."""
        in_jets = sum(jet.size for jet in self.jets)
        return len(self.vectors) + 2 * len(self.merged) + 3 * len(self.triples) + in_jets

    @property
    def limit(self) -> bool:
        """Whether neurons have merged."""
        return len(self.merged) + len(self.triples) + len(self.jets) > 0

    @property
    def signed(self) -> tuple[int, int]:
        """How many neurons have positive and negative outer weights: a pair one of each, a triple ± ∓ ±."""
        pairs, up, down = len(self.merged), int(np.sum(self.turns > 0)), int(np.sum(self.turns < 0))
        positive = int(np.sum(self.signs > 0)) + pairs + 2 * up + down
        negative = int(np.sum(self.signs < 0)) + pairs + up + 2 * down
        return positive + sum(jet.signed[0] for jet in self.jets), negative + sum(
            jet.signed[1] for jet in self.jets
        )

    def entries(self, n: int, degree: int) -> Array:
        """The tensor's entries."""
        total = np.zeros(coordinates.dimension(n, degree))
        if len(self.vectors):
            total += self.signs @ coordinates.monomials(self.vectors, degree)
        for w, v in self.merged:
            total += coordinates.monomials_jvp(w, v, degree) / degree
        for turn, (w, v, u) in zip(self.turns, self.triples, strict=True):
            square = curve_coefficients(w, v, 0 * v, degree)[2] / comb(degree, 2)
            total += turn * square + coordinates.monomials_jvp(w, u, degree) / degree
        for jet in self.jets:
            total += jet.entries(degree)
        return total


@dataclass(frozen=True)
class RealFamily:
    """A positive-dimensional critical set: one of its points, whose signature counts the set's directions as zeros."""

    point: RealPoint
    dimension: int
    description: str
    samples: tuple[SymmetricTensor, ...]


@dataclass(frozen=True)
class Counts:
    """What is known about the number of critical points of one rank; `bound` when a theorem allows no more."""

    complex: int | None
    expected: int | None
    source: str
    bound: int | None = None


@dataclass(frozen=True)
class Part(Generic[Item]):
    """What was found in one part of all networks, how many points there are over C, and what is known of the list."""

    found: list[Item]
    count: int
    notes: list[str]
    completeness: str


@dataclass(frozen=True)
class Stratum:
    """The critical points of one rank: those that are real, the counts, and what is proved.

    `lost` paths have no end on the stratum: when each is known to end elsewhere, the list is as complete as `otherwise`
    says. Among limits `critical_inward` counts those, complex ones too, at which the loss is critical for networks as
    well, and `of_three` those in one place at which it is for networks of three cubic neurons (`closure.triangles`).
    """

    found: list[RealPoint]
    counts: Counts
    families: list[RealFamily]
    notes: list[str]
    completeness: str
    lost: int = 0
    otherwise: str = ""
    critical_inward: int = 0
    of_three: int = 0

    def with_lost_at(self, limits: int) -> Stratum:
        """The stratum, when so many of its paths end at limits: near such a limit networks are one side of a manifold,
        or their pairs with slopes are one.

        A critical point of the loss on that manifold is the end of one path, in neurons that grow without bound.
        """
        if not self.lost or self.lost != limits:
            return self
        notes = [note.replace("(sampled)", f"({self.otherwise})") for note in self.notes if LOST not in note]
        ends = f"{counted(limits, 'path')} end at limits, where the loss is critical for networks, too"
        return replace(self, lost=0, completeness=self.otherwise, notes=[*notes, ends])


def origin(problem: Problem) -> RealPoint:
    """The zero tensor, the one point of rank 0; it is critical on its stratum by definition."""
    return RealPoint(np.zeros((0, problem.n)), np.zeros(0), (0, 0, 0), EXACT)
