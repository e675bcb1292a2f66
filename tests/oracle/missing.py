"""What a chart that claims to be complete leaves out: by search, Sturm sequences and msolve."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
from tests.oracle import limits, msolve, sturm
from tests.oracle.exact import Given
from tests.oracle.findings import CLAIMS, MOST_POINTS, SAME, Array, shown
from tests.oracle.newton import Refined, number
from tests.oracle.points import Points
from tests.oracle.search import critical, family_dimension
from tests.oracle.strata import Powers

#: A loss is lower than another one beyond doubt when it is so by this share.
SURE_GAP = 1e-9


class Missing(Points):
    """What ought to be there."""

    def _counts(self) -> None:
        """What the chart says of its own numbers."""
        losses = [point.loss for point in self.points]
        if losses != sorted(losses):
            self._say("points are not sorted by loss")
        for rank, count in self.chart.real_count.items():
            listed = sum(point.rank == rank for point in self.points)
            if count != listed:
                self._say(f"real_count says {count} points of rank {rank}, and {listed} are listed")

    def _limits(self, seed: int) -> None:
        """Limits of two merged neurons are what they are said to be, and `attained` says which is lowest."""
        if self.limits and self.given.width == 2:
            for text in limits.complaints(self.given, self.limits[:MOST_POINTS], seed):
                self._say(text)
        lowest = min((point.loss for point in self.points), default=np.inf)
        if self.chart.attained is False and any(p.kind == "global minimum" for p in self.points):
            self._say("the infimum is not attained, and a network is called the global minimum")
        if self.limits and self.chart.attained and self.limits[0].loss < lowest * (1 - SURE_GAP):
            self._say("the infimum is called attained, and a limit is lower than every network")

    def _search(self) -> None:
        for rank in range(1, self._top() + 1):
            seen: dict[str, int] = {}
            hard = rank > 1
            for candidate in critical(self.units, rank, self.rng, 96 if hard else 48)[:40]:
                key = f"{candidate.loss:.6g}"
                if seen.get(key, 0) >= 2:  # many of one loss: a family, already looked at
                    continue
                refined = self.precise.refine(candidate.stratum, candidate.p)
                if refined.degenerate or refined.faint:
                    seen[key] = seen.get(key, 0) + 1
                self._expect(refined, candidate.stratum, candidate.p, "search")

    def _expect(self, refined: Refined, stratum: Any, p: Array, source: str) -> None:
        """A critical point that was found: it must be on the chart."""
        if not self.given.realisable(*stratum.count_signs(p)) or (
            refined.converged and not self._genuine(refined)
        ):
            return
        if refined.converged and refined.loss < self.lowest[0]:
            self.lowest = (refined.loss, f"a critical point of rank {refined.rank} ({source})")
        known = [t for _, t in self.truths if t is not None and t.rank == refined.rank]
        if refined.converged and any(refined.distance(list(t.entries)) < SAME * self.scale for t in known):
            return
        if self._unread(refined) or (refined.converged and self._recognise(refined)):
            return
        what = f"critical points of rank {refined.rank}"
        if refined.converged and not refined.degenerate and not refined.faint:
            if self.chart.completeness in CLAIMS and not self._blurred(refined):
                self._say(
                    f"missing ({source}): rank {refined.rank}, loss {shown(refined.loss)}, signature "
                    f"{refined.signature} ({self.chart.completeness})"
                )
            return
        value, _ = stratum.evaluate(np.array([mpmath.mpf(x) for x in p]))
        loss = self.precise.loss(value)
        dimension = family_dimension(self.precise, stratum, p)
        if dimension:
            if self.precise.cosine(stratum, p) < 1e-11 and loss < self.lowest[0] * (1 - mpmath.mpf(10) ** -9):
                self.lowest = (loss, f"a family of rank {refined.rank} ({source})")
            if self._in_family(refined.rank, loss, dimension) or self.chart.completeness not in CLAIMS:
                return
            if self._broken_up(refined.rank, loss):
                return
            self._say(
                f"family missing ({source}): {what} of loss {shown(loss)}, a set of dimension {dimension} "
                f"({self.chart.completeness})"
            )
            return
        if not refined.converged:  # critical to rounding only: perhaps a pair of complex points
            return
        near = [point for point in self.points if point.rank == refined.rank
                and refined.distance([float(x) for x in point.tensor.entries]) < 1e-3 * self.scale]  # fmt: skip
        if near or self._in_family(refined.rank, loss, 0) or self._says_met():
            return
        if self.chart.completeness in CLAIMS:
            self._say(f"missing ({source}): rank {refined.rank}, loss {shown(loss)}, degenerate")

    def _broken_up(self, rank: int, loss: Any) -> bool:
        """Whether certified points of this rank and loss are listed, and are right: what a set breaks up into."""
        return any(
            t is not None and t.converged and not t.degenerate and t.rank == rank
            and point.certificate is not None and point.signature[1] == 0 and self._same_loss(point.loss, loss)
            for point, t in self.truths
        )  # fmt: skip

    def _unread(self, refined: Refined) -> bool:
        """Whether it is one of the points of a long chart that were not looked at one by one."""
        rest = self.points[MOST_POINTS:]
        return any(
            point.rank == refined.rank
            and refined.distance([float(x) for x in point.tensor.entries]) < self.scale * mpmath.mpf(10) ** -8
            for point in rest
        )

    def _whole_rank_one(self) -> None:
        """All real critical points of rank one, where exact arithmetic gives them."""
        given = self.given
        if given.n == 2:
            self._circle()
        heavy = given.degree * given.n > 6 or (given.n == 3 and given.degree == 3 and bits(given) > 40)
        often = 0.1 if given.n == 2 else 0.3 if bits(given) > 200 else 1.0
        if given.n not in (2, 3) or heavy or self.rng.random() > often:
            return
        neurons = msolve.real_neurons(given)
        if neurons is None:
            return
        for a, u in neurons.neurons:
            sign = 1 if a > 0 else -1
            size = number(abs(a)) ** (mpmath.mpf(1) / given.degree)
            odd = given.degree % 2
            stratum = Powers(given.n, given.degree, (1 if odd else sign,))
            p = [size * (sign if odd else 1) * number(x) for x in u]
            self._expect(self.precise.refine(stratum, p), stratum, p, "msolve")
        if not neurons.infinite:
            self._no_more(len([1 for a, _ in neurons.neurons if self._fits(1 if a > 0 else -1)]), "msolve")

    def _fits(self, sign: int) -> bool:
        odd = self.given.degree % 2
        return self.given.realisable(1, 0) if odd or sign > 0 else self.given.realisable(0, 1)

    def _circle(self) -> None:
        given = self.given
        truth = sturm.circle(given)
        if truth.everywhere is not None:
            slope = sum(
                g * t for g, t in zip(given.gram[0], given.target, strict=True)
            )  # a has its sign on (1, 0)
            if not self._fits(1 if slope > 0 else -1):
                return
            if not self._in_family(1, truth.everywhere, 1) and self.chart.completeness in CLAIMS:
                self._say(
                    f"family missing (Sturm): every direction is critical, of loss {shown(truth.everywhere)}"
                )
            if truth.everywhere < self.lowest[0]:
                self.lowest = (truth.everywhere, "a circle of neurons (Sturm)")
            return
        odd = given.degree % 2
        for x in truth.directions:
            if self._fits(x.sign):
                stratum = Powers(2, given.degree, (1 if odd else x.sign,))
                self._expect(self.precise.refine(stratum, x.vector), stratum, x.vector, "Sturm")
        self._no_more(sum(self._fits(x.sign) for x in truth.directions), "Sturm")
        simple = all(x.multiplicity == 1 for x in truth.directions) and not any(
            f.rank == 1 and f.dimension for f in self.families
        )
        claimed = self.chart.complex_count.get(1)
        if (
            simple
            and self.chart.completeness == "proved"
            and claimed is not None
            and claimed != truth.complex_count
        ):
            self._say(f"complex_count says {claimed} of rank 1, but there are {truth.complex_count}")

    def _no_more(self, count: int, source: str) -> None:
        doubtful = self._says_met()  # then degenerate points may be pairs of complex ones
        listed = sum(point.rank == 1 and not (doubtful and point.signature[1]) for point in self.points)
        if listed > count:
            self._say(f"{listed} points of rank 1 are listed, but there are {count} ({source})")


def bits(given: Given) -> int:
    return max(
        (x.denominator.bit_length() + x.numerator.bit_length() for row in given.gram for x in row), default=0
    )
