"""A chart against the oracles: a list of complaints, each a sentence; none means that nothing wrong was found.

Truth is the problem with exactly the floats that were given. What is held against a chart:

- every listed point is a true critical point (Newton, 70 digits), within its certificate's radius, of the loss, the
  signature and the kind that are given; none is listed twice;
- every critical point that Sturm sequences, msolve or the search find is on a chart that claims to be complete, as a
  point or in a family of its rank and loss; a continuum is a family, and a family a continuum;
- no network has a lower loss than what is called the global minimum, and `chart.minimum` is the lowest of all;
- all numbers are finite, and errors are typed. A refusal of a problem that ought to work is a complaint too.

A set that is critical to rounding (1e-11) but breaks up in exact arithmetic may be charted either way: as a family, or
as the isolated points that it breaks up into, which are then no degenerate ones.
"""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import mpmath
import numpy as np
from tests.oracle import limits, msolve, sturm
from tests.oracle.exact import Given, power_entries
from tests.oracle.kinds import allowed
from tests.oracle.newton import DIGITS, Precise, Refined, number
from tests.oracle.search import Units, critical, family_dimension, lowest, settled
from tests.oracle.strata import Frames, Powers

CLAIMS = ("proved", "count-matched", "trace-tested")
#: Words by which a chart that is not proved says that real points may have met.
MET = re.compile(r"\bmet\b|\bmeet|discriminant|degenerate|multiplicit|too close", re.I)
MOST_POINTS = 120
#: A loss is lower than another one beyond doubt when it is so by this share.
SURE_GAP = 1e-9
SAME, NEAR = 1e-20, 1e-4
#: Cosines of what is critical exactly, after Newton steps with 70 digits; and the point they reach is not quite the
#: nearest one: so many times as far away as that.
EXACT, NEAREST = 1e-30, 10
Array = Any


@dataclass
class Verdict:
    """What came out: `status` is "right", "sampled" (right, and it claims little), "refused" or "wrong"."""

    given: Given
    complaints: list[str] = field(default_factory=list)
    refusal: str = ""
    completeness: str = ""
    chart_seconds: float = 0.0
    oracle_seconds: float = 0.0

    @property
    def status(self) -> str:
        """One word."""
        if self.complaints:
            return "wrong"
        return "refused" if self.refusal else "sampled" if self.completeness == "sampled" else "right"


def judge(given: Given, make: Callable[[Any], Any] | None = None, seed: int = 0) -> Verdict:
    """Chart a problem (with `make`, or `sh.chart`) and hold the result against everything known about it."""
    import shallows as sh

    verdict = Verdict(given)
    begin = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            chart = (make or sh.chart)(given.problem())
    except sh.ShallowsError as error:
        verdict.refusal = f"{type(error).__name__}: {error}"
        if not given.may_refuse:
            verdict.complaints.append(f"refused: {verdict.refusal[:160]}")
        return verdict
    except Exception as error:
        verdict.complaints.append(f"an error that is not typed: {type(error).__name__}: {str(error)[:160]}")
        return verdict
    finally:
        verdict.chart_seconds = time.perf_counter() - begin
    begin = time.perf_counter()
    verdict.completeness = chart.completeness
    with mpmath.workdps(DIGITS), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        verdict.complaints += Examination(given, chart, seed).complaints()
    verdict.oracle_seconds = time.perf_counter() - begin
    return verdict


