"""The critical limits of neurons with several outputs that merge (`merged_map`): solved, sorted, proved.

Near p ⊗ w^d + q ⊗ w^(d−1)v functions of two neurons, real or in conjugate pairs, are a manifold, R^M ⊗ ⟨ξ⟩ for pairs of
points ξ, and the limits a hypersurface in it. Neurons w ± tv make

    p ⊗ (w^d + t² C(d,2) w^(d−2)v²) + q ⊗ (w^(d−1)v + t² (d−1)(d−2)/6 w^(d−3)v³) + …,

real ones for t² > 0: so a limit is a local minimum when it is one among limits and the loss grows in the direction of
t². With f(t) = (w + tv)^d = Σ fₖ tᵏ three merged neurons q₀ f₀ + q₁ f₁ + q₂ f₂ have one direction inwards, of 0 and ±t,
which is q₁ f₃ + q₂ f₄ (as in `points.inward`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import comb

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.krawczyk import CertifiedRoot
from shallows.mathematics.exact.rational_arrays import block_diagonal, fractions
from shallows.mathematics.same_points import most_real
from shallows.mathematics.signature import signature
from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.curves import curve_coefficients
from shallows.model.exact_loss import ExactLoss
from shallows.model.problem import Problem
from shallows.questions.charts.closure.balls import TermSystem
from shallows.questions.charts.closure.real_students import (
    ON_LIMITS,
    Scaled,
    proved,
    proved_regular,
    real_ones,
)
from shallows.questions.charts.continuation.detours import Regular
from shallows.questions.charts.continuation.lost_paths import UNCERTIFIED, Settled
from shallows.questions.charts.outputs.dual_limits import dual_limits, has_dual
from shallows.questions.charts.outputs.exact_loss import OutputsLoss
from shallows.questions.charts.outputs.merged_equations import MergedOutputEquations
from shallows.questions.charts.outputs.merged_map import FAT, OutputBlocks, Place, Vector, on_axes
from shallows.questions.charts.outputs.point import OutputPoint, OutputStratum
from shallows.questions.charts.outputs.stratum import Wanted, followed
from shallows.questions.charts.points.networks import APART, THREE_APART
from shallows.questions.charts.points.stratum import POINT_ERROR, Counts
from shallows.support.checks import Array, counted
from shallows.support.progress import Shown

Complex = NDArray[np.complex128]
#: A last outer weight of a smaller share of its block's is none: fewer neurons have merged.
NO_TANGENT = 1e-6
#: At degree 2 outer weights p and q that are parallel to this share make a form of two neurons: no limit.
PARALLEL = 1e-6

#: Right-angled triangles of neurons around a FAT limit whose slopes are looked at: four span all.
TRIANGLES = 12


def output_limits(
    problem: Problem,
    loss: OutputsLoss,
    blocks: tuple[int, ...],
    certify_points: bool,
    seed: int,
    tell: Shown = False,
) -> OutputStratum:
    """All critical limits that are sums of these blocks."""
    if has_dual(problem, loss, blocks):
        places, run = dual_limits(problem, loss, blocks, seed, tell, _proved_regular)
    else:
        equations = MergedOutputEquations(problem.degree, problem.n, loss.rank, blocks)
        wanted, run = followed(
            problem, loss, equations, seed, tell, lambda wanted: _proved_regular(equations, wanted)
        )
        points = most_real(run.finite.points, equations.tensors)
        places = [_restored(equations, wanted, x) for x in points]
    merged = [one for one in places if all(map(_has_merged, one))]
    limits = [one for one in merged if problem.degree > 2 or not any(map(_is_form, one))]
    found, open_ones = _sorted(problem, loss, blocks, limits, certify_points, tell)
    notes = _notes(blocks, run, len(limits), len(merged) - len(limits), open_ones)
    singular = sum(run.singular.multiplicities)
    return OutputStratum(found, Counts(len(limits), None, ""), notes, run.completeness, singular)


def _proved_regular(equations: MergedOutputEquations, wanted: Wanted) -> Regular:
    """Whether an end that looks singular is regular: Krawczyk decides, in multiple precision and at a good scale."""
    gram = np.kron(np.eye(equations.outputs), wanted.member.gram)
    exact = ExactLoss(fractions(gram), fractions(np.real(wanted.member.g)))

    def scaled(end: Complex) -> Scaled | None:
        places = equations.map.places(end)
        if not all(map(_has_merged, places)):
            return None
        map_ = replace(equations.map, chart=_chart(places))
        x = np.asarray(map_.parameters(places), np.complex128)
        return map_, x, lambda point: np.asarray(equations.map.parameters(map_.places(point)), np.complex128)

    return proved_regular(exact, scaled)


def _restored(equations: MergedOutputEquations, wanted: Wanted, x: Complex) -> list[Place]:
    """A solution's blocks in the problem's coordinates, outer weights of all outputs."""
    moved = [one.turned(wanted.frame) for one in equations.map.places(x)]
    return [replace(one, outer=one.outer @ wanted.turn.T * wanted.unit) for one in moved]


def _has_merged(place: Place) -> bool:
    """Whether all neurons of a block are needed."""
    block = len(place.outer)
    if place.is_fat:
        w = place.w / np.linalg.norm(place.w)
        values = np.linalg.svd(place.outer - np.outer(w, w.conj() @ place.outer), compute_uv=False)
        return bool(values[1] > NO_TANGENT * np.abs(place.outer).max())
    lengths = [
        np.linalg.norm(place.w) ** (block - 1 - k) * np.linalg.norm(place.v) ** k for k in range(block)
    ]
    sizes = np.abs(place.outer).max(axis=1) * np.array(lengths)
    return bool(block == 1 or sizes[-1] > NO_TANGENT * sizes.max())


def _is_form(place: Place) -> bool:
    """Whether p and q are parallel, or all three outer weights."""
    if len(place.outer) == 1 or place.is_fat:
        return False
    if len(place.outer) == 3:
        values = np.linalg.svd(place.outer, compute_uv=False)
        return bool(values[1] <= PARALLEL * values[0])
    p, q = place.outer[:2]
    gap = p * np.vdot(q, q) - q * np.vdot(q, p)
    return bool(np.abs(gap).max() <= PARALLEL * np.abs(p).max() * np.vdot(q, q).real)


@dataclass(frozen=True, eq=False)
class _Sorter:
    """What is the same for all limits of a stratum."""

    problem: Problem
    exact: ExactLoss
    gram: Array
    right: Array

    @classmethod
    def of(cls, problem: Problem, loss: OutputsLoss) -> _Sorter:
        gram = block_diagonal(*[loss.gram] * problem.outputs)
        exact = ExactLoss(gram, loss.right.ravel())
        return cls(problem, exact, gram.astype(float), loss.right.ravel().astype(float))

    def point(self, system: TermSystem, x: Array, root: CertifiedRoot | None) -> OutputPoint:
        """A real limit, with what its root proves."""
        map_ = system.map
        assert isinstance(map_, OutputBlocks)
        entries = np.real(map_.tensors(x[None])[0])
        slope = self.gram @ entries - self.right
        D = np.real(map_.slopes(x))
        hessian = D @ self.gram @ D.T + map_.curvature(x, slope)
        places = map_.places(x)
        gains = [
            fat_slopes(one, slope, map_.degree) if one.is_fat else float(2 * slope @ inward(one, map_.degree))
            for one in places
            if len(one.outer) > 1
        ]
        A, W = nearly(places, map_.degree)
        seen = signature(np.linalg.eigvalsh(hessian), POINT_ERROR)
        point = OutputPoint(A, W, entries, seen, limit=True, inward=min(gains))
        if root is None:
            return point
        seen, certificate = proved(system, root, entries, seen, ON_LIMITS)
        return replace(point, signature=seen, certificate=certificate)


def _sorted(
    problem: Problem,
    loss: OutputsLoss,
    blocks: tuple[int, ...],
    limits: list[list[Place]],
    certify_points: bool,
    tell: Shown,
) -> tuple[list[OutputPoint], int]:
    """Real limits, and how many solutions have no certificate."""
    sorter = _Sorter.of(problem, loss)
    by_map: dict[OutputBlocks, list[Complex]] = {}
    for one in limits:
        map_ = OutputBlocks(problem.degree, problem.n, problem.outputs, blocks, _chart(one))
        by_map.setdefault(map_, []).append(np.asarray(map_.parameters(one), np.complex128))
    found, open_ones = [], 0
    for map_, those in by_map.items():
        system, table = TermSystem(map_, sorter.exact), np.array(those)
        real, roots = real_ones(system, table, certify_points, tell)
        open_ones += roots.count(None) if certify_points else 0
        found += [sorter.point(system, x, root) for x, root in real]
    return found, open_ones


def _chart(places: list[Place]) -> tuple[int, int]:
    """The coordinates (c, e) whose shares in all w, and in all v with v_c = 0, are largest."""
    shares = np.min([np.abs(one.w) / np.abs(one.w).max() for one in places], axis=0)
    c = int(np.argmax(shares))
    across = [np.abs(one.v - one.v[c] / one.w[c] * one.w) for one in places if one.v.any()]
    shares = np.min([row / row.max() for row in across], axis=0) if across else np.ones(len(shares))
    shares[c] = -1.0
    return c, int(np.argmax(shares))


def inward(place: Place, degree: int) -> Array:
    """The direction from a limit into the networks, all outputs one after the other, its largest entry one."""
    block, w, v = len(place.outer), place.w, place.v
    length = float(np.linalg.norm(w))
    along = float(w @ v) / length**2
    across = v - along * w
    size = float(np.linalg.norm(across))
    axes = w / length, across / size
    shares = float(axes[0] @ place.u), float(axes[1] @ place.u)
    own = on_axes(place, axes, (length, along * length, size), shares, degree)
    f = curve_coefficients(own.w, own.v, bent(own, degree), degree)
    f = np.concatenate([f, np.zeros((block + 3, f.shape[1]))])
    total = np.zeros((own.outer.shape[1], f.shape[1]))
    for k in range(block - 2, block):
        total += np.outer(own.outer[k] / comb(degree, k), f[k + 2])
    return np.asarray(total.ravel() / np.abs(total).max())


def bent(place: Place, degree: int) -> Vector:
    """z of the curve w + tv + t²z, whose coefficient of t² is C(d,2) (w^(d−2)v² + w^(d−1)u)."""
    return place.u * (degree - 1) / 2


def fat_slopes(place: Place, slope: Array, degree: int) -> float:
    """The least slope from a FAT limit into the networks.

    Three neurons w + t zᵢ whose weights have the sums that the limit asks for add t Σ Aᵢ zᵢ² in w^(d−2)·; turned by
    180° they take it away. Algebras of three points with w in the middle are binary cubic forms (Delone and Faddeev):
    four dimensions of them, so that a slope that is not zero on all is negative on some.
    """
    n, w = len(place.w), place.w / np.linalg.norm(place.w)
    basis = np.linalg.svd(w[None])[2][1:]
    weights = basis @ place.outer / degree  # Σ Aᵢ zᵢ, one a direction, up to |w|
    table = coordinates.indices(n, degree).tolist()
    steepest = 0.0
    for angle in np.linspace(0.0, np.pi, TRIANGLES, endpoint=False):
        c, s = np.cos(angle), np.sin(angle)
        Z = np.array([[c, s], [-s, c], [0.0, 0.0]])
        Z = Z - Z.mean(axis=0)
        A = np.linalg.lstsq(np.vstack([np.ones(3), Z.T]), np.vstack([0 * weights[:1], weights]), rcond=None)[
            0
        ]
        moved = np.zeros((place.outer.shape[1], len(table)))
        for a, z in zip(A, Z @ basis, strict=True):
            f = curve_coefficients(w, z, 0 * z, degree)[2]
            moved += np.outer(a, f)
        steepest = max(steepest, abs(float(slope @ moved.ravel())) / float(np.abs(moved).max()))
    return -2 * steepest


def nearly(places: list[Place], degree: int) -> tuple[Array, Array]:
    """Outer weights (M, r) and neurons (r, n) of a network near a limit."""
    columns: list[Vector] = []
    rows: list[Vector] = []
    for one in places:
        if len(one.outer) == 1:
            columns, rows = [*columns, one.outer[0]], [*rows, one.w]
            continue
        if one.is_fat:
            basis = np.linalg.svd(one.w[None])[2][1:]
            t = APART * float(np.linalg.norm(one.w))
            sides = basis @ one.outer / (degree * t)
            middle = one.w @ one.outer / float(one.w @ one.w) - sides.sum(axis=0)
            rows += [*(one.w + t * basis), one.w]
            columns += [*sides, middle]
            continue
        three = len(one.outer) == 3
        t = (THREE_APART if three else APART) * float(np.linalg.norm(one.w) / np.linalg.norm(one.v))
        odd = one.outer[1] / (2 * degree * t)
        even = one.outer[2] / (degree * (degree - 1) * t * t) if three else one.outer[0] / 2
        rows += [one.w + t * one.v + t * t * bent(one, degree), one.w - t * one.v + t * t * bent(one, degree)]
        columns += [even + odd, even - odd]
        if three:
            rows, columns = [*rows, one.w], [*columns, one.outer[0] - 2 * even]
    return np.array(columns, np.float64).T, np.array(rows, np.float64)


def _notes(blocks: tuple[int, ...], run: Settled, count: int, forms: int, open_ones: int) -> list[str]:
    merged = " and ".join(counted(abs(block), "merged neuron") for block in blocks if abs(block) > 1)
    merged += ", from two sides" if FAT in blocks else ""
    singles = blocks.count(1)
    beside = f" beside {counted(singles, 'neuron')}" if singles else ""
    head = f"rank {sum(map(abs, blocks))}, limits of {merged}{beside}"
    more = (
        (sum(run.singular.multiplicities), "paths end at singular points, which are not listed"),
        (forms, "have parallel outer weights: forms of two neurons, no limits"),
        (open_ones, UNCERTIFIED),
    )
    return run.notes(head, f"{count} complex critical points", *more)
