"""Which critical p ⊗ q are critical networks of two quadratic neurons that share p as outer weights.

At a critical p ⊗ q what is left to vanish are the slopes of the outer weights across p: ê(ψ(wᵢ)) = 0 for ê = k·e,
k ⟂ p, e half the gradient of the loss and ψ(w) the neuron. ê(q) = 0 there already. Let U S Uᵀ be q's quadratic part.

- z², and 1 + z + z² as z² on (1, x): neurons U x with xᵀE x = 0 for the form E of ê on the plane: both its zeros, whose
  squares span all forms that E annihilates, S among them. They are real where E has both signs.
- z + z²: with l the linear part in the plane neurons are U x/(l·S⁻¹x), and E has the linear part of ê in it.
- 1 + z²: neurons U x₁ and U x₂ conjugate in S, of such lengths that ê vanishes; a circle of directions to choose from.

Other networks of the same function have a slope unless ê vanishes on all of the plane: critical ones are saddles then.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.questions.charts.outputs.shared_map import Shared, quadratic
from shallows.support.checks import Array

#: Numbers below this share of what they are differences of are zero: points are known to about 1e-10.
NOTHING = 1e-7


@dataclass(frozen=True)
class SharedPair:
    """Two neurons in the inputs of the map and their weights (2,) on p; `still` if no network of q has a slope."""

    V: Array
    weights: Array
    still: bool


def shared_pair(
    n: int, degrees: tuple[int, ...], given: Shared, slopes: Array, size: float
) -> SharedPair | None:
    """A pair of real neurons for a real p ⊗ q, `slopes` the functionals ê, one a row, of entries of this size."""
    S, U = np.asarray(quadratic(given.q[-1]).real, np.float64), np.asarray(given.U.real, np.float64)
    values = np.linalg.eigvalsh(S)
    if np.abs(values).min() <= NOTHING * np.abs(values).max():
        return None
    split = [coordinates.dimension(n, j) for j in degrees[:-1]]
    lower = slopes[:, : sum(split)]
    forms = np.array(
        [U.T @ coordinates.slope_matrices(row, n) @ U for row in slopes[:, sum(split) :]]
    ).reshape(-1, 2, 2)
    unit = size * float(np.abs(U).max()) ** 2
    if degrees == (0, 2):
        return _with_constant(S, U, float(given.q[0][0].real), forms, lower[:, 0], unit)
    along: Array = np.zeros(2)
    if degrees == (1, 2):
        along = np.asarray(np.linalg.solve(S, given.q[0].real), np.float64)
        lines = np.einsum("ka,b->kab", lower @ U, along)
        forms = forms + (lines + np.swapaxes(lines, 1, 2)) / 2
    X = _zeros_of(forms, unit, S)
    if X is None:
        return None
    vectors, still = X
    weights = _weights(S, vectors)
    V = vectors @ U.T
    if degrees == (1, 2):
        scales = vectors @ along
        if np.abs(scales).min() <= NOTHING * np.abs(scales).max():
            return None  # a neuron at infinity
        V, weights = V / scales[:, None], weights * scales**2
    return SharedPair(V, weights, still)


def _zeros_of(forms: Array, unit: float, S: Array) -> tuple[Array, bool] | None:
    """The common zeros of binary forms, two of them, real; any pair that is conjugate in S where all forms vanish."""
    flat = forms[:, [0, 0, 1], [0, 1, 1]]
    _, values, V = np.linalg.svd(flat) if len(flat) else (0, np.zeros(1), np.eye(3))
    if values[0] <= NOTHING * unit:
        x = np.array([1.0, 0.618])
        return np.array([x, _conjugate(S, x)]), True
    if len(values) > 1 and values[1] > NOTHING * unit:
        return None
    a, b, c = V[0]
    root = b * b - a * c
    if root <= NOTHING * float(np.abs(V[0]).max()) ** 2:
        return None
    lead = -b - np.copysign(np.sqrt(root), b)  # a x² + 2b xy + c y²
    return np.array([[lead, a], [c, lead]]), False


def _conjugate(S: Array, x: Array) -> Array:
    """y with xᵀS⁻¹y = 0."""
    z = np.linalg.solve(S, x)
    return np.array([-z[1], z[0]])


def _weights(S: Array, X: Array) -> Array:
    """α with S = Σ αᵢ xᵢxᵢᵀ."""
    B = np.linalg.inv(X.T)
    return np.asarray(np.diag(B @ S @ B.T))


def _with_constant(
    S: Array, U: Array, constant: float, forms: Array, lower: Array, unit: float
) -> SharedPair | None:
    """Neurons of 1 + z²: a₁ + a₂ is the constant, and xᵢᵀE xᵢ = −ε for each ê = (ε, E)."""
    rows = np.concatenate([lower[:, None], forms[:, [0, 0, 1], [0, 1, 1]]], axis=1)
    _, values, V = np.linalg.svd(rows)
    still = bool(values[0] <= NOTHING * unit)
    if not still and len(values) > 1 and values[1] > NOTHING * unit:
        return None
    eps, E = (0.0, np.zeros((2, 2))) if still else (V[0][0], V[0][[1, 2, 2, 3]].reshape(2, 2))
    for angle in _angles(S, E):
        x = np.array([np.cos(angle), np.sin(angle)])
        X = np.array([x, _conjugate(S, x)])
        weights = _weights(S, X)
        lengths = _lengths(np.einsum("ia,ab,ib->i", X, E, X), eps, weights, constant, still)
        if lengths is not None:
            return SharedPair(X * lengths[:, None] @ U.T, weights / lengths**2, still)
    return None


def _angles(S: Array, E: Array) -> list[float]:
    """One angle of each arc in which a direction and its conjugate have one sign of E and of the weights each."""
    J = np.array([[0.0, -1.0], [1.0, 0.0]])
    C = J @ np.linalg.inv(S)
    breaks = [0.0, np.pi]
    for form in (E, C.T @ E @ C, np.linalg.inv(S)):
        a, b, c = form[0, 0], form[0, 1], form[1, 1]
        zeros = np.roots([c, 2 * b, a]) if abs(c) > 0 else np.zeros(0)  # tan
        breaks += [float(np.arctan(z.real)) % np.pi for z in zeros if not z.imag] + [np.pi / 2]
    edges = sorted(breaks)
    return [(a + b) / 2 for a, b in pairwise(edges) if b - a > NOTHING]


def _lengths(values: Array, eps: float, weights: Array, constant: float, still: bool) -> Array | None:
    """ρ with ρᵢ² xᵢᵀE xᵢ = −ε and Σ αᵢ/ρᵢ² = constant; None where they are not real."""
    if not still:
        squares = -eps / values
        if np.any(squares <= 0) or not np.all(np.isfinite(squares)):
            return None
        return np.asarray(np.sqrt(squares))
    positive = [k for k in range(2) if weights[k] * constant > 0]
    if not constant or not positive:
        if weights[0] * weights[1] >= 0 or constant:
            return None
        return np.array([1.0, np.sqrt(-weights[1] / weights[0])])
    k = positive[0]
    other = 1 - k
    large = 4 * np.sqrt(abs(weights[other] / constant))
    rest = constant - weights[other] / large**2
    lengths = np.array([large, large])
    lengths[k] = np.sqrt(weights[k] / rest)
    return lengths
