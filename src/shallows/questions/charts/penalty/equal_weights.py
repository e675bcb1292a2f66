"""Trained neurons of one equal weight beside orthonormal ones, where rotations leave the data alone: one equation.

All neurons span an invariant subspace of the target (`spectral`), and those of equal weight α are orthogonal to the
others, on which P is the identity (`trained`). With G = A‖S‖² + B(tr S)², τ = tr(s − T) and αE + D = 0 on the span of
the eigenvectors J of the equal ones, E = 0 on those of the others N,

    P = p_j = (α(Aλ_j − Bτ) + γ)/(α²A + γ)  on J,      s = λ_j − (B/A)τ  on N,

which makes τ a quotient of quadratic polynomials in α. The condition Σ p_j E_j = 0 is Σ p_j(p_j − 1) = 0, of degree 6:

    Σ_J (α(Aλ_j − Bτ) + γ)(Aλ_j − Bτ − αA) = 0,      α ≠ 0, p_j > 0.

Where equal eigenvalues are in different parts, the spans are any of a variety of flags.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.polynomial import Polynomial

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.questions.charts.neurons.balls import NeuronSystem
from shallows.questions.charts.neurons.real import seen_point, sort_neurons
from shallows.questions.charts.penalty.loss import PenalisedLoss
from shallows.questions.charts.penalty.spectral import ORBIT, eigenspaces
from shallows.questions.charts.penalty.students import PenalisedEquations, grouped, zero_diagonal
from shallows.questions.charts.penalty.trained import network_of, pair_of
from shallows.questions.charts.points.rows import FoundRow
from shallows.questions.charts.points.stratum import REAL
from shallows.questions.charts.singular_ends import FLAT
from shallows.support.checks import Array

#: A weight α below this share of the target's size is zero (`zero_weights`): roots of the equation are known to better.
NO_WEIGHT = 1e-9


@dataclass(frozen=True, eq=False)
class _Choice:
    """Eigenvectors (columns) and eigenvalues of the equal neurons and of the others, and how they can move."""

    equal: Array
    others: Array
    values: Array
    rest: Array
    dimension: int


def equal_weights(loss: PenalisedLoss, equal: int, others: int, certify: bool) -> tuple[list[FoundRow], int]:
    """All critical networks of so many neurons of one weight and so many orthonormal ones; and the complex count."""
    rows, count = [], 0
    T = SymmetricTensor(loss.target[: loss.size], loss.n, 2).to_matrix()
    for choice in _choices(T, equal, others):
        B = float(loss.gram[0, loss.n])
        A = float(loss.gram[0, 0]) - B
        top, bottom = _trace_gap(choice, A, B, loss.penalty, float(np.trace(T)))
        roots = _weights(choice, A, B, loss.penalty, top, bottom)
        count += 0 if choice.dimension else len(roots)
        for alpha in roots[np.abs(roots.imag) <= REAL * np.abs(roots)].real:
            tau = float(top(alpha) / bottom(alpha))
            p = (alpha * (A * choice.values - B * tau) + loss.penalty) / (alpha**2 * A + loss.penalty)
            if p.min() > 0:
                W = np.concatenate([(choice.equal * np.sqrt(p)).T, choice.others.T])
                a = np.concatenate([np.full(equal, alpha), choice.rest - B / A * tau])
                rows.append(_row(loss, a, W, equal, choice.dimension, certify))
    return rows, count


def _choices(T: Array, equal: int, others: int) -> Iterator[_Choice]:
    spaces = eigenspaces(T)
    sizes = [range(vectors.shape[1] + 1) for _, vectors in spaces]
    for first in product(*sizes):
        for second in product(*sizes):
            free = [len(v.T) - i - j for (_, v), i, j in zip(spaces, first, second, strict=True)]
            if sum(first) != equal or sum(second) != others or min(free) < 0:
                continue
            parts = list(zip(spaces, first, second, free, strict=True))
            yield _Choice(
                np.concatenate([v[:, :i] for (_, v), i, _, _ in parts], axis=1),
                np.concatenate([v[:, i : i + j] for (_, v), i, j, _ in parts], axis=1),
                np.concatenate([np.full(i, value) for (value, _), i, _, _ in parts]),
                np.concatenate([np.full(j, value) for (value, _), _, j, _ in parts]),
                sum(i * j + i * k + j * k for _, i, j, k in parts),
            )


def _trace_gap(
    choice: _Choice, A: float, B: float, gamma: float, trace: float
) -> tuple[Polynomial, Polynomial]:
    """τ as a quotient of polynomials in α."""
    m, q = len(choice.values), len(choice.rest)
    d = Polynomial([gamma, 0.0, A])
    top = (choice.rest.sum() - trace) * d + Polynomial([0.0, m * gamma, A * choice.values.sum()])
    return top, (1 + q * B / A) * d + Polynomial([0.0, 0.0, B * m])


def _weights(choice: _Choice, A: float, B: float, gamma: float, top: Polynomial, bottom: Polynomial) -> Array:
    """The roots α but 0, complex ones too."""
    alpha, total = Polynomial([0.0, 1.0]), Polynomial([0.0])
    for value in choice.values:
        slope = A * value * bottom - B * top
        total = total + (alpha * slope + gamma * bottom) * (slope - A * alpha * bottom)
    roots = total.trim().roots()
    return np.asarray(roots[np.abs(roots) > NO_WEIGHT * max(float(np.abs(roots).max(initial=0.0)), 1.0)])


def _row(loss: PenalisedLoss, a: Array, W: Array, equal: int, dimension: int, certify: bool) -> FoundRow:
    groups, x = grouped(a, W)
    system = NeuronSystem(PenalisedEquations.of(loss.n, groups), loss.exact)
    point = seen_point(system, x, FLAT)
    if certify and not dimension:
        found = sort_neurons(system, x[None].astype(np.complex128), True).found
        point = found[0] if found else point
    pair = pair_of(a, W)
    W = np.concatenate([zero_diagonal(W[:equal], loss.slope(pair)), W[equal:]])
    positive, zero, negative = point.signature
    seen = (positive + int(loss.problem.norm_neuron), zero, negative)
    about = (ORBIT, ()) if dimension else None
    return FoundRow(pair, network_of(loss, a, W), len(W), seen, "saddle", point.certificate, dimension, about)
