"""Which critical limits are real, and what is proved about each of them.

A solution is a limit of real networks when each block is real: w up to a factor, and with that factor taken out v (or
the outer weight of a single neuron). Real tensors whose blocks come in conjugate pairs are no such limits.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.krawczyk import CertifiedRoot
from shallows.mathematics.balls.systems import BITS, precision
from shallows.mathematics.signature import signature
from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.curves import curve_coefficients
from shallows.model.exact_loss import ExactLoss
from shallows.model.problem import Problem
from shallows.questions.charts.closure.balls import TermSystem
from shallows.questions.charts.closure.parameterization import Parameterization, largest_coordinates
from shallows.questions.charts.closure.real_students import ON_LIMITS, proved, real_ones
from shallows.questions.charts.closure.term_map import TermMap
from shallows.questions.charts.points.stratum import POINT_ERROR, RealPoint
from shallows.questions.charts.powers.proved_tensors import ProvedTensor, tensors
from shallows.support.checks import Array
from shallows.support.progress import Shown

Complex = NDArray[np.complex128]
Vectors = list[list[NDArray[np.inexact]]]
#: A tangent vector across w of a smaller share of the block is none: the point is a power, of another stratum.
NO_TANGENT = 1e-6


@dataclass
class SortedLimits:
    """Real limits, how many points nothing is proved about, and the tensors of certified solutions in balls."""

    found: list[RealPoint] = field(default_factory=list)
    undecided: int = 0
    proved: list[ProvedTensor] = field(default_factory=list)


def sort_limits(
    problem: Problem,
    blocks: tuple[int, ...],
    points: list[Vectors],
    certify_points: bool,
    tell: Shown = False,
) -> SortedLimits:
    """Real limits apart from the rest, with certificates when `certify_points`.

    Each is proved in the chart w_c = 1 of a large coordinate of each block.
    """
    result, exact = SortedLimits(), ExactLoss.of(problem)
    by_map: dict[Parameterization, list[Complex]] = {}
    for point in points:
        map_, x = real_form(problem, blocks, point)
        by_map.setdefault(map_, []).append(x)
    for map_, those in by_map.items():
        system = TermSystem(map_, exact)
        table = np.array(those, np.complex128)
        real, roots = real_ones(system, table, certify_points, tell)
        result.proved += tensors(system, [root for root in roots if root is not None])
        result.undecided += roots.count(None) if certify_points else 0
        result.found += [limit_point(problem, system, x, root) for x, root in real]
    return result


def real_form(problem: Problem, blocks: tuple[int, ...], point: Vectors) -> tuple[Parameterization, Complex]:
    """A parameterization in which a limit is real if it is one, and the limit's parameters in it.

    The chart is the largest coordinate of each block's w. Where v is rather imaginary, iv takes its place: the block is
    −w^(d−2)v² + w^(d−1)u.
    """
    plain = _parameterization(problem.degree, problem.n, blocks, largest_coordinates(point))
    x = np.asarray(plain.parameters(point), np.complex128)
    signed = list(blocks)
    for k, (block, places) in enumerate(plain.layout):
        own = [p for p in places[1] if p >= 0] if block == 3 else []
        if np.linalg.norm(x[own].imag) > np.linalg.norm(x[own].real):
            signed[k], x[own] = -3, -1j * x[own]
    return (plain if tuple(signed) == blocks else replace(plain, blocks=tuple(signed))), x


@lru_cache(maxsize=256)
def _parameterization(
    degree: int, n: int, blocks: tuple[int, ...], charts: tuple[int, ...]
) -> Parameterization:
    """Made once for all limits that have their largest coordinates there."""
    return Parameterization(degree, n, blocks, charts)


def limit_point(
    problem: Problem, system: TermSystem, x: Array, root: CertifiedRoot | None, error: float = POINT_ERROR
) -> RealPoint:
    """A real limit with its signature on the stratum, proved where its root is."""
    map_ = system.map
    assert isinstance(map_, Parameterization)
    hessian = half_hessian(problem, map_, x)
    blocks = map_.vectors(x)
    single = [block for block in blocks if len(block[0]) == 1]
    weights = np.array([float(np.real(block[0][0])) for block in single])
    vectors = np.array([np.real(block[1]) for block in single]).reshape(len(single), problem.n)
    vectors = vectors * np.abs(weights[:, None]) ** (1 / problem.degree)
    signs = np.sign(weights)
    if problem.degree % 2:
        vectors, signs = vectors * signs[:, None], np.ones(len(signs))
    n = problem.n
    merged = np.array([np.real(block) for block in blocks if len(block) == 2 and len(block[0]) > 1])
    triples = np.array([np.real(block) for block in blocks if len(block) == 3])
    turns = np.array([np.sign(block) for block in map_.blocks if abs(block) == 3], np.float64)
    found = RealPoint(
        vectors,
        signs,
        signature(np.linalg.eigvalsh(hessian), error),
        None,
        merged.reshape(-1, 2, n),
        triples.reshape(-1, 3, n),
        turns,
    )
    if root is None:
        return found
    apart = map_.blocks == (2,) and _is_tangent(map_, root)
    entries = found.entries(problem.n, problem.degree)
    seen, certificate = proved(system, root, entries, found.signature, ON_LIMITS, apart)
    return replace(found, signature=seen, certificate=certificate)


def _is_tangent(map_: Parameterization, root: CertifiedRoot) -> bool:
    """Whether v is proved to be no multiple of w, w_c = 1: then the tensor is no sum of two powers."""
    (_, (first, second)) = map_.layout[0]
    with precision(BITS):
        lead = root.box[second[map_.charts[0]]]
        gaps = [root.box[q] - lead * root.box[p] for p, q in zip(first, second, strict=True) if p >= 0]
        return any(not gap.contains(0) for gap in gaps)


def half_hessian(problem: Problem, map_: TermMap, x: Array) -> Array:
    """Half the Hessian of the loss in the parameters."""
    gram = problem.gram()
    e = gram @ (np.real(map_.tensors(x[None])[0]) - problem.target_tensor().entries)
    D = np.real(map_.slopes(x))
    return np.asarray(D @ gram @ D.T + map_.curvature(x, e))


def merged_tensor(point: Vectors, degree: int) -> Complex:
    """The entries of a sum of blocks; of many sums, when their vectors are rows."""
    total: Any = 0
    for first, second, *third in point:
        if first.shape[-1] == 1:
            total = total + first * coordinates.monomials(np.asarray(second), degree)
            continue
        last: Any = third[0] if third else second
        total = total + coordinates.monomials_jvp(np.asarray(first), last, degree) / degree
        if third:
            total = total + curve_coefficients(first, second, 0 * second, degree)[..., 2, :] / comb(degree, 2)
    return np.asarray(total, np.complex128)


def is_proper(point: Vectors) -> bool:
    """Whether a solution is of its stratum and of none with fewer neurons, or with more of them in one place."""
    return all(np.isfinite(part).all() for block in point for part in block) and (
        _has_tangents(point) and _stand_apart(point)
    )


def _stand_apart(point: Vectors) -> bool:
    """Whether no single neuron has come to a merged pair, which together are three merged neurons."""
    pairs = [block[0] for block in point if len(block) == 2 and len(block[0]) > 1]
    for one in (block[1] for block in point if len(block[0]) == 1):
        for w in pairs:
            across = one - np.vdot(w, one) / np.vdot(w, w) * w
            if np.linalg.norm(across) <= NO_TANGENT * np.linalg.norm(one):
                return False
    return True


def _has_tangents(point: Vectors) -> bool:
    """Whether all merged neurons have a direction in which they merged: v across w, against all of the block."""
    for block in point:
        if len(block[0]) == 1:
            continue
        length = float(np.linalg.norm(block[0]))
        w, v = block[0] / length, block[1]
        across, whole = float(np.linalg.norm(v - np.vdot(w, v) * w)), float(np.linalg.norm(v))
        if len(block) == 3:
            across, whole = across**2, whole**2 + length * float(np.linalg.norm(block[2]))
        if across <= NO_TANGENT * whole:
            return False
    return True
