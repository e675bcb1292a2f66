"""Critical functions (m, mmᵀ + B) with B = uuᵀ or 0, all real ones by interval exclusion (`fixed_slope`).

With outer weights of one sign B has no negative eigenvalue, so that those of rank one are uuᵀ, and the loss is a
polynomial in (m, u) whose highest part ‖mmᵀ + uuᵀ‖² grows on all sides. Zeros with u = 0 are those of rank 0.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from shallows.mathematics.balls.certification import certify
from shallows.mathematics.exclusion.intervals import Intervals, of_arb
from shallows.mathematics.exclusion.search import exclude
from shallows.mathematics.same_points import PointSet
from shallows.mathematics.tensors import coordinates
from shallows.questions.charts.neurons import growing
from shallows.questions.charts.neurons.balls import NeuronSystem
from shallows.questions.charts.neurons.excluded import MOST_BOXES, AllReal, told_apart
from shallows.questions.charts.neurons.polynomials import Polynomial
from shallows.questions.charts.neurons.real import NeuronPoint, sort_neurons
from shallows.questions.charts.points.stratum import Part
from shallows.questions.charts.quadratics.fixed_slope import Spread, spread_system
from shallows.support.checks import Array
from shallows.support.progress import Shown

#: Unknowns up to which places are searched: with u and −u five and more take too many boxes.
MOST_UNKNOWNS = 4


def is_excludable(spread: Spread, rank: int) -> bool:
    """Whether B has one sign, rank one at most, and there are few unknowns."""
    used = spread.weights[spread.weights != 0]
    unknowns = spread.problem.n * (1 + rank)
    return spread.beside == 1 and rank <= 1 and unknowns <= MOST_UNKNOWNS and not np.ptp(np.sign(used))


def with_all_real(spread: Spread, rank: int, by_paths: Part[NeuronPoint], tell: Shown) -> Part[NeuronPoint]:
    """What paths have found with the points that are proved to be all; as it was where the search leaves some open."""
    system = spread_system(spread, rank)
    proof = all_real(spread, rank, system, tell)
    if proof is None:
        return by_paths
    where = rank + spread.beside
    found = sort_neurons(system, proof.points, True, tell).found
    size = system.equations.entries
    own = PointSet(np.array([point.entries for point in found], np.complex128).reshape(-1, size))
    ends = [
        point.entries for point in by_paths.found if point.certificate and _is_square(spread, point, rank)
    ]
    if own.add(np.array(ends, np.complex128).reshape(-1, size)):
        note = (
            f"rank {where}: paths and interval exclusion found different points. Please report this problem."
        )
        return replace(by_paths, completeness="sampled", notes=[*by_paths.notes, note])
    return Part(found, by_paths.count, [proof.note(where)], "proved")


def _is_square(spread: Spread, point: NeuronPoint, rank: int) -> bool:
    return not rank or float(np.trace(spread.parts(point.entries)[1])) > 0


def all_real(
    spread: Spread, rank: int, system: NeuronSystem, tell: Shown = False, most: int = MOST_BOXES
) -> AllReal | None:
    """All of them, in the unknowns of the system, (m) or (m, A, Z); None where the search leaves something open."""
    n = spread.problem.n
    loss = growing.loss_of(_functions(n, rank), spread.exact)
    rows, boxes = list[Array](), 0
    for patch in growing.patches(loss, float(spread.students.space.energy)):
        found = exclude(patch.system, patch.region, most=most, progress=tell)
        boxes += found.boxes
        if not found.complete:
            return None
        for k, x in enumerate(found.box.mid):
            u = patch.point(x)
            if rank and _is_flat(spread, patch, u, found.domain[k]):
                continue
            if rank and not u[n]:
                return None
            rows.append(np.concatenate([u[:n], [u[n] ** 2], u[n + 1 :] / u[n]]) if rank else u)
    return told_apart(system, np.array(rows, np.complex128).reshape(-1, system.equations.unknowns), boxes)


def _functions(n: int, rank: int) -> list[Polynomial]:
    """(m, mmᵀ + uuᵀ) as polynomials in (m, u)."""
    one, size = Fraction(1), n * (1 + rank)

    def term(*places: int) -> tuple[int, ...]:
        return tuple(places.count(k) for k in range(size))

    pairs = coordinates.indices(n, 2).tolist()
    linear: list[Polynomial] = [{term(i): one} for i in range(n)]
    return linear + [{term(n * k + i, n * k + j): one for k in range(1 + rank)} for i, j in pairs]


def _is_flat(spread: Spread, patch: growing.Patch, u: Array, domain: Intervals) -> bool:
    """Whether the zero in a domain is one with u = 0, which is proved."""
    n = spread.problem.n
    system = spread_system(spread, 0)
    root = certify(system, u[None, :n].astype(np.complex128)).roots[0]
    if root is None or root.real is not True:
        return False
    m = of_arb([ball.real for ball in root.box])
    zero = np.zeros(n)
    return patch.holds(Intervals(np.append(m.lo, zero)[None], np.append(m.hi, zero)[None]), domain)
