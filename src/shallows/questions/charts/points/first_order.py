"""The loss to first order off a point's rank stratum: ℓ′(±u^⊗d), the small additions that an idle neuron can make.

At a critical point Σ ±vᵢ^⊗d the form f(u) = ℓ′(u^⊗d) vanishes to second order at its own neurons vᵢ: there its second
derivative decides (a neuron that splits), elsewhere its extreme values over the unit sphere do.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from shallows.mathematics.newton import saddle_free_step
from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.problem import Problem
from shallows.questions.charts.points.stratum import RealPoint
from shallows.support.checks import Array
from shallows.support.tolerances import TINY

#: A slope y/x whose square is no overflow; the direction is (0, 1) to all digits long before.
STEEPEST = TINY**-0.5
#: Directions whose sine s with one of the point's own neurons is below this are judged by the second derivative there:
#: of f = c₂s² + c₃s³ + … a thousandth is then left out, unless c₂ is that small: then the kind is left open.
CONE = 1e-3
#: Steps of the descents over the sphere, and of Newton's method from where they end. Measured: of 60 cones of depth
#: 1e-1 to 1e-7 in three and four inputs (as in test_first_order.py) either alone finds all.
_DESCENTS, _NEWTON = 120, 6
#: Descents from near the point's own neurons start at these distances.
_NEAR = (0.3, 0.03)
#: A step of Newton's method is taken as if curvatures were at least this share of the largest: no step is then longer
#: than 1e9 gradients, and it ends on the sphere anyway. Between 1e-3 and 1e-12 the same cones are found.
_LEAST_CURVATURE = 1e-9


def _complement(found: RealPoint, n: int) -> Array:
    """An orthonormal basis of the vectors orthogonal to the point's neurons."""
    if not found.rank:
        return np.eye(n)
    full = np.linalg.qr(found.vectors.T, mode="complete")[0]
    return np.asarray(full[:, found.rank :])


def _eigenvectors(problem: Problem, found: RealPoint, slope: Array) -> tuple[Array, Array]:
    """At degree 2: the critical values of f on the sphere of the complement, and where they are."""
    basis = _complement(found, problem.n)
    values, vectors = np.linalg.eigh(basis.T @ coordinates.slope_matrices(slope, problem.n) @ basis)
    return values, np.asarray((basis @ vectors).T)


def is_numerical(problem: Problem) -> bool:
    """Whether the sign of f over the sphere rests on descents: no roots, no eigenvalues, and no −u^⊗d to choose."""
    return problem.degree > 2 and problem.degree % 2 == 0 and problem.n > 2 and problem.outer is not None


def slope_range(
    problem: Problem, found: RealPoint, slope: Array, room: tuple[bool, bool], error: float
) -> tuple[float, float]:
    """The smallest and largest ℓ′(u^⊗d) over unit u off the stratum's own directions, known to within `error`.

    Close to a neuron v of the point it is replaced by the extreme ℓ′(v^⊗(d−2)⊗w²), w ⟂ v of length 1: the second
    derivative, with the weight of v in the target, by which its own error counts.
    """
    values, directions = _candidates(problem, found, slope, room, error)
    if problem.degree == 2:
        return (float(values[0]), float(values[-1])) if len(values) else (0.0, 0.0)
    own = _units(found.vectors)
    sines = np.sqrt(np.maximum(1 - (directions @ own.T) ** 2, 0.0)).min(axis=1, initial=1.0)
    away = values[(sines > CONE) | (np.abs(values) > error)]
    away = np.concatenate([away, *_splits(problem, found, slope)])
    return float(away.min(initial=np.inf)), float(away.max(initial=-np.inf))


def _units(vectors: Array) -> Array:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, TINY))


def _splits(problem: Problem, found: RealPoint, slope: Array) -> list[Array]:
    """The extreme values of ℓ′(v^⊗(d−2)⊗w²) over unit w ⟂ v for each neuron, times its share of the target, if < 1."""
    n, d = problem.n, problem.degree
    size = float(np.max(np.abs(problem.target_tensor().entries), initial=TINY))
    second = coordinates.gradient_matrix(coordinates.gradient_matrix(slope, n, d).T, n, d - 1)
    result: list[Array] = []
    for v in found.vectors if n > 1 else ():  # one input has no w ⟂ v
        unit = _units(v)
        basis = np.linalg.svd(unit[None])[2][1:]
        values = np.linalg.eigvalsh(basis @ _hessian(second, unit, d) @ basis.T) / (d * (d - 1))
        share = float(np.max(np.abs(coordinates.monomials(v, d)))) / size
        result.append(values[[0, -1]] * min(share, 1.0))
    return result


def _hessian(second: Array, u: Array, d: int) -> Array:
    """The second derivatives of Σ_I c_I u^I, from the coefficients that they have as forms."""
    return np.asarray(np.einsum("m,xmy->xy", coordinates.monomials(u, d - 2), second))


