"""Lemma 14 of paper 000 as a path: an idle neuron, or one of two parallel neurons, is spent to lower the loss.

Of two parallel neurons one takes over the other's term, aⱼ + t aᵢ cᵈ and (1−t)aᵢ with w fixed, and the other is idle.
An idle neuron (a = 0) may point anywhere; pointed to v with dℓ(v^⊗d) ≠ 0, its a moves to the minimum of the convex
function s ↦ ℓ(S + s v^⊗d).
"""

from __future__ import annotations

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.questions.geometry.escape.convex_losses import Landscape
from shallows.questions.geometry.paths import Trail
from shallows.support.checks import Array

#: Unit neurons closer than this are parallel; aligning them moves τ by at most d times this share of a term.
PARALLEL = 1e-9
#: Of the shifted power method for the steepest direction, and how many random starts it gets: a good one is enough.
POWER_STEPS, STARTS = 60, 32


def free_a_neuron(trail: Trail, degree: int, tolerance: float = PARALLEL) -> int | None:
    """Make one neuron idle (a = 0) without changing τ and return its row; None when Lemma 14 does not apply."""
    a, W = trail.state
    lengths = np.linalg.norm(W, axis=1)
    asleep = np.flatnonzero((a == 0.0) | (lengths == 0.0))
    if len(asleep):
        row = int(asleep[0])
        rested = a.copy()
        rested[row] = 0.0
        trail.go("let an idle neuron rest", a=rested)
        return row
    pair = parallel_pair(W, tolerance)
    if pair is None:
        return None
    i, j = pair
    ratio = float(W[i] @ W[j] / (W[j] @ W[j]))
    aligned = W.copy()
    aligned[i] = ratio * W[j]
    trail.go("align two neurons", W=aligned)
    merged = a.copy()
    merged[j] += a[i] * ratio**degree
    merged[i] = 0.0
    trail.go("merge two parallel neurons", a=merged)
    return i


def rest_smallest_neuron(trail: Trail, degree: int, landscape: Landscape, tolerance: float) -> int | None:
    """Make the neuron with the smallest term idle, if that is at most `tolerance` of the largest; return its row.

    Its a first moves to the minimum of the convex function of a alone. If that is far from zero the loss has fallen and
    the neuron is not idle (None); else its slope in a is zero and taking a to zero costs only the square of the term.
    """
    a, W = trail.state
    terms = np.abs(a) * np.linalg.norm(W, axis=1) ** degree
    row = int(np.argmin(terms))
    if len(a) < 2 or terms[row] > tolerance * np.max(terms) or not np.any(W[row]):
        return None
    power = SymmetricTensor.from_powers(W[row : row + 1], np.ones(1), degree)
    best = a.copy()
    best[row] += landscape.best_step(SymmetricTensor.from_powers(W, a, degree), power)
    trail.go("settle the smallest neuron", a=best)
    if np.abs(best[row]) * np.linalg.norm(W[row]) ** degree > tolerance * np.max(terms):
        return None
    rested = best.copy()
    rested[row] = 0.0
    trail.go("let the smallest neuron rest", a=rested)
    return row


def parallel_pair(W: Array, tolerance: float = PARALLEL) -> tuple[int, int] | None:
    """The two most parallel rows i, j, ‖wᵢ‖ ≤ ‖wⱼ‖, if the sine of their angle is at most `tolerance`."""
    if len(W) < 2:
        return None
    unit = W / np.linalg.norm(W, axis=1, keepdims=True)
    sums = np.linalg.norm(unit[:, None] + unit[None], axis=2)
    differences = np.linalg.norm(unit[:, None] - unit[None], axis=2)
    sines = np.minimum(sums, differences)
    np.fill_diagonal(sines, np.inf)
    i, j = (int(k) for k in np.unravel_index(np.argmin(sines), sines.shape))
    if sines[i, j] > tolerance:
        return None
    return (i, j) if np.linalg.norm(W[i]) <= np.linalg.norm(W[j]) else (j, i)


def spend_idle_neuron(
    trail: Trail, row: int, degree: int, landscape: Landscape, rng: np.random.Generator
) -> None:
    """Point the idle neuron where the loss falls fastest, and move its a to the minimum along that direction."""
    a, W = trail.state
    tensor = SymmetricTensor.from_powers(W, a, degree)
    v = steepest_direction(landscape.gradient(tensor), rng)
    pointed = W.copy()
    pointed[row] = v
    trail.go("point the idle neuron", W=pointed)
    spent = a.copy()
    spent[row] = landscape.best_step(tensor, SymmetricTensor.from_powers(v[None], np.ones(1), degree))
    trail.go("raise its weight", a=spent)


def steepest_direction(form: SymmetricTensor, rng: np.random.Generator) -> Array:
    """A unit vector with |Γ(v)| large: the top eigenvector for d = 2, a shifted power method from many starts else."""
    if form.degree == 2:
        values, vectors = np.linalg.eigh(form.to_matrix())
        return np.asarray(vectors[:, int(np.argmax(np.abs(values)))])
    if form.degree == 1:
        return np.asarray(form.entries / np.linalg.norm(form.entries))
    V = np.vstack([np.eye(form.n), rng.normal(size=(STARTS, form.n))])
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    signs = np.where(form(V) < 0, -1.0, 1.0)
    slopes = coordinates.gradient_matrix(form.coefficients, form.n, form.degree)
    shift = (form.degree - 1) * float(np.sqrt(np.sum(form.coefficients * form.entries)))
    for _ in range(POWER_STEPS):
        step = signs[:, None] * (coordinates.monomials(V, form.degree - 1) @ slopes) / form.degree
        V = step + shift * V
        V /= np.linalg.norm(V, axis=1, keepdims=True)
    return np.asarray(V[int(np.argmax(np.abs(form(V))))])