class Examination:
    """One chart and all that is found out about its problem."""

    def __init__(self, given: Given, chart: Any, seed: int) -> None:
        self.given, self.chart = given, chart
        self.precise, self.units = Precise(given), Units.of(given)
        self.rng = np.random.default_rng(seed)
        self.points = [point for point in chart.points if not point.limit]
        self.limits = [point for point in chart.points if point.limit]
        self.families = list(chart.families)
        self.truths: list[
            tuple[Any, Refined | None]
        ] = []  # a listed point and what it is; None for the zero tensor
        self.lowest: tuple[Any, str] = (self.precise.power, "the zero network")
        self.unknown: list[Any] = []  # listed points from which Newton's method goes elsewhere
        self.said: list[str] = []
        self.walked: set[float] = set()
        self._members: list[tuple[Any, Refined]] = []  # a family and what one of its samples is
        self.scale = max(self.precise.size, mpmath.mpf(10) ** -400)

    def complaints(self) -> list[str]:
        """Everything that is wrong."""
        if not self._finite():
            return self.said
        for point in self.points[:MOST_POINTS]:
            self._point(point)
        self._twice()
        for family in self.families:
            self._family(family)
        self._counts()
        self._limits(seed=int(self.rng.integers(2**31)))
        if any(self.given.target):
            self._search()
            if self._top() >= 1:
                self._whole_rank_one()
            self._descend()
        self._kinds()
        self._minimum()
        return self.said

    def _say(self, text: str) -> None:
        if text not in self.said:
            self.said.append(text)

    def _top(self) -> int:
        total = self.given.signs[2]
        return min(total, self.given.n) if self.given.degree == 2 else total

    # -- what is listed --------------------------------------------------------------------------------------

    def _finite(self) -> bool:
        critical = getattr(self.chart, "critical", None) or [*self.points, *self.families]
        for item in critical:
            if not np.isfinite(item.loss):
                self._say(f"a loss is {item.loss}")
                return False
        for point in self.points:
            if not np.all(np.isfinite(point.tensor.entries)):
                self._say("an entry of a tensor is not finite")
                return False
        return True

    def _same_loss(self, claimed: float, true: Any) -> bool:
        slack = mpmath.mpf(10) ** -8 * abs(true) + mpmath.mpf(10) ** -12 * self.precise.power
        return abs(number(claimed) - true) <= slack + mpmath.mpf(2) ** -1074

    def _point(self, point: Any) -> None:
        name = f"rank {point.rank}, loss {point.loss:.10g}, {point.kind}"
        entries = [float(x) for x in point.tensor.entries]
        if point.rank == 0:
            if any(entries):
                self._say(f"{name}: a point of rank 0 is not zero")
            if not self._same_loss(point.loss, self.precise.power):
                self._say(f"{name}: the loss of the zero network is {_show(self.precise.power)}")
            self.truths.append((point, None))
            return
        net = point.network
        self._network(name, point, net)
        placed = self.precise.place(entries, point.rank, net.W, net.a)
        if placed is None:
            self._say(f"{name}: its tensor or network is not of rank {point.rank}")
            return
        stratum, p = placed
        refined = self.precise.refine(stratum, p)
        distance = refined.distance(entries)
        certificate = point.certificate
        if certificate is not None and not np.isfinite(certificate.radius):
            self._say(f"{name}: a certificate of radius {certificate.radius}")
            certificate = None
        size = max(abs(number(x)) for x in entries)
        doubtful = certificate is None and point.signature[1] > 0
        if ((refined.degenerate or doubtful) and distance > NEAR * size) or not refined.converged:
            # a degenerate point, or no critical point at all: look at the gradient
            if self.precise.cosine(stratum, p) > (1e-7 if certificate is None else 1e-10):
                self._say(f"{name}: not a critical point")
                return
            if refined.converged and not refined.faint and not self._says_met():
                self._say(
                    f"{name}: no real critical point is near, and the chart does not say that points may have met"
                )
            if certificate is not None and certificate.signature_certified and not refined.converged:
                self._say(f"{name}: a certified signature where the Hessian is singular")
            if distance <= NEAR * size:
                self.truths.append((point, refined))
            else:
                self.unknown.append(point)
            self._continuum(point, stratum, p)
            return
        if _rank_ratio(refined) < 1e-14:
            self._say(f"{name}: the true critical point there is of lower rank")
            return
        self._radius(name, certificate, distance)
        if distance > size * mpmath.mpf(10) ** -6:
            self._say(
                f"{name}: not a critical point (the nearest is {_show(distance / size)} away, relative)"
            )
            return
        if not self._same_loss(point.loss, refined.loss):
            self._say(f"{name}: the loss there is {_show(refined.loss)}")
        self._signature(name, point, refined)
        self.truths.append((point, refined))
        self._continuum(point, stratum, p)

    def _radius(self, name: str, certificate: Any, distance: Any) -> None:
        noise = self.scale * mpmath.mpf(10) ** -40  # of Newton's method itself
        if (
            certificate is not None
            and distance > number(certificate.radius) * (1 + mpmath.mpf(10) ** -9) + noise
        ):
            self._say(
                f"{name}: certificate radius {certificate.radius:.2g}, "
                f"but the critical point is {_show(distance)} away"
            )

    def _recognise(self, refined: Refined) -> bool:
        """Whether it is a listed point from which Newton's method went elsewhere: doubles do not say where it is."""
        for point in self.unknown:
            entries = [float(x) for x in point.tensor.entries]
            size = max(abs(x) for x in refined.entries)
            if point.rank == refined.rank and refined.distance(entries) < size * mpmath.mpf(10) ** -9:
                self.unknown.remove(point)
                name = f"rank {point.rank}, loss {point.loss:.10g}, {point.kind}"
                self._radius(name, point.certificate, refined.distance(entries))
                if not self._same_loss(point.loss, refined.loss):
                    self._say(f"{name}: the loss there is {_show(refined.loss)}")
                self._signature(name, point, refined)
                self.truths.append((point, refined))
                return True
        return False

    def _continuum(self, point: Any, stratum: Any, p: Array) -> None:
        """A point that is called degenerate is not one of a continuum, unless that is a family of the chart."""
        if point.signature[1] == 0 or point.loss in self.walked:
            return
        self.walked.add(point.loss)
        dimension = family_dimension(self.precise, stratum, p)
        value, _ = stratum.evaluate(np.array([mpmath.mpf(x) for x in p]))
        if dimension and not self._in_family(point.rank, self.precise.loss(value), dimension):
            self._say(
                f"family missing: the degenerate points of rank {point.rank}, loss {point.loss:.10g}, "
                f"are on a set of dimension {dimension}"
            )

    def _signature(self, name: str, point: Any, refined: Refined) -> None:
        proved = point.certificate is not None and point.certificate.signature_certified
        if tuple(point.signature) == refined.signature:
            return
        if not proved and point.signature[1] > 0 and (refined.faint or self._blurred(refined)):
            return
        how = "certified " if proved else ""
        self._say(f"{name}: {how}signature {tuple(point.signature)}, but it is {refined.signature}")

    def _network(self, name: str, point: Any, net: Any) -> None:
        """The network has the point's tensor, and the problem's width and outer weights."""
        W, a = np.asarray(net.W, float), np.asarray(net.a, float).ravel()
        if len(W) != self.given.width:
            self._say(f"{name}: its network has width {len(W)}")
        if self.given.outer is not None and not np.allclose(a, self.given.outer, rtol=1e-12):
            self._say(f"{name}: its network has outer weights {a.tolist()}")
        sums = [number(0.0)] * len(self.precise.target)
        for w, c in zip(W, a, strict=True):
            powers = power_entries([number(float(x)) for x in w], self.given.degree)
            sums = [s + number(float(c)) * x for s, x in zip(sums, powers, strict=True)]
        gap = max(abs(s - number(float(x))) for s, x in zip(sums, point.tensor.entries, strict=True))
        if gap > mpmath.mpf(10) ** -10 * max(abs(s) for s in sums):
            self._say(f"{name}: its network has another tensor than the point")

    def _twice(self) -> None:
        known = [(point, t) for point, t in self.truths if t is not None and t.converged and not t.degenerate]
        for i, (point, t) in enumerate(known):
            for other, u in known[:i]:
                if t.rank == u.rank and t.distance(list(u.entries)) < SAME * self.scale:
                    self._say(
                        f"listed twice: rank {point.rank}, losses {other.loss:.12g} and {point.loss:.12g}"
                    )

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
                self._say(f"{name}: a sample has loss {_show(value)}")
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
                f"{name}: radius {certificate.radius:.2g}, but it is {_show(there.distance(entries))} away"
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
        return _one_power(entries, n, d)

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

    # -- what is missing -------------------------------------------------------------------------------------

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
                    f"missing ({source}): rank {refined.rank}, loss {_show(refined.loss)}, signature "
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
                f"family missing ({source}): {what} of loss {_show(loss)}, a set of dimension {dimension} "
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
            self._say(f"missing ({source}): rank {refined.rank}, loss {_show(loss)}, degenerate")

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

    def _says_met(self) -> bool:
        return self.chart.completeness != "proved" and any(MET.search(note) for note in self.chart.notes)

    def _blurred(self, refined: Refined) -> bool:
        """Nearly degenerate, and the chart says that points may have met."""
        return refined.gap < 1e-3 and self._says_met()

    def _in_family(self, rank: int, loss: Any, dimension: int) -> bool:
        return any(
            f.rank == rank and self._same_loss(f.loss, loss) and (f.dimension >= dimension or not dimension)
            for f in self.families
        )

    def _genuine(self, refined: Refined) -> bool:
        """Of full rank, finite, and a network of this problem."""
        size = max(abs(x) for x in refined.entries)
        if size < self.scale * mpmath.mpf(10) ** -12 or _rank_ratio(refined) < 1e-10:
            return False
        return self.given.realisable(*refined.stratum.count_signs(refined.p))

    def _whole_rank_one(self) -> None:
        """All real critical points of rank one, where exact arithmetic gives them."""
        given = self.given
        if given.n == 2:
            self._circle()
        heavy = given.degree * given.n > 6 or (given.n == 3 and given.degree == 3 and _bits(given) > 40)
        often = 0.1 if given.n == 2 else 0.3 if _bits(given) > 200 else 1.0
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
                    f"family missing (Sturm): every direction is critical, of loss {_show(truth.everywhere)}"
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

    # -- what is lowest --------------------------------------------------------------------------------------

    def _descend(self) -> None:
        found = lowest(self.units, self.rng)
        if found is None:
            return
        loss = number(self.given.network_loss(*found))
        if loss < self.lowest[0]:
            self.lowest = (loss, "a network found by descent")

    def _lower(self, loss: Any) -> bool:
        """Whether something is clearly lower than a loss."""
        least = self.lowest[0]
        gap = loss - least
        return gap > mpmath.mpf(10) ** -9 * loss and gap > mpmath.mpf(10) ** -50 * self.precise.power

    @property
    def _closed(self) -> bool:
        return self.given.degree == 2 or self.given.width == 1

    def _kinds(self) -> None:
        for _, t in self.truths:
            if t is not None and t.converged and t.loss < self.lowest[0]:
                self.lowest = (t.loss, "a listed point")
        for point, t in self.truths:
            name = f"rank {point.rank}, loss {point.loss:.10g}"
            loss = self.precise.power if t is None else t.loss
            if point.kind == "global minimum" and self._lower(loss):
                self._say(
                    f"{name}: called global minimum, but {self.lowest[1]} has loss {_show(self.lowest[0])}"
                )
                continue
            if t is not None and not t.converged:
                continue
            may = allowed(self.precise, self.units, t)
            if "minimum" in may:
                may = (may - {"minimum"}) | self._minima(loss)
            if t is not None and self._blurred(t):
                may = may | {"degenerate"}
            if point.kind not in may:
                self._say(f"{name}: called {point.kind}, but it is a {' or '.join(sorted(may))}")

        for family, member in self._members:
            self._family_kind(family, member)

    def _family_kind(self, family: Any, member: Refined) -> None:
        """The kind and the index of a family, where the chart gives them."""
        kind = getattr(family, "kind", None)
        if kind is None:
            return
        name = f"family of rank {family.rank}, dimension {family.dimension}, loss {family.loss:.10g}"
        if kind == "global minimum" and self._lower(member.loss):
            self._say(f"{name}: called global minimum, but {self.lowest[1]} has loss {_show(self.lowest[0])}")
            return
        plus, zero, minus = member.signature
        if zero != family.dimension:
            return
        may = allowed(self.precise, self.units, replace(member, signature=(plus, 0, minus), gap=1.0))
        if "minimum" in may:
            may = (may - {"minimum"}) | self._minima(member.loss)
        if kind not in may:
            self._say(f"{name}: called {kind}, but it is a {' or '.join(sorted(may))}")
        if getattr(family, "index", minus) != minus:
            self._say(f"{name}: index {family.index}, but it is {minus}")

    def _minima(self, loss: Any) -> frozenset[str]:
        """Whether a minimum of this loss is global; both words where the set of networks is not closed, or in doubt."""
        if self._lower(loss):
            return frozenset({"local minimum"})
        gap = loss - self.lowest[0]
        clear = gap <= mpmath.mpf(10) ** -13 * loss or gap <= mpmath.mpf(10) ** -50 * self.precise.power
        if self._closed and clear:
            return frozenset({"global minimum"})
        return frozenset({"global minimum", "local minimum"})

    def _minimum(self) -> None:
        """`chart.minimum` is the lowest of points and families, and as low as anything found."""
        minimum = self.chart.minimum
        slack = 1e-9 * abs(minimum.loss) + 1e-12 * float(self.precise.power)
        if self.families and min(f.loss for f in self.families) < minimum.loss - slack:
            family = min(self.families, key=lambda f: f.loss)
            if family.dimension:
                self._say(
                    f"chart.minimum has loss {minimum.loss:.10g}, but a family of the chart has {family.loss:.10g}"
                )
        if self._closed and self.chart.completeness in CLAIMS and self._lower(number(minimum.loss)):
            slack = mpmath.mpf(10) ** -8 * number(minimum.loss) + mpmath.mpf(10) ** -13 * self.precise.power
            if number(minimum.loss) - self.lowest[0] > slack:
                self._say(
                    f"chart.minimum has loss {minimum.loss:.10g}, but {self.lowest[1]} has {_show(self.lowest[0])}"
                )


