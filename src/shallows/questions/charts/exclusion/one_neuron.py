"""Every critical point of one ReLU neuron: a search over directions, since the amplitude is then linear.

L = s²/2 − 2 s c(u) + E y² with u the direction, s the amplitude (outer weight times norm): critical where s = 2c(u) and
∇c vanishes on the sphere, or s = 0, the zero function. ∇c vanishes in the teacher's span where z(u) is parallel to u,
and outside of it where z vanishes. (`directions` has c and z.) At a critical direction L = E y² − 2c², and the Hessian
in (s, u) is 1 ⊕ −4c ∇²c.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb

from shallows.mathematics.balls.inertia import Inertia, inertias
from shallows.mathematics.balls.systems import precision
from shallows.mathematics.exclusion.intervals import Intervals, of_arb
from shallows.mathematics.exclusion.result import Exclusion
from shallows.mathematics.exclusion.search import exclude
from shallows.questions.charts.exclusion.directions import Curvature, Directions, Vanishing
from shallows.questions.charts.exclusion.relu_target import BITS, ReLUTarget
from shallows.questions.relu.balls import nonnegative_root
from shallows.support.checks import Array
from shallows.support.errors import NotConverged
from shallows.support.progress import Shown


@dataclass(frozen=True, eq=False)
class Direction:
    """A critical direction: its coordinates in a box (m of them in the span, m + 1 outside), c there, and the signs.

    `curvature` is the inertia of ∇²c on the sphere's tangent space within those coordinates, and `rest` the sign of ∇²c
    in the directions orthogonal to the span (0 where it is not proved, or where there are none).
    """

    box: Intervals
    unit: list[Any]
    pull: Any
    curvature: Inertia
    rest: int
    outside: bool

    @property
    def pull_sign(self) -> int:
        """The sign of c; 0 where it is not proved."""
        return 1 if self.pull > 0 else -1 if self.pull < 0 else 0


@dataclass(frozen=True, eq=False)
class CriticalDirections:
    """All critical directions, and the boxes in which some may be missing."""

    found: list[Direction]
    undecided: list[str]
    boxes: int


def critical_directions(target: ReLUTarget, progress: Shown = False) -> CriticalDirections:
    """Every u with ∇c(u) = 0 on the sphere of the target's span, and one of each family outside of it."""
    found: list[Direction] = []
    undecided: list[str] = []
    boxes = 0
    if target.rank == 1:
        found += [_direction(target, [arb(sign)], False) for sign in (1, -1)]
        found += _between(target)
        return CriticalDirections(found, undecided, 0)
    if target.rank:
        inside, searches = _on_the_sphere(target, progress)
        found += [_direction(target, u, False) for u in inside]
        boxes += sum(search.boxes for search in searches)
        undecided += [_described("directions in the teacher's span", s) for s in searches if not s.complete]
        _require_euler(target, found, not undecided)
    if target.rank and target.dimension > target.rank:
        side = np.ones(target.rank)
        search = exclude(Vanishing(target), Intervals(-side, side), progress=progress)
        boxes += search.boxes
        if not search.complete:
            undecided.append(_described("directions outside the teacher's span", search))
        for i in range(len(search.box)):
            found += _lifted(target, _balls(search.box[i]))
    return CriticalDirections(found, undecided, boxes)


def _on_the_sphere(target: ReLUTarget, progress: Shown) -> tuple[list[list[Any]], list[Exclusion]]:
    """Zeros of z × u on the faces of the cube, each once."""
    side = np.ones(target.rank - 1)
    kept: list[tuple[Directions, Exclusion, int]] = []
    searches = []
    for face in range(target.rank):
        for sign in (1, -1):
            system = Directions(target, face, sign)
            search = exclude(system, Intervals(-side, side), progress=progress)
            searches.append(search)
            for i in range(len(search.box)):
                here = system.direction(Intervals(search.box.lo[i][None], search.box.hi[i][None]))
                if not any(_same(here, *other) for other in kept):
                    kept.append((system, search, i))
    rows = [s.direction(Intervals(r.box.lo[i][None], r.box.hi[i][None])) for s, r, i in kept]
    return [_balls(Intervals.stack(row)[0]) for row in rows], searches


