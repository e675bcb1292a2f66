"""The families of a chart: every one is a continuum of critical points, of its dimension and loss."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
from tests.oracle.findings import Array, Findings, rank_ratio, shown
from tests.oracle.newton import Refined, number
from tests.oracle.search import family_dimension, settled
from tests.oracle.strata import Powers

#: Cosines of what is critical exactly, after Newton steps with 70 digits; and the point they reach is not quite the
#: nearest one: so many times as far away as that.
EXACT, NEAREST = 1e-30, 10


class Families(Findings):
    """Families, one after the other."""

    def _family(self, family: Any) -> None:
        name = f"family of rank {family.rank}, dimension {family.dimension}, loss {family.loss:.10g}"
        limit = 1e-12 + 1e-15 * float(np.sqrt(np.linalg.cond(self.units.gram)))
        for sample in tuple(family.samples)[:2]:
            entries = [float(x) for x in sample.entries]
            value = self.precise.loss(np.array([number(x) for x in entries]))
            if family.rank and family.dimension and max(abs(x) for x in entries) < 1e-10 * float(self.scale):
                self._say(
                    f"{name}: a sample is zero, or nearly (its largest entry is {max(map(abs, entries)):.2g})"
                )
                return
            if not self._same_loss(family.loss, value):
                self._say(f"{name}: a sample has loss {shown(value)}")
                return
            if not family.dimension:
                continue
            if self._numerical_rank(entries) < family.rank:
                self._say(f"{name}: a sample has rank {self._numerical_rank(entries)}")
                return
            placed = self._place_sample(entries, family)
            if placed is None:
                continue
            if self.precise.cosine(*placed) > limit:
                self._say(f"{name}: a sample is not critical (to {self.precise.cosine(*placed):.2g})")
                return
        if family.dimension and family.samples:
            placed = self._place_sample([float(x) for x in family.samples[0].entries], family)
            if placed is not None:
                moved = family_dimension(self.precise, *placed)
                if moved != family.dimension:
                    self._say(f"{name}: its dimension is {moved}" if moved else f"{name}: it is no continuum")
                self._members.append((family, self.precise.at(*placed)))
                self._proved_family(name, family)
        if not any(self.given.target) and family.rank and family.dimension:
            self._say(f"{name}: the target is zero, and only the zero network is critical")

    def _proved_family(self, name: str, family: Any) -> None:
        """A certified family is one exactly: critical to 30 digits, of that dimension, and within the radius."""
        certificate = family.certificate
        if certificate is None:
            return
        entries = [float(x) for x in family.tensor.entries]
        placed = self._place_sample(entries, family)
        if placed is None:
            self._say(f"{name}: certified, but its tensor is not of its rank")
            return
        stratum, start = placed
        p = settled(self.precise, stratum, np.array([mpmath.mpf(x) for x in start]), 0)
        if self.precise.cosine(stratum, p) > EXACT:
            self._say(f"{name}: certified, but no point there is critical exactly")
            return
        there = self.precise.at(stratum, p)
        if (
            there.distance(entries)
            > NEAREST * number(certificate.radius) + self.scale * mpmath.mpf(10) ** -40
        ):
            self._say(
                f"{name}: radius {certificate.radius:.2g}, but it is {shown(there.distance(entries))} away"
            )
        if tuple(family.signature) != there.signature:
            self._say(f"{name}: certified signature {tuple(family.signature)}, but it is {there.signature}")
        if family_dimension(self.precise, stratum, p, EXACT) != family.dimension:
            self._say(f"{name}: certified, but exactly its dimension is another")

    def _numerical_rank(self, entries: list[float]) -> int:
        if self.given.degree != 2:
            return self.given.width if any(entries) else 0
        n = self.given.n
        S = np.zeros((n, n))
        S[np.triu_indices(n)] = entries
        values = np.abs(np.linalg.eigvalsh(S + np.triu(S, 1).T))
        return int(np.sum(values > 1e-9 * values.max())) if values.max() else 0

    def _place_sample(self, entries: list[float], family: Any) -> tuple[Any, Array] | None:
        d, n = self.given.degree, self.given.n
        if d == 2:
            return self.precise.place(entries, family.rank)
        net = getattr(family, "network", None)
        if net is not None:
            return self.precise.place(entries, family.rank, net.W, net.a)
        if family.rank != 1:
            return None
        return one_power(entries, n, d)

    def _in_family(self, rank: int, loss: Any, dimension: int) -> bool:
        return any(
            f.rank == rank and self._same_loss(f.loss, loss) and (f.dimension >= dimension or not dimension)
            for f in self.families
        )

    def _genuine(self, refined: Refined) -> bool:
        """Of full rank, finite, and a network of this problem."""
        size = max(abs(x) for x in refined.entries)
        if size < self.scale * mpmath.mpf(10) ** -12 or rank_ratio(refined) < 1e-10:
            return False
        return self.given.realisable(*refined.stratum.count_signs(refined.p))


def one_power(entries: list[float], n: int, d: int) -> tuple[Powers, Array] | None:
    """ε v^⊗d from its entries."""
    from tests.oracle.exact import exponents

    table = exponents(n, d)
    pure = [table.index(tuple(d * (k == i) for k in range(n))) for i in range(n)]
    i = max(range(n), key=lambda k: abs(entries[pure[k]]))
    top = entries[pure[i]]
    if not top:
        return None
    sign = 1 if top > 0 or d % 2 else -1
    size = abs(top) ** (1 / d) * (1 if top > 0 else (-1 if d % 2 else 1))
    v = []
    for k in range(n):
        e = tuple((d - 1) * (j == i) + (j == k) for j in range(n))
        v.append(size * entries[table.index(e)] / top)
    return Powers(n, d, (sign,)), np.array(v)
