"""Which critical sums of neurons are real networks, and what is proved about each of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from shallows.mathematics.balls.arrays import Ball
from shallows.mathematics.balls.certification import certify
from shallows.mathematics.balls.krawczyk import CertifiedRoot
from shallows.mathematics.signature import signature
from shallows.questions.charts.continuation.equations import Complex
from shallows.questions.charts.neurons.balls import NeuronSystem
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.points.point import Certificate
from shallows.questions.charts.points.proved_signature import (
    distances,
    real_balls,
    signs_at_once,
    with_proofs,
)
from shallows.questions.charts.points.stratum import POINT_ERROR, REAL
from shallows.support.checks import Array
from shallows.support.progress import Shown


@dataclass(frozen=True)
class NeuronPoint:
    """A real critical network Σ aᵢ ψ(wᵢ): its function's coordinates and its signature on the stratum."""

    W: Array
    a: Array
    entries: Array
    signature: tuple[int, int, int]
    certificate: Certificate | None = None
    limit: bool = False

    @property
    def rank(self) -> int:
        """The number of neurons."""
        return len(self.W)


@dataclass
class SortedNeurons:
    """Real networks; how many other functions are real, and how many points nothing is proved about."""

    found: list[NeuronPoint] = field(default_factory=list)
    paired: int = 0
    undecided: int = 0
    proved: int = 0


def sort_neurons(
    system: NeuronSystem, points: Complex, certify_points: bool, tell: Shown = False
) -> SortedNeurons:
    """Real networks apart from the rest, with certificates when `certify_points`."""
    result, equations = SortedNeurons(), system.equations
    turned = [_real(equations, x) for x in points]
    real = np.array([x for x in turned if x is not None]).reshape(-1, equations.unknowns)
    rest = points[[x is None for x in turned]]
    if len(rest):
        functions = equations.tensors(rest)
        size = np.abs(functions).max(axis=1)
        result.paired = int(np.count_nonzero(np.abs(functions.imag).max(axis=1) < REAL * size))
        if certify_points:
            result.proved += certify(system, rest, progress=tell).count
    if not len(real):
        return result
    if not certify_points:
        result.found = [seen_point(system, x) for x in real]
        return result
    proof = certify(system, real.astype(np.complex128), progress=tell)
    roots = [root for root in proof.roots if root is not None and root.real is True]
    open_ones = [
        x for x, root in zip(real, proof.roots, strict=True) if root is None or root.real is not True
    ]
    result.undecided, result.proved = len(open_ones), result.proved + proof.count
    result.found = [seen_point(system, x) for x in open_ones] + _certified(system, roots)
    return result


def _real(equations: NeuronEquations, x: Complex) -> Array | None:
    """The same network in real numbers: each neuron is turned by a root of unity; None when there is none."""
    A, W = equations.split(x)
    parts = []
    for a, w in zip(A, W, strict=True):
        best = None
        for zeta in equations.turns.tolist():
            b, v = a * zeta**-equations.neuron.lowest, w * zeta
            off = max(_imaginary(v), _imaginary(b))
            if off <= REAL and (best is None or off < best[0]):
                best = off, b.real, v.real
        if best is None:
            return None
        parts.append(best[1:])
    return equations.join(np.array([p[0] for p in parts]), np.array([p[1] for p in parts])).real


def _imaginary(values: Complex) -> float:
    """The largest imaginary part, relative to the largest entry."""
    size = float(np.abs(values).max())
    return float(np.abs(values.imag).max()) / size if size else 0.0


def seen_point(system: NeuronSystem, x: Array, error: float = POINT_ERROR) -> NeuronPoint:
    """A real point, known up to an error, with its signature, nothing proved."""
    equations = system.equations
    A, W = equations.split(x.astype(np.complex128))
    seen = signature(np.linalg.eigvalsh(half_hessian(system, x)), error)
    entries = equations.tensors(x[None].astype(np.complex128))[0].real
    return NeuronPoint(W.real, A[:, 0].real, entries, seen)


def half_hessian(system: NeuronSystem, x: Array) -> Array:
    """Half the Hessian of the loss at a real point: the middle of the Jacobian at a box without width."""
    jacobian = system.ball_batch()(Ball.exact(x[None]))[1].mid[0]
    return np.asarray((jacobian + jacobian.T) / 2)


def _certified(system: NeuronSystem, roots: list[CertifiedRoot]) -> list[NeuronPoint]:
    """The points of proved real roots: signatures, and radii of the functions' coordinates, all at once."""
    if not roots:
        return []
    batch, box = system.ball_batch(), real_balls(roots)
    points = [seen_point(system, root.point.real) for root in roots]
    ranks = [_rank_is_proved(system.equations, list(root.box)) for root in roots]
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is not proved
        hessians = signs_at_once(batch(box)[1], roots, system.inertia)
        radii = distances(np.array([p.entries for p in points]), batch.tensors(box))
    return with_proofs(points, hessians, radii, ranks)


def _rank_is_proved(equations: NeuronEquations, box: list[Any]) -> bool:
    """Whether no outer weight is zero and no two neurons are one, nor one turned into the other, over the box."""
    own, lead = equations.lead + equations.neuron.n, equations.lead
    if lead and any(box[i * own].contains(0) for i in range(equations.r)):
        return False
    turned = (1, -1) if equations.neuron.turns % 2 == 0 else (1,)
    for i, j in combinations(range(equations.r), 2):
        pairs = [(box[i * own + lead + x], box[j * own + lead + x]) for x in range(own - lead)]
        if any(all((p - q * sign).contains(0) for p, q in pairs) for sign in turned):
            return False
    return True