def _same(here: list[Intervals], system: Directions, search: Exclusion, i: int) -> bool:
    """Whether a direction is the zero i of another face."""
    height = here[system.face]
    if np.any(height.lo * system.sign <= 0) or np.any(height.hi * system.sign <= 0):
        return False
    there = Intervals.stack([here[k] / height * float(system.sign) for k in system.free])[0]
    box, domain = search.box[i], search.domain[i]
    if np.any((there.lo > box.hi) | (there.hi < box.lo)):
        return False
    if np.all(there.within(domain)):
        return True
    raise NotConverged(f"Two faces have zeros that may be the same: {there!r} and {box!r}.")


def _between(target: ReLUTarget) -> list[Direction]:
    """At rank one z = πω(ratio + (2/π) arcsin y)e: it vanishes inside the ball at y = −sin(π ratio/2)."""
    if target.ratio is None or abs(target.ratio) >= 1 or target.dimension == 1:
        return []
    with precision(BITS):
        half = arb(target.ratio.numerator) / (2 * target.ratio.denominator)
        return _lifted(target, [-(arb.pi() * half).sin() * target.lines[0][0]])


def _lifted(target: ReLUTarget, y: list[Any]) -> list[Direction]:
    """Unit vectors (y, ±h) outside the span; both are one family when there is more than one way out."""
    with precision(BITS):
        rest = 1 - sum((x * x for x in y), arb(0))
        if not rest > 0:
            return []  # on the sphere itself: listed there
        sides = (1, -1) if target.dimension == target.rank + 1 else (1,)
        return [_direction(target, [*y, sign * rest.sqrt()], True) for sign in sides]


def _direction(target: ReLUTarget, u: list[Any], outside: bool) -> Direction:
    with precision(BITS):
        length = sum((x * x for x in u), arb(0)).sqrt()
        unit = [x / length for x in u]
        pull = _pull(target, unit)
    box = of_arb(np.array(unit, dtype=object)[None, :])
    with np.errstate(all="ignore"):
        around = Curvature(target, [box[:, k] for k in range(len(unit))])
        frame = np.linalg.svd(box.mid)[2][1:].T
        curvature = inertias(around.tangent(frame, outside).ball())[0] if frame.shape[1] else Inertia(0, 0, 0)
    radial = around.radial[0]
    rest = 0 if outside else (-1 if radial.lo > 0 else 1 if radial.hi < 0 else 0)
    return Direction(box, unit, pull, curvature, rest, outside)


def _pull(target: ReLUTarget, unit: list[Any]) -> Any:
    """c(u) in balls, in units of 2^exponent; exactly zero where rank one says so."""
    if target.rank == 1 and len(unit) == 1 and target.ratio is not None:
        along = unit[0] * target.lines[0][0]
        if target.ratio == (-1 if along > 0 else 1):
            return arb(0)
    total = arb.pi() * sum((x * y for x, y in zip(unit, target.linear, strict=False)), arb(0))
    for weight, e in zip(target.weights, target.lines, strict=True):
        cosine = sum((x * y for x, y in zip(unit, e, strict=False)), arb(0))
        sine = nonnegative_root(1 - cosine * cosine)
        total = total + 2 * weight * (sine + arb.atan2(cosine, sine) * cosine)
    return total / (2 * arb.pi())


def _balls(box: Intervals) -> list[Any]:
    """Arb's balls around intervals."""
    return [arb(float(lo)).union(arb(float(hi))) for lo, hi in zip(box.lo, box.hi, strict=True)]


def _require_euler(target: ReLUTarget, found: list[Direction], complete: bool) -> None:
    """Σ (−1)^index over the critical points of c on S^(m−1) is its Euler characteristic, 0 or 2 (Poincaré and Hopf)."""
    if not complete or not all(d.curvature.certified for d in found):
        return
    total = sum((-1) ** d.curvature.negative for d in found)
    if total != 1 + (-1) ** (target.rank - 1):
        raise NotConverged(
            f"The {len(found)} critical directions have indices that add up to {total}, and the sphere of dimension "
            f"{target.rank - 1} has Euler characteristic {1 + (-1) ** (target.rank - 1)}: one is missing or false. "
            "Please report this."
        )


def _described(where: str, search: Exclusion) -> str:
    left = len(search.undecided) + len(search.pending)
    share = search.share(search.undecided) + search.share(search.pending)
    return f"{where} in {left} boxes ({share:.2g} of all)"


def weights_of(target: ReLUTarget, direction: Direction, amplitude: Any) -> tuple[Array, list[Any]]:
    """The weights of a neuron of this direction and norm: doubles, and balls around the true ones."""
    with precision(BITS):
        balls = target.weight_vector([amplitude * x for x in direction.unit])
        return np.array([float(x.mid()) for x in balls]), balls
