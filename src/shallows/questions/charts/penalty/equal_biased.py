"""Two trained neurons of one outer weight beside biases, under the orthogonality penalty: pairs of two sizes.

With vᵢ = (bᵢ, wᵢ) loss and penalty are a quadratic function of (α Σ vᵢvᵢᵀ, Σ wᵢwᵢᵀ). Its critical pairs, where the
slope is not zero on the neurons, are those of case 3 in `with_bias`; a rotation makes each weight critical.
"""

from __future__ import annotations

import numpy as np

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.model.reduced_problem import identity
from shallows.questions.charts.penalty.loss import PenalisedLoss
from shallows.questions.charts.penalty.stratum import penalised_stratum
from shallows.questions.charts.penalty.students import Group, PenalisedEquations, zero_diagonal
from shallows.questions.charts.points.rows import ChartRow
from shallows.questions.charts.points.stratum import Part
from shallows.support.progress import status_line

#: Unknowns up to which a generic member is solved in seconds: two inputs, 85 pairs.
WITHIN_REACH = 6
#: The slope on neurons of equal weights is zero, so that they are critical without penalty too: as a share of G t.
PLAIN = 1e-7


def equal_pairs(problem: Problem, certify: bool, seed: int, progress: bool) -> Part[ChartRow] | None:
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
    rows, none = list[ChartRow](), PLAIN * float(np.abs(loss.gram @ loss.target).max())
    for point, family in stratum.found:
        a, V = equations.network(point.W[0])
        E = loss.slope(point.entries)
        if np.abs(V @ E).max() <= none:
            continue
        norm, s = loss.norm(point.entries), point.entries[: loss.size]
        tensor = SymmetricTensor(s + norm * identity(loss.size, 1), loss.n, 2)
        positive, zero, negative = point.signature
        seen, V = (positive + int(problem.norm_neuron), zero, negative), zero_diagonal(V, E)
        net = Network(V[:, 1:], a, problem.activation, norm, V[:, 0])
        rows.append(
            ChartRow(
                net,
                problem.loss(net),
                2,
                seen,
                "saddle",
                point.certificate,
                0 if family is None else family.dimension,
                tensor=tensor,
                family=None if family is None else (family.description, (tensor,)),
            )
        )
    return Part(rows, stratum.count, stratum.notes, stratum.completeness)
