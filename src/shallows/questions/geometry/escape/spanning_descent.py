"""Theorem 9 of paper 000 as a path: with width ≥ dim Sym^d(R^n) the loss descends to its global minimum.

The proof is linear algebra. If the wᵢ^⊗d span Sym^d(R^n), then with W fixed τ is linear in a and onto, so a line in a
leads to any tensor, and a convex loss does not increase on the way to its minimiser. If they do not span, S is a
combination of an independent subset of them: a moves along the kernel to that combination (τ constant), which leaves
width − rank neurons with a = 0; these are pointed in new directions (τ constant) until the powers span.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr

from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.questions.geometry.paths import Segment, State, Trail
from shallows.support.checks import Array

#: A pivot of unit powers below this counts as dependent: weights grow with its inverse, 1e-7 of them being rounding.
INDEPENDENT = 1e-9
#: Random directions are drawn, and the best taken: so many for each one needed (and ten more).
CANDIDATES = 6
#: Singular values of unit powers below this share of the largest are rounding.
RCOND = 1e-14


def spanning_descent(state: State, goal: SymmetricTensor, rng: np.random.Generator) -> list[Segment]:
    """Segments from (a, W) to a network with tensor `goal`; only the last one changes τ, along a line."""
    trail = Trail(state)
    root = np.sqrt(coordinates.multiplicities(goal.n, goal.degree))
    _make_spanning(trail, goal.degree, root, rng)
    a, W = trail.state
    powers = coordinates.monomials(W, goal.degree)
    change = goal.entries - a @ powers
    trail.go("move a to the minimum", a=a + _combination(powers * root, change * root))
    return trail.segments


def _make_spanning(trail: Trail, degree: int, root: Array, rng: np.random.Generator) -> None:
    a, W = trail.state
    powers = coordinates.monomials(W, degree) * root
    chosen = _independent(powers)
    missing = len(root) - len(chosen)
    if not missing:
        return
    rest = np.setdiff1d(np.arange(len(a)), chosen)
    moved = np.zeros_like(a)
    moved[chosen] = _combination(powers[chosen], a @ powers)
    trail.go("write S with independent neurons", a=moved)
    fresh = _completing_directions(powers[chosen], missing, W.shape[1], degree, root, rng)
    pointed = W.copy()
    pointed[rest[:missing]] = fresh
    trail.go("point idle neurons", W=pointed)


def _unit(powers: Array) -> tuple[Array, Array]:
    """Rows scaled to length one (zero rows stay), and the lengths."""
    lengths = np.linalg.norm(powers, axis=1)
    return powers / np.where(lengths > 0, lengths, 1.0)[:, None], lengths


def _independent(powers: Array) -> Array:
    """Rows that are a well-conditioned basis of the row space, by QR with column pivoting."""
    unit, _ = _unit(powers)
    triangle, pivots = qr(unit.T, mode="r", pivoting=True)
    diagonal = np.abs(np.diag(triangle[:, : min(triangle.shape)]))
    return np.asarray(pivots[: int(np.sum(diagonal > INDEPENDENT))])


def _combination(powers: Array, goal: Array) -> Array:
    """Coefficients c with Σ cᵢ powersᵢ = goal: least squares on rows of length one."""
    unit, lengths = _unit(powers)
    solution = np.linalg.lstsq(unit.T, goal, rcond=RCOND)[0]
    return np.where(lengths > 0, solution / np.where(lengths > 0, lengths, 1.0), 0.0)


def _completing_directions(
    powers: Array, missing: int, n: int, degree: int, root: Array, rng: np.random.Generator
) -> Array:
    """Unit vectors whose powers complete the given ones to a basis, the best of several times as many."""
    candidates = rng.normal(size=(CANDIDATES * len(root) + 10, n))
    candidates /= np.linalg.norm(candidates, axis=1, keepdims=True)
    fresh = coordinates.monomials(candidates, degree) * root
    if len(powers):
        basis = np.linalg.qr(_unit(powers)[0].T)[0]
        fresh = fresh - (fresh @ basis) @ basis.T
    pivots = qr(fresh.T, mode="r", pivoting=True)[1]
    return np.asarray(candidates[pivots[:missing]])
