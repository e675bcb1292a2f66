"""The points of a chart: every one is critical, of the loss, the signature and the network that are given."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
from tests.oracle.exact import power_entries
from tests.oracle.families import Families
from tests.oracle.findings import NEAR, SAME, Array, rank_ratio, shown
from tests.oracle.newton import Refined, number
from tests.oracle.search import family_dimension


class Points(Families):
    """Points, one after the other."""

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

    def _point(self, point: Any) -> None:
        name = f"rank {point.rank}, loss {point.loss:.10g}, {point.kind}"
        entries = [float(x) for x in point.tensor.entries]
        if point.rank == 0:
            if any(entries):
                self._say(f"{name}: a point of rank 0 is not zero")
            if not self._same_loss(point.loss, self.precise.power):
                self._say(f"{name}: the loss of the zero network is {shown(self.precise.power)}")
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
        if rank_ratio(refined) < 1e-14:
            self._say(f"{name}: the true critical point there is of lower rank")
            return
        self._radius(name, certificate, distance)
        if distance > size * mpmath.mpf(10) ** -6:
            self._say(
                f"{name}: not a critical point (the nearest is {shown(distance / size)} away, relative)"
            )
            return
        if not self._same_loss(point.loss, refined.loss):
            self._say(f"{name}: the loss there is {shown(refined.loss)}")
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
                f"but the critical point is {shown(distance)} away"
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
                    self._say(f"{name}: the loss there is {shown(refined.loss)}")
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