def _candidates(
    problem: Problem, found: RealPoint, slope: Array, room: tuple[bool, bool], error: float
) -> tuple[Array, Array]:
    """Values of f and unit vectors at which it has them, the extreme ones among them."""
    n, d = problem.n, problem.degree
    if d == 2:
        return _eigenvectors(problem, found, slope)
    if n == 2:
        u = _circle(slope, d)
        return coordinates.monomials(u, d) @ slope, u
    u, powers = _directions(n, d, found)
    values = powers @ slope
    if is_numerical(problem):
        for sign, idle in ((1.0, room[0]), (-1.0, room[1])):
            if idle and not np.any(sign * values < -error):  # else one of these already descends
                u = np.concatenate([u, _descend(sign * slope, u, d)])
        values = coordinates.monomials(u, d) @ slope
    return values, u


def _circle(form: Array, d: int) -> Array:
    """All critical points of a binary form on the unit circle, up to sign.

    They are the roots of x ∂f/∂y − y ∂f/∂x, a form of degree d; complex roots add their real directions, at which
    values are values too.
    """
    powers = np.arange(d + 1)
    derivative = np.zeros(d + 1)  # by powers of y
    derivative[:-1] += powers[1:] * form[1:]
    derivative[1:] -= (d - powers[:-1]) * form[:-1]
    roots = np.roots(derivative[::-1]) if derivative.any() else np.zeros(0)  # y/x
    tangent = np.concatenate([roots.real.clip(-STEEPEST, STEEPEST), [0.0]])
    return np.concatenate([_units(np.stack([np.ones_like(tangent), tangent], axis=1)), [[0.0, 1.0]]])


def _directions(n: int, d: int, found: RealPoint) -> tuple[Array, Array]:
    """Fixed unit vectors spread over the sphere, and round the point's own neurons; and the u^I of each."""
    own = _units(found.vectors)
    spread, powers, draws = _drawn(n, d, len(own))
    if not len(own):
        return spread, powers
    near = _units(
        np.concatenate([v + by for by_distance in draws for v, by in zip(own, by_distance, strict=True)])
    )
    return np.concatenate([spread, near]), np.concatenate([powers, coordinates.monomials(near, d)])


@lru_cache(maxsize=16)
def _drawn(n: int, d: int, neurons: int) -> tuple[Array, Array, Array]:
    """Unit vectors spread over the sphere, the u^I of each, and for each distance and neuron what is added to it."""
    rng = np.random.default_rng(0)
    spread = _units(rng.standard_normal((64 * n * n, n)))
    draws = np.array([distance * rng.standard_normal((neurons, 8 * n, n)) for distance in _NEAR])
    drawn = spread, coordinates.monomials(spread, d), draws
    for each in drawn:
        each.setflags(write=False)
    return drawn


def _descend(form: Array, starts: Array, d: int) -> Array:
    """Where descents of the form over the sphere end, each finished by Newton's method where that goes lower."""
    n = starts.shape[1]
    first = coordinates.gradient_matrix(form, n, d)
    u, value = starts, coordinates.monomials(starts, d) @ form
    step = np.full(len(u), _NEAR[0])
    for _ in range(_DESCENTS):
        gradient = coordinates.monomials(u, d - 1) @ first
        gradient -= np.einsum("bx,bx->b", gradient, u)[:, None] * u
        trial = _units(u - step[:, None] * _units(gradient))
        new = coordinates.monomials(trial, d) @ form
        better = new < value
        u, value = np.where(better[:, None], trial, u), np.where(better, new, value)
        step = np.where(better, 1.5 * step, step / 3)
    return np.concatenate([u, _newton(form, u, d)])


def _newton(form: Array, u: Array, d: int) -> Array:
    """Newton's method on the sphere, with curvatures by their absolute values so that steps descend."""
    n = u.shape[1]
    first = coordinates.gradient_matrix(form, n, d)
    second = coordinates.gradient_matrix(np.moveaxis(first, -1, 0), n, d - 1)
    for _ in range(_NEWTON):
        gradient = coordinates.monomials(u, d - 1) @ first
        radial = np.einsum("bx,bx->b", gradient, u)
        project = np.eye(n) - u[:, :, None] * u[:, None, :]
        hessian = np.einsum("bm,xmy->bxy", coordinates.monomials(u, d - 2), second, optimize=True)
        curved = project @ (hessian - radial[:, None, None] * np.eye(n)) @ project
        tangent = np.einsum("bxy,by->bx", project, gradient)
        step = saddle_free_step(tangent, curved, _LEAST_CURVATURE)
        u = _units(u + np.einsum("bxy,by->bx", project, step))
    return u


def escape(
    problem: Problem, slope: Array, room: tuple[bool, bool], found: RealPoint, error: float
) -> SymmetricTensor | None:
    """±u^⊗d of steepest first-order descent among the directions looked at, when a neuron is idle."""
    if not any(room):
        return None
    values, candidates = _candidates(problem, found, slope, room, error)
    if not len(values):
        return None
    gain = np.maximum(-values if room[0] else 0.0, values if room[1] else 0.0)
    best = int(np.argmax(gain))
    if gain[best] <= error:
        return None
    sign = 1.0 if -values[best] == gain[best] and room[0] else -1.0
    entries = sign * coordinates.monomials(candidates[best], problem.degree)
    return SymmetricTensor(entries, problem.n, problem.degree)
