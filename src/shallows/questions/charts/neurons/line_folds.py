"""Two quartic neurons with a bias in one input whose residual is not zero: folds, which no path from others leads to.

Two such neurons have six weights and fill the five dimensions of quartics: near generic ones only the target is
critical. Where their values and slopes leave a residual e (`fold_shapes`: few, up to affine maps of the input) they are
folds, and critical for the targets t = s + λHe, H = G⁻¹. So a shape's critical folds are the images u of e under
x ↦ αx + β, u_j = Σ_k C(j,k) e_k αᵏ βʲ⁻ᵏ, for which s = t − λHu keeps to the neurons:

    u·s = u_α·s = u_β·s = 0,    λ = u·t / u·Hu.

These are two equations in α and β. As e is centred, e₁ = 0, u_α is a multiple of α, which is divided out. Of their 90
solutions over C 24 have u·t = u·Hu = 0, 12 are at infinity, and 54 are folds, as seen: each twice where exchanging the
neurons is a symmetry of the shape. A generic p has three such shapes and four others: 297 folds.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from shallows.mathematics.homotopy.solutions import Status
from shallows.mathematics.homotopy.solve import solve
from shallows.mathematics.same_points import PointSet, most_real
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.continuation.equations import Complex
from shallows.questions.charts.neurons.balanced import BalancedNeurons
from shallows.questions.charts.neurons.balls import NeuronSystem
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.neurons.fold_shapes import FoldShape, fold_shapes, has_finite_shapes
from shallows.questions.charts.neurons.real import NeuronPoint, sort_neurons
from shallows.questions.charts.neurons.singular import StratumLoss
from shallows.questions.charts.neurons.stratum import NeuronStratum, own_neuron, restored_points
from shallows.questions.charts.neurons.wide_line import is_cubic, is_wide_line
from shallows.support.checks import Array, counted
from shallows.support.progress import Shown
from shallows.support.tolerances import TINY

#: Neurons of a fold.
PAIR = 2
#: Where u·t is a smaller share of its terms it vanishes, as u·Hu does: seen are 10⁻¹² and less where it does, and 10⁻⁷
#: and more elsewhere.
ORTHOGONAL = 1e-10
#: Coefficients that are a smaller share of the largest are rounding of those that cancel.
NO_TERM = 1e-14
#: A Newton step from a solution is a smaller share of its size: seen are 10⁻⁸ where there is one, and 10⁻⁴ at ends that
#: belong to infinity.
SETTLED = 1e-6
#: What is left out where folds are not charted.
WITHOUT_FOLDS = "the target, and networks whose neurons have independent values and slopes: no folds"


def has_folds(problem: Problem) -> bool:
    """Whether a problem has folds that are charted."""
    return is_wide_line(problem) and problem.bias and has_finite_shapes(problem)


def leaves_folds_out(problem: Problem) -> bool:
    """Whether neurons with a bias in one input fill their functions, and may be folds that are not charted."""
    return is_wide_line(problem) and problem.bias and not is_cubic(problem) and not has_folds(problem)


def fold_stratum(
    problem: Problem, space: PolynomialSpace, certify_points: bool, seed: int, tell: Shown = False
) -> NeuronStratum:
    """All critical folds of two neurons."""
    even = BalancedNeurons.of(problem, space)
    equations, own = NeuronEquations(even.neuron, PAIR), NeuronEquations(own_neuron(problem), PAIR)
    system = NeuronSystem(own, space.exact)
    shapes = fold_shapes(even.neuron)
    loss = _Loss.of(even)
    ends = [_folds(equations, shape, loss, seed) for shape in shapes or []]

    def all_of(parts: list[Complex]) -> Complex:
        rows = np.concatenate([np.zeros((0, equations.unknowns), np.complex128), *parts])
        return most_real(PointSet(rows, invariants=equations.marks).points, equations.tensors)

    points = restored_points(even, equations, own, all_of([end.finite for end in ends]))
    singular = restored_points(even, equations, own, all_of([end.singular for end in ends]))
    result = sort_neurons(system, points, certify_points, tell)
    stratum_loss = StratumLoss(space, system)
    kept = [point for point in result.found if point.certificate or _is_zero(stratum_loss, own, point)]
    uncertain = len(result.found) - len(kept)  # ends near infinity are badly known
    whole = shapes is not None and all(end.whole for end in ends) and not uncertain
    count = (
        result.proved + sum(point.certificate is None for point in kept) if certify_points else len(points)
    )
    notes = [
        f"rank {PAIR}, folds: {counted(count, 'solution')} for {counted(len(ends), 'pair')} of neurons, up to "
        "affine maps of the input"
    ]
    if not whole:
        notes.append(
            f"rank {PAIR}, folds: some may be missing: paths were lost, or {uncertain} real ends are badly known"
        )
    return NeuronStratum(system, kept, count, None, notes, "count-matched" if whole else "sampled", singular)


def _is_zero(loss: StratumLoss, own: NeuronEquations, point: NeuronPoint) -> bool:
    """Whether a Newton step leads nowhere, parameters scaled by curvatures."""
    x = own.join(point.a[:, None].astype(np.complex128), point.W.astype(np.complex128)).real
    H = loss.hessian(x)
    scales = 1 / np.sqrt(np.abs(H).max(axis=1) + TINY)
    step = scales * np.linalg.lstsq(H * scales[:, None] * scales, scales * loss.gradient(x))[0]
    return bool(np.abs(step).max() <= SETTLED * np.abs(x).max())


@dataclass(frozen=True, eq=False)
class _Loss:
    """H = G⁻¹ and t, in balanced coordinates."""

    inverse: Array
    target: Array

    @classmethod
    def of(cls, even: BalancedNeurons) -> _Loss:
        inverse = np.asarray(np.linalg.inv(even.member.gram), np.float64)
        return cls(inverse, inverse @ np.real(even.member.g))


@dataclass(frozen=True, eq=False)
class _Folds:
    """The networks of one shape, over C, and whether no path was lost."""

    finite: Complex
    singular: Complex
    whole: bool


def _folds(equations: NeuronEquations, shape: FoldShape, loss: _Loss, seed: int) -> _Folds:
    """Those at which e, stretched by α and moved by β, is the residual."""
    e = shape.e
    u = [
        _sum([_monomial(k, j - k, comb(j, k) * e[k]) for k in range(j + 1) if k != 1]) for j in range(len(e))
    ]
    along = [j * u[j - 1] if j else _monomial(0, 0, 0.0) for j in range(len(e))]
    wide = [
        _sum([_monomial(k - 2, j - k, comb(j, k) * k * e[k]) for k in range(2, j + 1)]) for j in range(len(e))
    ]
    H_u = [_combined(row, u) for row in loss.inverse]
    against, own = _combined(loss.target, u), _dot(u, H_u)
    system = [
        _terms(_sum([_times(_combined(loss.target, row), own), -_times(against, _dot(row, H_u))]))
        for row in (along, wide)
    ]
    found = solve(system, rng=seed, on_incomplete="return")

    def networks(points: Complex) -> Complex:
        rows = [
            _network(equations, shape, x, loss)
            for x in points
            if abs(_at(against, x)) > ORTHOGONAL * abs(_at(np.abs(against), np.abs(x))) and x[0]
        ]
        return np.array(rows, np.complex128).reshape(-1, equations.unknowns)

    finite, singular = networks(found.finite.points), networks(found.singular.points)
    return _Folds(finite, singular, found.status is Status.COMPLETE)


def _network(equations: NeuronEquations, shape: FoldShape, place: Complex, loss: _Loss) -> Complex:
    """The neurons of the shape at (x − β)/α, and the outer weights that make s."""
    e, (alpha, beta) = shape.e, place
    w = shape.W[:, 1] / alpha
    W = np.stack([shape.W[:, 0] - w * beta, w], axis=1)
    u = np.array(
        [sum(comb(j, k) * e[k] * alpha**k * beta ** (j - k) for k in range(j + 1)) for j in range(len(e))]
    )
    against = loss.inverse @ u
    s = loss.target - against * (u @ loss.target) / (u @ against)
    values = equations.neuron.values(W)
    sizes = np.abs(values).max(axis=1)
    a = np.linalg.lstsq((values / sizes[:, None]).T, s)[0] / sizes
    return equations.join(a[:, None], W)


def _monomial(i: int, j: int, coefficient: Any) -> Complex:
    """A polynomial in α and β, its coefficients as a matrix."""
    table = np.zeros((i + 1, j + 1), np.complex128)
    table[i, j] = coefficient
    return table


def _sum(parts: list[Any]) -> Complex:
    shape = np.max([(1, 1), *(part.shape for part in parts)], axis=0)
    total = np.zeros(shape, np.complex128)
    for part in parts:
        total[: part.shape[0], : part.shape[1]] += part
    return total


def _times(p: Complex, q: Complex) -> Complex:
    table = np.zeros((p.shape[0] + q.shape[0] - 1, p.shape[1] + q.shape[1] - 1), np.complex128)
    for (i, j), value in np.ndenumerate(p):
        table[i : i + q.shape[0], j : j + q.shape[1]] += value * q
    return table


def _combined(weights: Array, rows: list[Complex]) -> Complex:
    return _sum([weight * row for weight, row in zip(weights.tolist(), rows, strict=True)])


def _dot(rows: list[Complex], others: list[Complex]) -> Complex:
    return _sum([_times(p, q) for p, q in zip(rows, others, strict=True)])


def _at(p: Complex, x: Any) -> Any:
    return np.polynomial.polynomial.polyval2d(x[0], x[1], p)


def _terms(p: Complex) -> dict[tuple[int, int], complex]:
    """By exponents, those that only rounding has left out."""
    kept = np.argwhere(np.abs(p) > NO_TERM * np.abs(p).max())
    return {(int(i), int(j)): complex(p[i, j]) for i, j in kept}