def _show(x: Any) -> str:
    return mpmath.nstr(x, 10)


def _bits(given: Given) -> int:
    return max(
        (x.denominator.bit_length() + x.numerator.bit_length() for row in given.gram for x in row), default=0
    )


def _rank_ratio(refined: Refined) -> float:
    """How small the smallest part of the tensor is: 0 for lower rank."""
    if isinstance(refined.stratum, Frames):
        A, _, _ = refined.stratum._parts(refined.p)
        values = [abs(x) for x in mpmath.eigsy(mpmath.matrix(A.tolist()), eigvals_only=True)]
        return float(min(values) / max(values)) if max(values) else 0.0
    rows = refined.p.reshape(-1, refined.stratum.n)
    sizes = [max(abs(x) for x in row) for row in rows]
    ratio = float((min(sizes) / max(sizes)) ** refined.stratum.degree) if max(sizes) else 0.0
    for i, v in enumerate(rows):
        for w in rows[:i]:
            cosine = v.dot(w) ** 2 / (v.dot(v) * w.dot(w)) if v.dot(v) * w.dot(w) else mpmath.mpf(1)
            ratio = min(ratio, float(1 - cosine))
    return ratio


def _one_power(entries: list[float], n: int, d: int) -> tuple[Powers, Array] | None:
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
