"""`certify`: proofs for a list of approximate roots, and what they prove together."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.batched import batch_evaluator
from shallows.mathematics.balls.collector import MIDDLE, Collector
from shallows.mathematics.balls.contraction import NEARLY_REAL, Contraction, contract
from shallows.mathematics.balls.exported import FORMAT, document, read
from shallows.mathematics.balls.krawczyk import CertifiedRoot, certify_point
from shallows.mathematics.balls.systems import ball_evaluator, precision
from shallows.support.arguments import typed
from shallows.support.budget import require_time
from shallows.support.checks import counted, describe, require_no_graph
from shallows.support.errors import InvalidProblem
from shallows.support.progress import Shown
from shallows.support.tolerances import EPSILON, TINY

#: The bits of a double, in which roots are proved at once.
DOUBLE = 53


@dataclass(frozen=True, repr=False)
class Certification:
    """What is proved about a list of approximate roots.

    roots: one entry a point, None where no proof was found (which proves nothing about that point).
    distinct: positions of certified roots that are pairwise proved different.
    repeated: positions of points proved to belong to a root already listed.
    bound_by: what the bound comes from; nonzero: it is one for roots without a zero coordinate, and so is the list.
    scope: what the roots are roots of, where that is not the system itself.
    complete: True when the distinct roots are as many as `bound` allows: then there are no others.

    >>> sh.homotopy.solve(["x^3 + y^2 - 5", "x*y - 2"]).certify()           # Bernstein's bound: mixed volume 5
    Certification: 5 distinct roots proved (3 real, 2 not real, 0 undecided)
      complete: no more than 5 are possible
    """

    roots: tuple[CertifiedRoot | None, ...]
    distinct: tuple[int, ...]
    repeated: tuple[int, ...]
    bound: int | None
    sign_symmetric: bool = field(default=False)
    scope: str = ""
    bound_by: str = ""
    nonzero: bool = False
    system: Any = field(default=None, repr=False, compare=False)

    @property
    def certified(self) -> tuple[CertifiedRoot, ...]:
        """The proofs, one a distinct root."""
        found = (self.roots[k] for k in self.distinct)
        return tuple(root for root in found if root is not None)

    @property
    def uncertified(self) -> tuple[int, ...]:
        """Positions of points without a proof."""
        return tuple(k for k, root in enumerate(self.roots) if root is None)

    @property
    def count(self) -> int:
        """The number of distinct certified roots."""
        return len(self.distinct)

    @property
    def real_count(self) -> int:
        """How many are proved real."""
        return sum(root.real is True for root in self.certified)

    @property
    def nonreal_count(self) -> int:
        """How many are proved not real."""
        return sum(root.real is False for root in self.certified)

    @property
    def positive_count(self) -> int:
        """How many are proved real with all coordinates above zero."""
        return sum(root.positive is True for root in self.certified)

    @property
    def real(self) -> tuple[CertifiedRoot, ...]:
        """The proofs of real roots."""
        return tuple(root for root in self.certified if root.real is True)

    @property
    def positive(self) -> tuple[CertifiedRoot, ...]:
        """The proofs of real roots with all coordinates above zero."""
        return tuple(root for root in self.certified if root.positive is True)

    @property
    def complete(self) -> bool:
        """Whether it is proved that there are no other isolated roots."""
        return self.bound is not None and self.count == self.bound

    def once(self) -> tuple[list[int], Certification]:
        """The points without the repeated ones: their positions, and what is proved about them."""
        kept = [k for k in range(len(self.roots)) if k not in set(self.repeated)]
        places = {k: place for place, k in enumerate(kept)}
        distinct = tuple(places[k] for k in self.distinct)
        roots = tuple(self.roots[k] for k in kept)
        return kept, replace(self, roots=roots, distinct=distinct, repeated=())

    def only_of(self, scope: str) -> Certification:
        """The same proofs where they are about another system than the one that was asked for: nothing is complete."""
        return replace(self, bound=None, scope=scope)

    def off_the_axes(self) -> Certification:
        """The proofs of roots none of whose coordinates can be zero; `bound` must be one for such roots."""
        roots = tuple(
            None if root is None or any(entry.contains(0) for entry in root.box) else root
            for root in self.roots
        )
        distinct = tuple(k for k in self.distinct if roots[k] is not None)
        return replace(self, roots=roots, distinct=distinct, nonzero=True)

    def save(self, path: str | Path) -> Path:
        """Write the exact system and a box for each root to a JSON file that another program can check.

        >>> proof = sh.homotopy.solve(["x^2 + y^2 - 5", "x*y - 2"]).certify()
        >>> import json, pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     document = json.loads(proof.save(pathlib.Path(folder) / "proof").read_text())
        >>> document["count"], document["real"], document["positive"], document["bound"]
        (4, 4, 2, 4)
        """
        return FORMAT.save(path, document(self))

    @classmethod
    def load(cls, path: str | Path) -> Certification:
        """What `save` wrote: each root is proved again, and that they differ.

        >>> proof = sh.homotopy.solve(["x^2 + y^2 - 5", "x*y - 2"]).certify()
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     sh.certify.Certification.load(proof.save(f"{folder}/proof"))
        Certification: 4 distinct roots proved (4 real, 0 not real, 0 undecided)
          complete: no more than 4 are possible
        """
        found = cls(**read(path))
        if _repeated([*found.certified], False):
            raise InvalidProblem(f"{path} is damaged: two of its boxes hold one root.")
        return found

    def __repr__(self) -> str:
        one, many = ("pair ±v", "pairs ±v") if self.sign_symmetric else ("root", "roots")
        lines = [
            f"Certification: {self.count} distinct {one if self.count == 1 else many} proved "
            f"({self.real_count} real, {self.nonreal_count} not real, "
            f"{self.count - self.real_count - self.nonreal_count} undecided)"
        ]
        if self.scope:
            lines.append(f"  {self.scope}")
        if self.uncertified:
            points = counted(len(self.uncertified), "point")
            lines.append(f"  no proof for {points} (singular, or not close to a root)")
        if self.repeated:
            belongs = "belongs" if len(self.repeated) == 1 else "belong"
            lines.append(f"  {counted(len(self.repeated), 'point')} {belongs} to roots already listed")
        if self.complete:
            lines.append(
                f"  complete: no more than {self.bound} {'is' if self.bound == 1 else 'are'} possible"
            )
        elif self.bound is not None:
            lines.append(f"  completeness not proved by counting: up to {self.bound} are possible")
        return "\n".join(lines)


@typed
def certify(
    system: Any,
    points: NDArray[np.complex128],
    *,
    digits: int = 10,
    bits: int = 80,
    bound: int | None = None,
    progress: Shown = False,
) -> Certification:
    """Prove approximate roots of an exact system by Krawczyk's operator in ball arithmetic (see `CertifiedRoot`).

    `system` is a `PolynomialSystem`, or anything with `ball_evaluator(bits)`; `points` has one root a row.
    All proofs are first tried at once in float64 ball arithmetic (`contraction`), what stays open one by one at `bits`
    bits and then at more; boxes are refined until they have `digits` correct digits. `bound` is a proved upper bound on
    the number of isolated roots (pairs ±v for sign-symmetric systems): reached, it proves that the list is complete.
    `progress` is told, in words, how far the work is.

    >>> system = sh.homotopy.PolynomialSystem.read(["x^2 + y^2 - 5", "x*y - 2"])
    >>> guesses = [[1.0, 2.0], [2.0, 1.0], [-1.0, -2.0], [-2.0, -1.0], [1.0, 1.0]]
    >>> sh.certify.certify(system, guesses, bound=4)            # Bézout's bound: 2·2
    Certification: 4 distinct roots proved (4 real, 0 not real, 0 undecided)
      no proof for 1 point (singular, or not close to a root)
      complete: no more than 4 are possible
    """
    require_no_graph("points", points)
    _require_system(system)
    table = np.atleast_2d(np.asarray(points, dtype=np.complex128))
    wanted: int = getattr(system, "n", None) or table.shape[-1]
    if table.ndim != 2 or table.shape[1] != wanted:
        raise InvalidProblem(
            f"points is {describe(points)}; expected one point a row: {counted(wanted, 'coordinate')}."
        )
    symmetric = bool(getattr(system, "sign_symmetric", False))
    roots = _proved_at_once(system, table)
    roots = _on_the_real_axis(system, roots)
    waiting = [k for k, root in enumerate(roots) if root is None]
    for working in (bits, 2 * bits, 4 * bits, 8 * bits):
        if not waiting:
            break
        evaluator = ball_evaluator(system, working)
        with precision(working):
            for done, k in enumerate(waiting):
                require_time()
                roots[k] = _prove(system, evaluator, table[k], working)
                if callable(progress) and done % 50 == 0:
                    progress(f"proving points at {working} bits: {done:,} of {len(waiting):,}")
        waiting = [k for k in waiting if roots[k] is None]
    roots = [root if root is None or root.digits >= digits else root.refine(digits) for root in roots]
    if symmetric:  # a root that may be 0 is no pair ±v
        roots = [root if root is None or _is_pair(root) else None for root in roots]
    repeated = _repeated(roots, symmetric)
    distinct = [k for k, root in enumerate(roots) if root is not None and k not in repeated]
    return Certification(
        tuple(roots), tuple(distinct), tuple(sorted(repeated)), bound, symmetric, system=system
    )


def _require_system(system: Any) -> None:
    if hasattr(system, "ball_evaluator") or hasattr(system, "equations"):
        return
    fix = "sh.homotopy.PolynomialSystem.read([…])"
    if hasattr(system, "certify"):  # Solutions
        fix = "solutions.certify(), which knows its system"
    raise InvalidProblem(f"system is {describe(system)}; expected an exact system. Fix: {fix}.")


def _is_pair(root: CertifiedRoot) -> bool:
    """Whether v and −v are proved different: a coordinate of ten radii, or one whose ball excludes 0."""
    return (root.digits > 1 and bool(root.point.any())) or root.is_disjoint(root, sign=-1)


def _repeated(roots: list[CertifiedRoot | None], symmetric: bool) -> set[int]:
    """Those proved to be a root listed before; roots whose boxes have no neighbour need no closer look.

    Boxes that overlap have |d·x − d·y| ≤ ‖d‖₁ (r_x + r_y), whatever d is: neighbours in that order, with −x beside x.
    """
    proved = [k for k, root in enumerate(roots) if root is not None]
    if not proved:
        return set()
    found = [root for root in roots if root is not None]
    points = np.array([root.point for root in found])
    places = np.concatenate([points.real, points.imag], axis=1)
    reaches = np.array([root.radius for root in found]) + MIDDLE * np.abs(points).max(axis=1) + TINY
    d = np.cos(np.arange(places.shape[1]))
    levels = places @ d
    levels = np.concatenate([levels, -levels]) if symmetric else levels
    order = np.argsort(levels)
    rounding = len(d) * EPSILON * float(np.abs(places).max())
    near = np.diff(levels[order]) <= 2 * float(np.sum(np.abs(d))) * (float(reaches.max()) + rounding)
    close = np.zeros(len(levels), bool)
    close[order[:-1][near]] = close[order[1:][near]] = True
    collector = Collector(sign_symmetric=symmetric)
    neighbours = np.unique(np.flatnonzero(close) % len(found))
    return {proved[i] for i in neighbours if not collector.add(found[i])}


def _proved_at_once(system: Any, table: NDArray[np.complex128]) -> list[CertifiedRoot | None]:
    """The roots that a contraction in float64 proves; None for the others, and where a system has no such evaluator."""
    evaluator = batch_evaluator(system) if len(table) else None
    if evaluator is None:
        return [None] * len(table)
    found = contract(evaluator, table)
    roots: list[CertifiedRoot | None] = [None] * len(table)
    radii = found.radius.max(axis=1, initial=0.0)
    sizes = np.abs(found.centre).max(axis=1, initial=0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        digits = np.log10(np.maximum(sizes, TINY) / radii)
    known = list(zip(_realness(found), radii.tolist(), digits.tolist(), strict=True))
    for k in np.flatnonzero(found.proved).tolist():
        real, radius, sure = known[k]
        roots[k] = root = CertifiedRoot(*found.boxes(k), real, DOUBLE, system)
        # what the balls would say, known already as doubles
        root.__dict__.update(point=found.centre[k], radius=radius, digits=sure)
    return roots


def _on_the_real_axis(system: Any, roots: list[CertifiedRoot | None]) -> list[CertifiedRoot | None]:
    """Roots whose boxes meet the real axis are proved again from there: real, where that is the same root."""
    undecided = [k for k, root in enumerate(roots) if root is not None and root.real is None]
    if not undecided or not getattr(system, "is_real", getattr(batch_evaluator(system), "is_real", False)):
        return roots
    known = [root for k in undecided if (root := roots[k]) is not None]
    again = _proved_at_once(system, np.array([root.point.real for root in known], np.complex128))
    decided = list(roots)
    for k, root, other in zip(undecided, known, again, strict=True):
        if other is not None and other.real is True and root.contains(other):
            decided[k] = other
    return decided


def _realness(found: Contraction) -> list[bool | None]:
    """Real, proved not real because its disc misses the real axis somewhere, or undecided."""
    off = np.asarray((np.abs(found.centre.imag) > found.radius).any(axis=1))
    return [True if real else False if away else None for real, away in zip(found.real, off, strict=True)]


def _prove(system: Any, evaluator: Any, point: NDArray[np.complex128], bits: int) -> CertifiedRoot | None:
    """A real box first when the system is real and the point nearly so, a complex one otherwise."""
    size = float(np.abs(point).max()) if len(point) else 0.0
    if evaluator.is_real and np.abs(point.imag).max() <= NEARLY_REAL * size:
        root = certify_point(system, evaluator, point, bits, real=True)
        if root is not None:
            return root
    return certify_point(system, evaluator, point, bits, real=False)
