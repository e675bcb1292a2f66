"""Limits of three squares with two outputs in three inputs, by duality: their slopes are networks of fewer neurons.

Three squares fill R² ⊗ Sym²(R³), twelve dimensions, and their limits are cones X of fewer. s is critical on X for the
metric G exactly if the slope E = G(s − t) is critical on the dual cone, of forms that vanish on tangent spaces of X,
for the metric G⁻¹ (J. Draisma, E. Horobeţ, G. Ottaviani, B. Sturmfels, R. Thomas, "The Euclidean distance degree of an
algebraic variety", 2016, Theorem 5.2). With w, v, u a basis and w*, v*, u* the dual one,

    p ⊗ w² + q ⊗ wv + a ⊗ u²             E = e ⊗ v*²,                    e ⟂ q: one neuron
    p ⊗ w² + q ⊗ wv + s ⊗ (v² + wu)      E = e ⊗ v*u* + g ⊗ u*²,         e ⟂ s: two merged neurons
    w x₁, w x₂                           E = two forms in v* and u*:     two neurons

so that the equations of fewer neurons give them, as many as these have: 23, 211 and 75, or 9, 45 and 13 under
rotation-invariant data.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shallows.mathematics.exact.rational_arrays import fractions
from shallows.mathematics.tensors import coordinates
from shallows.model.exact_loss import ExactLoss
from shallows.model.problem import Problem
from shallows.questions.charts.continuation.detours import Regular
from shallows.questions.charts.continuation.equations import Complex
from shallows.questions.charts.continuation.lost_paths import Settled
from shallows.questions.charts.outputs.equations import OutputEquations
from shallows.questions.charts.outputs.exact_loss import OutputsLoss
from shallows.questions.charts.outputs.merged_equations import MergedOutputEquations
from shallows.questions.charts.outputs.merged_map import FAT, Place, Vector
from shallows.questions.charts.outputs.stratum import Wanted, followed, proved_regular
from shallows.support.progress import Shown

#: Zeros of the cubic of the target's pencil are one to this share of its size: slopes next to zero are known badly.
NEARLY = 1e-7
#: The limits that are found so, and the blocks of their slopes.
DUAL = {(2, 1): (1,), (3,): (2,), (FAT,): (1, 1)}


def is_dual(problem: Problem, outputs: int) -> bool:
    """Whether limits of three neurons have slopes that are networks of fewer."""
    plain = problem.degree == 2 and not problem.norm_neuron
    return plain and (problem.n, problem.outputs, outputs) == (3, 2, 2)


def has_dual(problem: Problem, loss: OutputsLoss, blocks: tuple[int, ...]) -> bool:
    """Whether such limits are found by their slopes: the target itself is none, where these are zero.

    Of a limit of two neurons beside a third det(xf₁ + yf₂) has a double zero, of three a triple one, of FAT it is zero.
    """
    if blocks not in DUAL or not is_dual(problem, loss.rank):
        return False
    f = coordinates.symmetric_matrices(dual_loss(loss)[1])
    f = f / np.linalg.norm(f, axis=(1, 2), keepdims=True)
    nodes = np.exp(2j * np.pi * np.arange(4) / 4)
    a, b, c, d = np.fft.fft([np.linalg.det(f[0] + x * f[1]) for x in nodes]).real / 4  # in 1, y, y², y³
    size = float(np.abs([a, b, c, d]).max())
    if size <= NEARLY or blocks == (FAT,):
        return bool(size > NEARLY)
    hessian = np.array([b * b - 3 * a * c, b * c - 9 * a * d, c * c - 3 * b * d]) / size**2
    if blocks == (3,):
        return bool(np.abs(hessian).max() > NEARLY)
    return bool(abs(hessian[1] ** 2 - 4 * hessian[0] * hessian[2]) > NEARLY)


def dual_limits(
    problem: Problem,
    loss: OutputsLoss,
    blocks: tuple[int, ...],
    seed: int,
    tell: Shown,
    regular: Callable[[MergedOutputEquations, Wanted], Regular],
) -> tuple[list[list[Place]], Settled]:
    """The blocks of all critical limits, and where the paths to their slopes end; `regular` gives ends of two merged
    neurons that look singular a second chance."""
    dual, target = dual_loss(loss)
    if DUAL[blocks] == (2,):
        merged = MergedOutputEquations(2, 3, 2, (2,))
        wanted, run = followed(problem, dual, merged, seed, tell, lambda to: regular(merged, to), dual=True)
        points = [[one.turned(wanted.frame) for one in merged.map.places(x)] for x in run.finite.points]
        slopes = [_merged_slopes(one, wanted.turn * wanted.unit) for (one,) in points]
    else:
        equations = OutputEquations.of_powers(2, 3, len(DUAL[blocks]), 2)
        wanted, run = followed(
            problem,
            dual,
            equations,
            seed,
            tell,
            lambda to: proved_regular(problem, dual, equations, to, seed),
            dual=True,
        )
        A, W = wanted.restored(equations, run.finite.points)
        slopes = [(np.einsum("im,ia,ib->mab", a, w, w), w) for a, w in zip(A, W, strict=True)]
    inverse = np.linalg.inv(loss.gram.astype(float))
    read = {(2, 1): _pair_beside, (3,): _curve, (FAT,): _fat}[blocks]
    found = []
    for E, lines in slopes:
        rows = coordinates.matrix_entries(E) * coordinates.multiplicities(3, 2)
        f = coordinates.symmetric_matrices(target + rows @ inverse)
        found.append(read(f, E, lines))
    return found, run


def dual_loss(loss: OutputsLoss) -> tuple[OutputsLoss, Vector]:
    """The loss whose critical networks are slopes, as forms: metric D G⁻¹ D and right side −D t, D the multiplicities;
    and t."""
    D = fractions(coordinates.multiplicities(3, 2))
    size = len(loss.gram)
    columns = [ExactLoss(loss.gram, fractions(np.eye(size)[k])).target for k in range(size)]
    inverse = np.array(columns, dtype=object)
    target = loss.right @ inverse
    return OutputsLoss(D[:, None] * inverse * D, -target * D), target.astype(float)


def _merged_slopes(place: Place, turn: Vector) -> tuple[Complex, Complex]:
    """p ⊗ l² + q ⊗ lm as matrices, and l, m."""
    l, m = place.w, place.v
    p, q = place.outer @ turn.T
    mixed = (np.outer(l, m) + np.outer(m, l)) / 2
    return p[:, None, None] * np.outer(l, l) + q[:, None, None] * mixed, np.array([l, m])


def _beside(f: Complex, B: Complex) -> Complex:
    """The forms in the basis of the columns of B."""
    inverse = np.linalg.inv(B)
    return np.asarray(inverse @ f @ inverse.T)


def _pair_beside(f: Complex, E: Complex, lines: Complex) -> list[Place]:
    """p ⊗ w² + q ⊗ wv + a ⊗ u² from its slope e ⊗ l², l = v*."""
    (l,) = lines
    e = E @ l.conj() @ l.conj()
    e = e / np.linalg.norm(e)
    q = np.array([-e[1], e[0]])
    bent, flat = np.tensordot(q.conj(), f, 1), np.tensordot(e, f, 1)
    w = bent @ l
    values = [np.linalg.det(bent - k * flat) for k in (0.0, 1.0)]
    share = values[0] / (values[0] - values[1])  # the one zero of a polynomial of degree 1
    x = np.linalg.svd(bent - share * flat)[2][-1].conj()
    u = flat @ x
    w, u = w / np.linalg.norm(w), u / np.linalg.norm(u)
    B = np.array([w, u, l.conj()]).T
    F = _beside(f, B)
    lead = int(np.argmax(np.abs(F[:, 0, 2])))
    v = B[:, 2] + F[lead, 0, 1] / F[lead, 0, 2] * u
    zero = 0 * w
    pair = Place(w, v, zero, np.array([F[:, 0, 0], 2 * F[:, 0, 2]]))
    return [pair, Place(u, zero, zero, F[:, 1, 1][None])]


def _curve(f: Complex, E: Complex, lines: Complex) -> list[Place]:
    """p ⊗ w² + q ⊗ wv + s ⊗ (v² + wu) from its slope e ⊗ lm + g ⊗ l², l = u*."""
    l, m = lines
    across = m - l * np.vdot(l, m) / np.vdot(l, l)
    e = E @ across.conj() @ l.conj()  # l̄ and m̄ across l: g ⊗ l² is not seen
    e = e / np.linalg.norm(e)
    s = np.array([-e[1], e[0]])
    bent, flat = np.tensordot(s.conj(), f, 1), np.tensordot(e, f, 1)
    w = bent @ l
    w = w / np.linalg.norm(w)
    x = w.conj()
    v = 2 * flat @ x - w * (x @ flat @ x)
    v = v / np.linalg.norm(v)
    B = np.array([w, v, l.conj()]).T
    F = _beside(f, B)
    lead = int(np.argmax(np.abs(F[:, 1, 1])))
    u = 2 * F[lead, 0, 2] / F[lead, 1, 1] * B[:, 2]
    return [Place(w, v, u, np.array([F[:, 0, 0], 2 * F[:, 0, 1], F[:, 1, 1]]))]


def _fat(f: Complex, E: Complex, lines: Complex) -> list[Place]:
    """w x₁, w x₂ from its slope in the forms l₁ and l₂, which vanish at w."""
    w = np.cross(lines[0], lines[1])
    w = w / np.linalg.norm(w)
    y = w.conj()
    x = 2 * f @ y - np.einsum("a,mab,b->m", y, f, y)[:, None] * w
    return [Place(w, 0 * w, 0 * w, x.T)]
