"""A growing set of distinct certified roots: add them one at a time, merge sets, nothing counted twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.krawczyk import CertifiedRoot
from shallows.support.checks import counted
from shallows.support.errors import NotConverged
from shallows.support.tolerances import EPSILON, TINY

#: How far, relatively, the middle of a box is from its double: its two parts are rounded, and so is the radius.
MIDDLE = 4 * EPSILON


class Collector:
    """Roots that are pairwise proved different (up to sign, when `sign_symmetric`).

    A candidate near a stored root is proved either the same (its box lies in the region where the stored
    root is the only one) or different (disjoint boxes), refining both as far as that takes. Neighbours are
    found by k-d trees over logarithmically many blocks, so that n additions cost O(n log² n).

    >>> system = sh.homotopy.PolynomialSystem.read(["x^2 - 2"])
    >>> known = sh.certify.Collector(sh.certify.certify(system, [[1.41421356], [-1.41421356]]).certified)
    >>> again = sh.certify.certify(system, [[1.4142136]]).certified[0]
    >>> again in known, known.add(again), len(known)
    (True, False, 2)
    """

    def __init__(self, roots: Iterable[CertifiedRoot] = (), *, sign_symmetric: bool = False) -> None:
        self.sign_symmetric = sign_symmetric
        self.roots: list[CertifiedRoot] = []
        self._blocks: list[tuple[int, int, Any, float]] = []  # start, stop, tree, largest radius
        self._where: list[NDArray[np.float64]] = []
        self._reach: list[float] = []
        for root in roots:
            self.add(root)

    def __repr__(self) -> str:
        return f"Collector({counted(len(self), 'certified root')})"

    def __len__(self) -> int:
        return len(self.roots)

    def __iter__(self) -> Iterator[CertifiedRoot]:
        return iter(self.roots)

    def __contains__(self, root: object) -> bool:
        return isinstance(root, CertifiedRoot) and self._find(root) is not None

    def add(self, root: CertifiedRoot) -> bool:
        """Add a root; False when it is proved to be one that is already here."""
        if self._find(root) is not None:
            return False
        self.roots.append(root)
        here = root.point
        self._where.append(coordinates_of(here))
        self._reach.append(reach_of(root))
        self._rebuild()
        return True

    def merge(self, other: Collector) -> int:
        """Add the roots of another set; how many were new."""
        return sum(self.add(root) for root in other.roots)

    def _find(self, root: CertifiedRoot) -> int | None:
        """The position of the stored root this one is proved equal to."""
        here = root.point
        reach = reach_of(root)
        for sign in (1, -1) if self.sign_symmetric else (1,):
            for k in self._near(coordinates_of(sign * here), reach):
                if self._same(k, root, sign):
                    return k
        return None

    def _near(self, where: NDArray[np.float64], reach: float) -> list[int]:
        found: list[int] = []
        done = 0
        for start, stop, tree, widest in self._blocks:
            close = tree.query_ball_point(where, reach + widest, p=np.inf)
            found += [start + int(k) for k in close]
            done = stop
        if done < len(self.roots):
            gaps = np.abs(np.array(self._where[done:]) - where).max(axis=1)
            found += (done + np.flatnonzero(gaps <= reach + np.array(self._reach[done:]))).tolist()
        return found

    def _same(self, k: int, root: CertifiedRoot, sign: int) -> bool:
        stored = self.roots[k]
        digits = 20
        while True:
            if stored.is_disjoint(root, sign):
                return False
            turned = root if sign > 0 else replace(root, box=tuple(-b for b in root.box))
            if stored.contains(turned):
                return True
            if digits > 2000:
                raise NotConverged("two certified roots could be proved neither equal nor different")
            stored, root = stored.refine(digits), root.refine(digits)
            digits *= 2

    def _rebuild(self) -> None:
        """Keep blocks of sizes 64·2^k: merge the last two while they are of equal size."""
        from scipy.spatial import cKDTree

        done = self._blocks[-1][1] if self._blocks else 0
        if len(self.roots) - done < 64:
            return
        start, stop = done, len(self.roots)
        while self._blocks and self._blocks[-1][1] - self._blocks[-1][0] <= stop - start:
            start = self._blocks.pop()[0]
        tree = cKDTree(np.array(self._where[start:stop]))
        self._blocks.append((start, stop, tree, max(self._reach[start:stop])))


def coordinates_of(point: NDArray[np.complex128]) -> NDArray[np.float64]:
    """A complex point as real coordinates."""
    return np.concatenate([point.real, point.imag])


def reach_of(root: CertifiedRoot) -> float:
    """Radius of the box around its double-precision midpoint, rounding of that midpoint included."""
    return root.radius + MIDDLE * float(np.abs(root.point).max()) + TINY
