"""A neuron becomes idle without changing τ although no two are parallel: what Lemma 14 of paper 000 needs, and more.

*Dependent powers.* If Σ cᵢ wᵢ^⊗d = 0, then τ does not change along a + s·c, and for the first s at which an entry is
zero that neuron is idle. So a network that cannot be escaped has independent powers, and its neurons are singular
points of the form P = dℓ (Lemma 8): there are at most as many as powers of singular points of one form can be
independent.

*d + 1 neurons in a plane.* Their powers are a basis of Sym^d of the plane. For S = Σ bᵢ u(θᵢ)^⊗d, u = (cos, sin),

    bᵢ = Ŝ(θⱼ : j ≠ i) / Πⱼ sin(θᵢ − θⱼ),   Ŝ(φ₁, …, φ_d) = Σᵢ bᵢ Πⱼ sin(θᵢ − φⱼ),

and Ŝ depends on S alone. It is symmetric, and linear in each u(φⱼ): for d − 1 given directions it has a zero in the
last one, and not always at one of those given (else Ŝ(φ₁, φ₁, φ₂, …) = 0 everywhere, and S = 0). So there are d + 1
directions, in any cyclic order, with one bᵢ = 0, and the neurons turn there without meeting: τ stays, the bᵢ are
finite, and a neuron is idle at the end.

For n = d = 3 these two and Lemma 14 free a neuron at every critical point of width 4 or more that is not a global
minimum (Finding 4): a plane cubic with four singular points has a double line, and all of them are on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.tensors import coordinates
from shallows.questions.geometry.paths import Segment, State, Trail
from shallows.support.checks import Array

#: Unit powers are dependent when their least singular value is below this, unit neurons in a plane when their third
#: one is: either moves τ by that share of a term, some hundred roundings.
DEPENDENT = 1e-13
#: Sets of random directions that are tried besides those of the network, and points of a turn at which its largest
#: term is looked at: the turn with the smallest one is taken.
DRAWS, LOOKS = 24, 21
#: Directions closer than this share of their mean distance are not turned to: the terms grow with the inverse.
APART = 0.05


def free_by_relation(trail: Trail, degree: int) -> int | None:
    """Move a along a relation of the powers to its first zero, and return the idle neuron; None if there is none."""
    a, W = trail.state
    lengths = np.linalg.norm(W, axis=1)
    root = np.sqrt(coordinates.multiplicities(W.shape[1], degree))
    powers = coordinates.monomials(W / lengths[:, None], degree) * root
    left, values, _ = np.linalg.svd(powers)
    if len(a) <= len(root) and values[-1] > DEPENDENT:
        return None
    relation = left[:, -1] / lengths**degree
    steps = np.divide(a, relation, out=np.full(len(a), np.inf), where=relation != 0)
    row = int(np.argmin(np.abs(steps)))
    freed = a - steps[row] * relation
    freed[row] = 0.0
    trail.go("move a along a relation of the powers", a=freed)
    return row


def free_by_turning(trail: Trail, degree: int, rng: np.random.Generator) -> int | None:
    """Turn d + 1 neurons of one plane until a term vanishes, and return that neuron; None if they are not such."""
    a, W = trail.state
    lengths = np.linalg.norm(W, axis=1)
    if len(a) != degree + 1 or degree < 2:
        return None
    _, values, axes = np.linalg.svd(W / lengths[:, None], full_matrices=False)
    if len(values) > 2 and values[2] > DEPENDENT:
        return None
    plane = axes[:2]
    angles = np.arctan2(W @ plane[1], W @ plane[0])
    b = a * lengths**degree
    target = b @ _powers(angles, degree)
    best: tuple[float, Turn] | None = None
    for goal, row in _goals(angles, b, rng):
        turn = Turn(trail.state, plane, angles, goal, target, row)
        peak = max(float(np.abs(turn.terms(t)).max()) for t in np.linspace(0, 1, LOOKS))
        if best is None or peak < best[0]:
            best = peak, turn
    if best is None:
        return None
    trail.add(best[1])
    return best[1].row


def _powers(angles: Array, degree: int) -> Array:
    """The rows u(θ)^⊗d, as monomials."""
    return coordinates.monomials(np.column_stack([np.cos(angles), np.sin(angles)]), degree)


def _goals(angles: Array, b: Array, rng: np.random.Generator) -> Iterator[tuple[Array, int]]:
    """Directions in the neurons' cyclic order (as angles beside theirs) with a vanishing term, and whose it is."""
    count = len(angles)
    order = np.argsort(np.mod(angles, np.pi))
    lines = np.mod(angles, np.pi)[order]
    kept = [np.array(few) for few in combinations(lines, count - 2)]
    kept += [np.sort(rng.uniform(0, np.pi, count - 2)) for _ in range(DRAWS)]
    for few in kept:
        full = np.sort(np.append(few, _last_zero(few, angles, b)))
        gaps = np.diff(np.append(full, full[0] + np.pi))
        widest = int(np.argmax(gaps))
        spare = full[widest] + gaps[widest] / 2
        if min(gaps.min(), gaps[widest] / 2) < APART * np.pi / count:
            continue
        goal = np.sort(np.append(full, spare))
        where = int(np.argmin(np.abs(goal - spare)))
        for shift in range(-count, count):
            turned = np.array(
                [goal[(k + shift) % count] + np.pi * ((k + shift) // count) for k in range(count)]
            )
            beside = np.empty(count)
            beside[order] = angles[order] + turned - lines
            yield beside, int(order[(where - shift) % count])


def _last_zero(few: Array, angles: Array, b: Array) -> float:
    """The line θ with Ŝ(few, θ) = 0: that of the vector Σ bᵢ Πⱼ sin(θᵢ − fewⱼ) u(θᵢ)."""
    shares = b * np.prod(np.sin(angles[:, None] - few), axis=1)
    return float(np.mod(np.arctan2(shares @ np.sin(angles), shares @ np.cos(angles)), np.pi))


@dataclass(frozen=True, eq=False, repr=False)
class Turn(Segment):
    """Neurons of a plane turn from `angles` to `goal`, linearly; the outer weights keep τ, and `row` ends idle."""

    start: State
    plane: Array
    angles: Array
    goal: Array
    target: Array
    row: int
    label: str = "turn neurons of a plane"

    def terms(self, t: float) -> NDArray[np.float64]:
        """The bᵢ at t."""
        powers = _powers((1 - t) * self.angles + t * self.goal, len(self.angles) - 1)
        return np.asarray(np.linalg.solve(powers.T, self.target))

    def at(self, t: float) -> State:
        """The parameters at t; the start is met exactly."""
        if t == 0:
            return self.start
        angles = (1 - t) * self.angles + t * self.goal
        lengths = np.linalg.norm(self.start[1], axis=1)
        a = self.terms(t) / lengths ** (len(angles) - 1)
        if t == 1:
            a[self.row] = 0.0
        return a, lengths[:, None] * (np.column_stack([np.cos(angles), np.sin(angles)]) @ self.plane)

    @property
    def end(self) -> State:  # type: ignore[override]
        """Where `row` is idle."""
        return self.at(1.0)
