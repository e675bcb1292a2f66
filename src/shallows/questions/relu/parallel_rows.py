"""Block-symmetric networks whose rows are all parallel: one neuron, split; directions in which it is critical.

With v_c the value on the coordinates of block c and n² = Σ p_c v_c², the direction is critical where z ∥ v,
z_c = π − θ_c, cos θ_c = v_c/n. The lengths of the rows add up to 2c(u), and are free otherwise: a family.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shallows.mathematics.exclusion.intervals import Intervals
from shallows.mathematics.exclusion.search import exclude
from shallows.mathematics.exclusion.system import Plain
from shallows.mathematics.same_points import is_among
from shallows.questions.relu.block_cell import WIDER
from shallows.questions.relu.block_system import pair_of
from shallows.support.checks import Array
from shallows.support.errors import NotConverged

#: Two proved directions on neighbouring faces that agree to this are tried as one.
SAME = 1e-9


class ParallelRows(Plain):
    """z_c v_f − z_f v_c on one face: entry `face` of the direction is ±1."""

    def __init__(self, sizes: Sequence[int], face: int, sign: int) -> None:
        self.sizes, self.face, self.sign = tuple(sizes), face, sign
        self.n = len(sizes) - 1
        self.units = [2.0 ** -round(0.5 * np.log2(p)) for p in sizes]
        self.free = [c for c in range(len(sizes)) if c != face]

    def __call__(self, box: Intervals, derivative: bool) -> tuple[Intervals, Intervals | None]:
        """Values and derivatives."""
        one = Intervals.exact(np.full(len(box), float(self.sign)))
        D = [one if c == self.face else box[:, self.free.index(c)] for c in range(len(self.sizes))]
        v = [x * u for x, u in zip(D, self.units, strict=True)]
        measures = [p * u * u for p, u in zip(self.sizes, self.units, strict=True)]
        square = one * 0.0
        for x, p in zip(v, self.sizes, strict=True):
            square = square + x.square() * float(p)
        norm = square.sqrt()
        sines, z = [], []
        for c in range(len(v)):
            rest = one * 0.0
            for e, p in enumerate(self.sizes):
                rest = rest + v[e].square() * float(p - (e == c))
            pair = pair_of(v[c] / norm, rest.sqrt() / norm)
            sines.append(pair.sine)
            z.append(pair.rest)
        f = self.face
        values = Intervals.stack([z[c] * v[f] - z[f] * v[c] for c in self.free])
        if not derivative:
            return values, None
        rows = []
        for c in self.free:
            line = []
            for j in self.free:
                slopes = []
                for e in (c, f):
                    bound = norm.reciprocal().hi * float(np.sqrt(measures[j]) * WIDER)
                    turn = float(e == j) * self.units[e] - v[e] * D[j] * measures[j] / square
                    slopes.append((turn / (norm * sines[e])).meet(Intervals(-bound, bound)))
                term = slopes[0] * v[f] - slopes[1] * v[c]
                line.append(term - z[f] * self.units[c] if c == j else term)
            rows.append(Intervals.stack(line))
        return values, Intervals.stack(rows, axis=1)


def parallel_directions(sizes: Sequence[int]) -> tuple[list[Array], bool]:
    """The critical directions as block values of unit length, and whether the list is complete."""
    found: list[Array] = []
    complete = True
    for face in range(len(sizes)):
        for sign in (1, -1):
            system = ParallelRows(sizes, face, sign)
            side = np.ones(system.n)
            search = exclude(system, Intervals(-side, side))
            complete = complete and search.complete
            for i in range(len(search.box)):
                middle, width = search.box.mid[i], float(search.box.width[i].max())
                D = np.insert(middle, face, float(sign))
                values = D * np.array(system.units)
                values = values / np.sqrt(np.sum(np.array(sizes) * values**2))
                if width > SAME:
                    raise NotConverged(f"A critical direction of parallel rows is known to {width:.1g} only.")
                if not is_among(values, found, SAME):
                    found.append(values)
    return found, complete


def pull(sizes: Sequence[int], values: Array) -> float:
    """c(u) = (1/2π) Σ p (sin θ + (π − θ) cos θ), for a direction of unit length."""
    cosine = np.clip(values, -1.0, 1.0)
    terms = np.sqrt(1 - cosine**2) + (np.pi - np.arccos(cosine)) * cosine
    return float(np.sum(np.array(sizes) * terms) / (2 * np.pi))
