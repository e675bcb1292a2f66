"""Trained outer weights and biases under the orthogonality penalty: critical points from the chart without penalty.

Neurons are vᵢ = (bᵢ, wᵢ), S = Σ aᵢ vᵢvᵢᵀ, and the penalty sees P = Σ wᵢwᵢᵀ alone. With E half the slope in S and
D = 0 ⊕ γ(P − I), a network is critical when aᵢEvᵢ + Dvᵢ = 0 and vᵢᵀEvᵢ = 0: the equations of `trained`, and what
follows from them there holds here.

1. *Outer weights all different, none zero*: K = WWᵀ has K² = K, so P is the projection onto the span of the wᵢ, DV = 0
   and EV = 0: S is critical without penalty. Conversely let S = UΛUᵀ have rank r, and let U₁ be the rows of U for x. If
   U₁ᵀU₁ is regular, X = Oᵀ(U₁ᵀU₁)^(−½) with (U₁ᵀU₁)^½ Λ (U₁ᵀU₁)^½ = O diag(a) Oᵀ makes V = XUᵀ, with orthonormal wᵢ.
   It is singular where the constant e₀ is in the range of S; then P has rank r − 1, and one bias is free to grow.
2. *Outer weights zero*: m neurons (b, w) with w ⟂ the others, orthonormal, and vᵀEv = 0 for each. Their biases are
   seen by nothing else, so that almost any m-dimensional span will do: where E₀₀ ≠ 0 those on which the trace of
   E₁₁ − E₀₁ᵀE₀₁/E₀₀ does not have the sign of E₀₀. Weight and bias together descend: saddles, unless E = 0.
3. *Equal outer weights* whose neurons are not orthonormal (`trained`): saddles, at width two and more. Listed at width
   two in up to two inputs on samples, where no path is lost (`equal_biased`); else the chart's scope says they are not.

The infimum is that without penalty plus γ(n − k), or no penalty at width k ≥ n. It is attained but where the constant
is in the range of each best S, k ≤ n: then wᵢ that span one dimension more need biases without bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.model.reduced_problem import ReducedProblem
from shallows.questions.charts.completeness import weakest
from shallows.questions.charts.penalty.students import zero_diagonal
from shallows.questions.charts.points.point import (
    CriticalFamily,
    CriticalPoint,
)
from shallows.questions.charts.points.rows import ChartRow, attained, points_in_order
from shallows.questions.charts.points.stratum import POINT_ERROR, Part
from shallows.questions.charts.result import Chart
from shallows.support.checks import Array, counted

#: Neurons span so many inputs as U₁ᵀU₁ has eigenvalues above this, of at most one: points are known to ten digits.
SPANNED = 1e-8
#: The square of the length that a free bias stands for in the network shown.
FREE = 1e-4
#: How far the network that stands for a limit is tilted from it.
NEAR = 1e-3
EQUAL = "networks in which neurons of equal outer weights are orthonormal: all others are saddles"
COUNTED = "not known beforehand; with those of equal outer weights"
GROWING = "the constant is in the range of the lowest point: orthonormal weights need a bias without bound"


@dataclass(frozen=True, eq=False)
class _Setting:
    """The problem, its reduction without penalty on (1, x), and what is left of the target."""

    problem: Problem
    plain: Problem

    @property
    def top(self) -> int:
        """How many inputs neurons can span."""
        return min(self.problem.width, self.problem.n)

    def penalty(self, spanned: int) -> float:
        """γ(n − rank P)."""
        return self.problem.orthogonality * (self.problem.n - spanned)

    def slope(self, point: CriticalPoint) -> tuple[Array, float]:
        """E at a point, and how large rounding of it is."""
        s = _student(point.network)
        gram, target = self.plain.gram(), self.plain.target_tensor().entries
        e = gram @ (s[np.triu_indices(self.plain.n)] - target)
        return coordinates.slope_matrices(e, self.plain.n), POINT_ERROR * float(
            np.abs(gram @ target).max(initial=0.0)
        )

    def network(self, a: Array, V: Array, norm: float) -> Network:
        """These neurons, others zero."""
        k, problem = len(a), self.problem
        weights, neurons = np.zeros(problem.width), np.zeros((problem.width, problem.n + 1))
        weights[:k], neurons[:k] = a, V
        return Network(neurons[:, 1:], weights, problem.activation, norm, neurons[:, 0])


def biased_chart(problem: Problem, plain: Problem, chart: Chart, equal: Part[ChartRow] | None) -> Chart:
    """The chart with penalty from the `chart` without it; `plain` is that problem on (1, x), reduced."""
    setting, rows = _Setting(problem, plain), list[ChartRow]()
    for point in chart.critical:
        rows.append(_orthonormal(setting, point))
        rows += _with_zero_weights(setting, point, rows[-1])
    lowest = chart.critical[0]
    found = rows[0]
    growing = lowest.kind == "global minimum" and found.kind == "saddle" and found.rank == setting.top
    if growing:
        rows.append(_limit(setting, lowest))
    if equal is not None:
        rows += equal.found
        chart = _with_equal(chart, equal)
    order = sorted(range(len(rows)), key=lambda i: (rows[i].loss, rows[i].rank))
    rows = [rows[i] for i in order]
    return replace(
        chart,
        critical=points_in_order(problem, rows),
        attained=attained(rows),
        scope=EQUAL if problem.width > 1 and equal is None else "",
        notes=(*chart.notes, GROWING) if growing else chart.notes,
        problem=problem,
    )


def _with_equal(chart: Chart, equal: Part[ChartRow]) -> Chart:
    """The counts and notes of both."""
    return replace(
        chart,
        completeness=weakest([chart.completeness, equal.completeness]),
        complex_count=chart.complex_count | {2: chart.complex_count.get(2, 0) + equal.count},
        expected_count=chart.expected_count | {2: None},
        expected_source=chart.expected_source | {2: COUNTED},
        notes=(*chart.notes, *equal.notes),
    )


def _student(net: Network) -> Array:
    """S on (1, x), without the norm neuron."""
    V = net.neurons
    return np.asarray(V.T @ (net.a[:, None] * V))


def _factored(S: Array, rank: int) -> tuple[Array, Array, int]:
    """Outer weights and neurons of a matrix, those for x orthonormal; and how many dimensions these span."""
    if not rank:
        return np.zeros(0), np.zeros((0, len(S))), 0
    values, vectors = np.linalg.eigh((S + S.T) / 2)
    own = np.argsort(-np.abs(values))[:rank]
    U = vectors[:, own]
    lengths, turn = np.linalg.eigh(U[1:].T @ U[1:])
    none = lengths <= SPANNED
    root = (turn * np.sqrt(np.where(none, FREE, lengths))) @ turn.T
    a, O = np.linalg.eigh(root @ (values[own][:, None] * root))
    return a, np.asarray(O.T @ np.linalg.inv(root) @ U.T), rank - int(none.sum())


def _orthonormal(setting: _Setting, point: CriticalPoint) -> ChartRow:
    a, V, spanned = _factored(_student(point.network), point.rank)
    positive, zero, negative = point.signature
    return ChartRow(
        setting.network(a, V, float(point.network.norm)),
        point.loss + setting.penalty(spanned),
        point.rank,
        (positive + spanned * (spanned + 1) // 2, zero, negative),
        point.kind if spanned == setting.top else "saddle",
        point.certificate,
        point.dimension,
        tensor=point.tensor,
        family=(point.description, point.samples) if isinstance(point, CriticalFamily) else None,
    )


def _with_zero_weights(setting: _Setting, point: CriticalPoint, row: ChartRow) -> Iterator[ChartRow]:
    """Families, or points, with m neurons of outer weight zero beside a point."""
    a, V, spanned = _factored(_student(point.network), point.rank)
    free = np.linalg.svd(V[:, 1:])[2][spanned:] if spanned else np.eye(setting.problem.n)
    E, none = setting.slope(point)
    flat = float(np.abs(E).max()) <= none
    for m in range(1, min(setting.top - spanned, setting.problem.width - point.rank) + 1):
        added = _unseen(E, free, m, none)
        if added is None:
            continue
        dimension = point.dimension + m * (len(free) - m)
        positive, zero, negative = row.signature
        inside = spanned * m + m * (m + 1) // 2
        text = f"{counted(m, 'neuron')} of outer weight 0 beside rank {point.rank}, on almost any span"
        samples = (point.tensor,)
        yield ChartRow(
            setting.network(np.append(a, np.zeros(m)), np.concatenate([V, added]), float(point.network.norm)),
            point.loss + setting.penalty(spanned + m),
            point.rank + m,
            (positive + inside + m * (not flat), zero + m * (len(free) - m), negative + m * (not flat)),
            "global minimum" if flat and spanned + m == setting.top else "saddle",
            None,
            dimension,
            tensor=point.tensor,
            family=(text, samples) if dimension else None,
        )


def _unseen(E: Array, free: Array, m: int, none: float) -> Array | None:
    """m neurons (b, w), w orthonormal in the span of `free`, with vᵀEv = 0; None where there are none."""
    level, across = float(E[0, 0]), E[0, 1:] @ free.T
    inner = free @ E[1:, 1:] @ free.T
    if abs(level) <= none and np.abs(across).max(initial=0.0) <= none:
        return _of_trace_zero(inner, free, m, none)
    if abs(level) <= none:  # almost every w has a bias
        W = np.linalg.qr(np.random.default_rng([len(free), m]).standard_normal((len(free), m)))[0].T
        slopes = 2 * W @ across
        return np.column_stack([-np.einsum("ij,jk,ik->i", W, inner, W) / slopes, W @ free])
    schur = np.sign(level) * (inner - np.outer(across, across) / level)
    values, vectors = np.linalg.eigh(schur)
    if values[:m].sum() > 0:
        return None
    W = _falling(vectors[:, :m].T, schur)
    roots = np.sqrt(np.maximum(-np.einsum("ij,jk,ik->i", W, schur, W), 0.0) / abs(level))
    return np.column_stack([-(W @ across) / level + roots, W @ free])


def _falling(W: Array, form: Array) -> Array:
    """An orthonormal basis of the same span in which the form has one value everywhere, its mean: not above zero."""
    size = len(W)
    mean = float(np.trace(W @ form @ W.T)) / size
    return zero_diagonal(W, form - mean * np.eye(form.shape[0])) if size > 1 else W


def _of_trace_zero(inner: Array, free: Array, m: int, none: float) -> Array | None:
    """Without constants in the slope: spans of trace zero (`zero_weights`), here those of eigenvectors turned."""
    values, vectors = np.linalg.eigh(inner)
    low, high = float(values[:m].sum()), float(values[-m:].sum())
    if low > none or high < -none:
        return None
    first, last = vectors[:, :m], vectors[:, len(values) - m :]
    W = _between(inner, first, last) if high > none > low else first if abs(low) <= none else last
    return np.column_stack([np.zeros(m), zero_diagonal(W.T, inner) @ free])


def _between(form: Array, first: Array, last: Array) -> Array:
    """A span on the way from one to another on which the form has trace zero."""
    from scipy.optimize import brentq

    def span(t: float) -> Array:
        return np.asarray(np.linalg.qr((1 - t) * first + t * last)[0])

    return span(float(brentq(lambda t: float(np.trace(span(t).T @ form @ span(t))), 0.0, 1.0)))


def _limit(setting: _Setting, point: CriticalPoint) -> ChartRow:
    """The lowest point with weights that span one dimension more."""
    S = _student(point.network)
    _, V, spanned = _factored(S, point.rank)
    aside = np.linalg.svd(V[:, 1:])[2][-1] if spanned else np.eye(setting.problem.n)[0]
    shear = np.eye(len(S))
    shear[1:, 0] = NEAR * aside
    a, near, _ = _factored(shear @ S @ shear.T, point.rank)
    positive, zero, negative = point.signature
    return ChartRow(
        setting.network(a, near, float(point.network.norm)),
        point.loss + setting.penalty(spanned + 1),
        point.rank,
        (positive + spanned * (spanned + 1) // 2, zero, negative),
        "global minimum",
        point.certificate,
        point.dimension,
        True,
        point.tensor,
        family=(point.description, point.samples) if isinstance(point, CriticalFamily) else None,
    )


def plain_problem(problem: Problem) -> Problem:
    """On (1, x), reduced, for what `without_penalty` leaves of a problem with bias."""
    twin = problem.homogeneous()
    return ReducedProblem(twin) if problem.norm_neuron else twin
