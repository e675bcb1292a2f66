"""Two trained neurons of one outer weight beside biases, under the orthogonality penalty: pairs of two sizes.

With vᵢ = (bᵢ, wᵢ) loss and penalty are a quadratic function of (α Σ vᵢvᵢᵀ, Σ wᵢwᵢᵀ). Its critical pairs, where the
slope is not zero on the neurons, are those of case 3 in `with_bias`; a rotation makes each weight critical.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.problem import Problem
from shallows.model.reduced_problem import identity
from shallows.questions.charts.penalty.loss import PenalisedLoss
from shallows.questions.charts.penalty.stratum import penalised_stratum
from shallows.questions.charts.penalty.students import Group, PenalisedEquations, zero_diagonal
from shallows.questions.charts.points.point import Certificate
from shallows.support.checks import Array
from shallows.support.progress import status_line

#: Unknowns up to which a generic member is solved in seconds: two inputs, 85 pairs.
WITHIN_REACH = 6
#: The slope on neurons of equal weights is zero, so that they are critical without penalty too: as a share of G t.
PLAIN = 1e-7


@dataclass(frozen=True, eq=False)
class EqualPair:
    """Outer weights, neurons (b, w), the norm neuron's weight, and what is known of a critical pair."""

    a: Array
    V: Array
    norm: float
    tensor: SymmetricTensor
    signature: tuple[int, int, int]
    certificate: Certificate | None
    dimension: int
    description: str


@dataclass(frozen=True, eq=False)
class EqualPairs:
    """All of them, how many there are over C, and how completely they are known."""

    rows: list[EqualPair]
    count: int
    notes: list[str]
    completeness: str


def equal_pairs(problem: Problem, certify: bool, seed: int, progress: bool) -> EqualPairs | None:
    """Critical networks of two neurons with one weight; None where there may be others, or they are out of reach.

    For samples only: laws with symmetries have fewer pairs, and the paths to the others creep to infinity.
    """
    equations = PenalisedEquations.of(problem.n + 1, (Group(None, 2),), 1)
    if problem.width != 2 or equations.unknowns > WITHIN_REACH or problem.data.as_samples() is None:
        return None
    loss = PenalisedLoss.of(problem)
    with status_line(f"{equations!r}", progress) as tell:
        stratum = penalised_stratum(loss, equations, certify, seed, tell, patient=False)
    if stratum.completeness == "sampled":
        return None
    placed = [(point, 0, "") for point in stratum.found]
    placed += [(family.point, family.dimension, family.description) for family in stratum.families]
    rows, none = list[EqualPair](), PLAIN * float(np.abs(loss.gram @ loss.target).max())
    for point, dimension, text in placed:
        a, V = equations.network(point.W[0])
        E = loss.slope(point.entries)
        if np.abs(V @ E).max() <= none:
            continue
        norm, s = loss.norm(point.entries), point.entries[: loss.size]
        tensor = SymmetricTensor(s + norm * identity(loss.size, 1), loss.n, 2)
        positive, zero, negative = point.signature
        seen = (positive + int(problem.norm_neuron), zero, negative)
        rows.append(EqualPair(a, zero_diagonal(V, E), norm, tensor, seen, point.certificate, dimension, text))
    return EqualPairs(rows, stratum.count, stratum.notes, stratum.completeness)
