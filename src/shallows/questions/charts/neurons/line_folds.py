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
from shallows.mathematics.newton import at_once
from shallows.mathematics.same_points import PointSet, most_real
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.continuation.equations import Complex, Member, family
from shallows.questions.charts.continuation.lost_paths import UNCERTIFIED
from shallows.questions.charts.neurons.balanced import BalancedNeurons
from shallows.questions.charts.neurons.balls import NeuronSystem
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.neurons.fold_shapes import FoldShape, fold_shapes, has_finite_shapes
from shallows.questions.charts.neurons.real import sort_neurons
from shallows.questions.charts.neurons.stratum import NeuronStratum, own_neuron, restored_points
from shallows.questions.charts.neurons.wide_line import is_cubic, is_wide_line
from shallows.support.checks import Array, counted
from shallows.support.progress import Shown
from shallows.support.tolerances import SQRT_EPSILON

#: Neurons of a fold.
PAIR = 2
#: Where u·t is a smaller share of its terms it vanishes, as u·Hu does: seen are 10⁻¹² and less where it does, and 10⁻⁷
#: and more elsewhere.
ORTHOGONAL = 1e-10
#: As many solutions have both, for a generic target: 6 · 4.
MET = 24
#: Coefficients that are a smaller share of the largest are rounding of those that cancel.
NO_TERM = 1e-14
#: Newton's steps, each up to half of what the parameters were: seen are less than 10⁻¹⁰ at the last where there is a
#: solution, and more than 10⁻¹ from ends that belong to infinity.
STEPS, HALF, SETTLED = 12, 0.5, 1e-8
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
    ends = [_folds(equations, even.member, shape, seed) for shape in shapes or []]

    def all_of(parts: list[Complex]) -> Complex:
        rows = np.concatenate([np.zeros((0, equations.unknowns), np.complex128), *parts])
        return most_real(PointSet(rows, invariants=equations.marks).points, equations.tensors)

    finite = all_of([end.finite for end in ends])
    points = restored_points(even, equations, own, finite)
    singular = restored_points(even, equations, own, all_of([end.singular for end in ends]))
    result = sort_neurons(system, points, certify_points, tell)
    notes = [
        f"rank {PAIR}, folds: {counted(len(points), 'solution')} for {counted(len(ends), 'pair')} of neurons, up to "
        "affine maps of the input"
    ]
    whole = shapes is not None and all(end.whole for end in ends)
    if not whole:
        notes.append(
            f"rank {PAIR}, folds: some may be missing: paths were lost, ends near infinity are badly known, or pairs "
            "are not finitely many"
        )
    if result.undecided:
        notes.append(f"rank {PAIR}, folds: {result.undecided} {UNCERTIFIED}")
    level = "count-matched" if whole else "sampled"
    return NeuronStratum(system, result.found, len(points), None, notes, level, singular)


def _settled(equations: NeuronEquations, member: Member, points: Complex) -> Complex:
    """The critical networks that Newton's method leads to; from ends that belong to infinity it leads nowhere."""
    segment = family(equations).segment(member.parameters, member.parameters)
    sizes = np.abs(points)
    sizes = np.maximum(sizes, SQRT_EPSILON * sizes.max(axis=1, keepdims=True, initial=0.0))

    def scaled(z: Any) -> tuple[Any, Any]:
        values, jacobians = segment.at_all(np.append(z * sizes, np.zeros((len(z), 1), np.complex128), axis=1))
        jacobians = jacobians[:, :, :-1] * sizes[:, None, :]
        rows = np.abs(jacobians).max(axis=2)
        return values / rows, jacobians / rows[:, :, None]

    def moved(z: Any, step: Any) -> Any:
        return z + step * np.minimum(1.0, HALF / np.abs(step).max(axis=1, keepdims=True))

    if not len(points):
        return points
    with np.errstate(all="ignore"):
        start: Any = points / sizes
        z, step = at_once(scaled, start, STEPS, moved)
    return np.asarray((z * sizes)[np.abs(step).max(axis=1) <= SETTLED], np.complex128)


@dataclass(frozen=True, eq=False)
class _Loss:
    """H = G⁻¹ and t, in balanced coordinates."""

    inverse: Array
    target: Array

    @classmethod
    def of(cls, member: Member) -> _Loss:
        inverse = np.asarray(np.linalg.inv(member.gram), np.float64)
        return cls(inverse, inverse @ np.real(member.g))


@dataclass(frozen=True, eq=False)
class _Folds:
    """The networks of one shape, over C, and whether no path was lost."""

    finite: Complex
    singular: Complex
    whole: bool


def _folds(equations: NeuronEquations, member: Member, shape: FoldShape, seed: int) -> _Folds:
    """Those at which e, stretched by α and moved by β, is the residual.

    An end that does not settle belongs to infinity, if all that have u·t = 0 are told apart.
    """
    loss, e = _Loss.of(member), shape.e
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

    ends = networks(found.finite.points)
    finite = _settled(equations, member, ends)
    clear = len(finite) == len(ends) or found.finite.count - len(ends) == MET
    whole = found.status is Status.COMPLETE and clear
    return _Folds(finite, networks(found.singular.points), whole)


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
