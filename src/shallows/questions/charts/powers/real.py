"""Which critical sums of powers are real, and what is proved about each of them.

A solution x is real as a network when every neuron is a real vector times ζ, ζ^d = ±1; then u and the signs ε are
certified as a real root of the equations in u. Any other solution is certified in complex balls: its tensor is proved
not real when the imaginary part of an entry excludes 0, and proved real when the conjugate of x is proved to be an
image of x (both lie where x is the only root); then the neurons come in conjugate pairs, and no real network of that
width has this tensor (sums of powers are identifiable).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, partial
from math import prod
from typing import Any

import numpy as np
from flint import acb, arb, arb_mat
from numpy.typing import NDArray

from shallows.mathematics.balls.certification import certify
from shallows.mathematics.balls.inertia import inertia
from shallows.mathematics.balls.krawczyk import CertifiedRoot
from shallows.mathematics.balls.systems import BITS, precision
from shallows.mathematics.signature import signature
from shallows.mathematics.tensors import coordinates
from shallows.model.exact_loss import ExactLoss
from shallows.model.problem import Problem
from shallows.questions.charts.points.proved_signature import (
    distances,
    real_balls,
    signs_at_once,
    with_proofs,
)
from shallows.questions.charts.points.stratum import POINT_ERROR, REAL, RealPoint
from shallows.questions.charts.powers.balls import PowerSystem, sharpened
from shallows.questions.charts.powers.equations import PowerEquations
from shallows.questions.charts.powers.proved_tensors import ProvedTensor, different, tensors
from shallows.support.checks import Array
from shallows.support.progress import Shown

Complex = NDArray[np.complex128]
#: Neurons whose imaginary part is a larger share may belong to a close pair that is not real: a simple root is
#: known to 10⁻¹³ or so.
SURELY_REAL = 1e-12


@dataclass
class Sorted:
    """Real points; how many other real tensors there are, and how many points nothing is proved about.

    `repeated` counts points that could not be proved different from one that is listed: they are left out. `proved` are
    the tensors of certified solutions, real or not.
    """

    found: list[RealPoint] = field(default_factory=list)
    paired: int = 0
    undecided: int = 0
    repeated: int = 0
    proved: list[ProvedTensor] = field(default_factory=list)


def sort_points(
    problem: Problem, equations: PowerEquations, points: Complex, certify_points: bool, tell: Shown = False
) -> Sorted:
    """Real networks apart from the rest, with certificates when `certify_points`."""
    result, exact = Sorted(), cache(partial(ExactLoss.of, problem))
    ones = PowerSystem.of(problem, equations, (1.0,) * equations.r, exact)
    if certify_points:
        points = _without_close_pairs(result, ones, points)
    by_signs: dict[tuple[float, ...], list[Array]] = {}
    rest: list[Complex] = []
    for x in points:
        turned = [turn(w, equations.degree) for w in x.reshape(equations.r, equations.n)]
        if any(t is None for t in turned):
            rest.append(x)
            continue
        signs = tuple(t[1] for t in turned if t is not None)
        by_signs.setdefault(signs, []).append(np.concatenate([t[0] for t in turned if t is not None]))
    for signs, vectors in by_signs.items():
        system = PowerSystem.of(problem, equations, signs, exact)
        part = sort_real(system, np.array(vectors), certify_points, tell)
        result.found += part.found
        result.undecided += part.undecided
        result.repeated += part.repeated
        result.proved += part.proved
    if rest:
        _add_rest(result, ones, np.array(rest), certify_points, tell)
    return result


def _without_close_pairs(result: Sorted, system: PowerSystem, points: Complex) -> Complex:
    """The points but for those that are nearly real and proved not to be: a pair that has just left the real points."""
    equations = system.equations
    shaped = points.reshape(len(points), equations.r, equations.n)
    nearly = [
        k
        for k, neurons in enumerate(shaped)
        if all(turn(w, equations.degree) is not None for w in neurons)
        and any(turn(w, equations.degree, SURELY_REAL) is None for w in neurons)
    ]
    gone = []
    for k, root in zip(nearly, certify(system, points[nearly]).roots if nearly else (), strict=True):
        tensor = None if root is None else tensors(system, [root])[0]
        if tensor is not None and tensor.is_not_real:
            result.proved.append(tensor)
            gone.append(k)
    return np.delete(points, gone, axis=0)


def turn(w: Complex, degree: int, tolerance: float = REAL) -> tuple[Array, float] | None:
    """u and ε with w^⊗d = ε u^⊗d, u real: w = ζu with ζ^d = ε; None when there is none."""
    lead = w[np.argmax(np.abs(w))]
    zeta = lead / abs(lead)
    u = w / zeta
    power = zeta**degree
    if np.max(np.abs(u.imag)) > tolerance * abs(lead) or abs(power.imag) > tolerance:
        return None
    sign = 1.0 if power.real > 0 else -1.0
    return (sign * u.real, 1.0) if degree % 2 else (u.real, sign)


def sort_real(system: PowerSystem, vectors: Array, certify_points: bool, tell: Shown = False) -> Sorted:
    """Real neurons u, a row a point, with the signs of the system."""
    result = Sorted()
    if not certify_points:
        result.found += [real_point(system, u) for u in vectors]
        return result
    roots: list[CertifiedRoot] = []
    for u, root in zip(vectors, _proofs(system, vectors.astype(np.complex128), tell), strict=True):
        if root is None or root.real is not True:
            result.undecided += 1
            result.found.append(real_point(system, u))
            continue
        roots.append(root)
    proved = tensors(system, roots)
    kept = different(proved)
    result.proved = [proved[k] for k in kept]
    result.repeated = len(roots) - len(kept)
    result.found += _certified(system, [roots[k] for k in kept])
    return result


def _proofs(system: PowerSystem, points: Complex, tell: Shown) -> list[CertifiedRoot | None]:
    """A proof for each point that has one; those without, which may be known badly, are sharpened and tried again."""
    roots = list(certify(system, points, progress=tell).roots)
    unproved = [k for k, root in enumerate(roots) if root is None]
    if unproved:
        again = np.array([sharpened(system, points[k]) for k in unproved])
        for k, root in zip(unproved, certify(system, again, progress=tell).roots, strict=True):
            roots[k] = root
    return roots


def _add_rest(
    result: Sorted, system: PowerSystem, points: Complex, certify_points: bool, tell: Shown
) -> None:
    if not certify_points:
        entries = system.equations.tensors(points)
        real = np.abs(entries.imag).max(axis=1) < REAL * np.abs(entries).max(axis=1)
        result.paired += int(np.count_nonzero(real))
        return
    roots = [root for root in _proofs(system, points, tell) if root is not None]
    result.undecided += len(points) - len(roots)
    for tensor in tensors(system, roots):
        result.proved.append(tensor)
        if tensor.is_not_real:
            continue
        if _is_self_conjugate(system.equations, tensor.root):
            result.paired += 1
        else:
            result.undecided += 1


def real_point(system: PowerSystem, u: Array) -> RealPoint:
    """A real point with its signature, nothing proved."""
    seen = signature(np.linalg.eigvalsh(half_hessian(system, u)), POINT_ERROR)
    equations = system.equations
    return RealPoint(u.reshape(equations.r, equations.n), np.array(system.signs), seen)


def _certified(system: PowerSystem, roots: list[CertifiedRoot]) -> list[RealPoint]:
    """The points of proved real roots: signatures, and radii of the tensors as doubles, all at once."""
    if not roots:
        return []
    equations, batch, box = system.equations, system.ball_batch(), real_balls(roots)
    points = [real_point(system, root.point.real) for root in roots]
    ranks = [rank_is_proved(equations, list(root.box)) for root in roots]
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is not proved
        hessians = signs_at_once(batch(box)[1], roots, system.inertia)
        entries = [p.signs @ coordinates.monomials(p.vectors, equations.degree) for p in points]
        return with_proofs(points, hessians, distances(np.array(entries), batch.tensors(box)), ranks)


def rank_is_proved(equations: PowerEquations, box: list[Any]) -> bool:
    """Whether Σ ε_j u_j^⊗d has rank r for all u in a real box.

    If the u_j^⊗k, k = ⌊d/2⌋, are independent, so are the u_j^⊗(d−k), and the flattening Sym^k → Sym^(d−k) of the
    tensor has rank r. They are independent when their Gram matrix ((u_i·u_j)^k) is proved positive definite.
    """
    with precision(BITS):
        U = arb_mat(equations.r, equations.n, box)
        products = U * U.transpose()
        # no `**`: flint's power of a ball that holds 0 is NaN, and orthogonal neurons have such a product
        power, places = equations.degree // 2, range(equations.r)
        gram = [[prod([products[i, j]] * power, start=arb(1)) for j in places] for i in places]
        return inertia(gram).positive == equations.r


def _is_self_conjugate(equations: PowerEquations, root: CertifiedRoot) -> bool:
    """Whether an image of the conjugate of the root lies where the root is the only one: then they are equal."""
    n, r, d = equations.n, equations.r, equations.degree
    W = root.point.reshape(r, n)
    roots = np.exp(2j * np.pi * np.arange(d) / d)
    gaps = np.abs(roots[:, None, None] * W.conj() - W[:, None, None, :]).max(axis=-1)  # place, turn, source
    turns, sources = np.unravel_index(gaps.reshape(r, -1).argmin(axis=1), (d, r))
    if len(set(sources.tolist())) < r:
        return False
    with precision(BITS):
        moved = []
        for m, source in zip(turns.tolist(), sources.tolist(), strict=True):
            zeta = (acb(2 * m) / d).exp_pi_i()
            moved += [zeta * root.box[source * n + x].conjugate() for x in range(n)]
        return all(mine.contains(theirs) for mine, theirs in zip(root.domain, moved, strict=True))


def half_hessian(system: PowerSystem, u: Array) -> Array:
    """Half the Hessian of ℓ(Σ ε_j u_j^⊗d) in u."""
    equations = system.equations
    n, d = equations.n, equations.degree
    U, signs = u.reshape(equations.r, n), np.array(system.signs)
    e = system.gram @ (signs @ coordinates.monomials(U, d) - system.target)
    slopes = coordinates.gradient_matrix(np.eye(equations.entries), n, d)
    D = np.concatenate(
        [
            s * np.einsum("m,imx->xi", w, slopes)
            for s, w in zip(signs, coordinates.monomials(U, d - 1), strict=True)
        ]
    )
    H = D @ system.gram @ D.T
    outer = coordinates.gradient_matrix(e, n, d)
    for j, (s, w) in enumerate(zip(signs, U, strict=True)):
        block = np.stack([slope @ outer for slope in coordinates.monomials_jvp(w, np.eye(n), d - 1)])
        H[j * n : (j + 1) * n, j * n : (j + 1) * n] += s * block
    return np.asarray((H + H.T) / 2)
