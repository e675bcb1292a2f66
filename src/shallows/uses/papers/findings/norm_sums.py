"""Finding 7: minima of ReLU students with one neuron more than the teacher whose norm sum is larger than k.

Four students have turned around (wᵢᵢ < 0), the extra one leans on their coordinates: fixed by S₄ × S_{k−4}, so eight
numbers describe it. Descent makes them exact for each k, and Krawczyk's operator with an interval Hessian over all
(k+1)k weights proves the minimum (`sh.certify_minimum`): Σ‖wᵢ‖ of the true point is that of the doubles up to √n times
the radius.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import shallows as sh
from shallows.questions.relu.scaling import norm_sum
from shallows.support.checks import Array
from shallows.support.errors import NotConverged
from shallows.uses.papers.claim import Trial
from shallows.uses.papers.findings.finding import finding
from shallows.uses.papers.mutations import DOUBLED, NEGATED, Mutation, of_field
from shallows.uses.papers.outcome import Outcome, proof
from shallows.uses.papers.safran.instances import relu, relu_problem

#: How many neurons have turned around.
TURNED = 4
#: The least excess that counts (0.006 is measured), and the rounding of a sum of k lengths, relatively.
EXCESS, ROUNDING = 1e-6, 1e-12
#: The eight numbers at k = 15: a turned neuron on its own coordinate, on the other turned ones' and on the rest;
#: another neuron on the turned coordinates, on its own and on the rest; the extra neuron on the turned coordinates and
#: the rest.
NUMBERS = (-0.6656, 0.1675, 0.0257, 0.0619, 1.0041, -0.0025, 0.4541, -0.0874)


def beside(k: int, extra: int = 1) -> Array:
    """A network of k + extra neurons near the minimum."""
    own, turned, rest, to_turned, one, others, leaning, away = NUMBERS
    W = np.full((k + extra, k), others)
    W[:TURNED] = rest
    W[:k, :TURNED] = to_turned
    W[:TURNED, :TURNED] = turned
    np.fill_diagonal(W, one)
    W[np.arange(TURNED), np.arange(TURNED)] = own
    W[k:] = away
    W[k:, :TURNED] = leaning
    return W


@finding(
    7,
    "Norm sums exceed k with one extra neuron",
    "k orthonormal ReLU teachers, n = k + 1 students, k = 14, …, 20: there is a strict local minimum that is not "
    "global with Σ‖wᵢ‖ > k (k + 0.0071 at k = 14, k + 0.0062 at k = 20), fixed by S₄ × S_{k−4}: what Theorem 8 of "
    "paper 003 assumes of minima at n ≤ k, Σ‖wᵢ‖ ≤ k, fails at n > k.",
    basis="proved",
    known="Paper 003 finds Σ‖wᵢ‖ ≤ k at all end points with n = k up to 100 and proves Σ‖wᵢ‖ ≤ kn.",
    control=("no extra neuron", {"extra": 0}),
    tests={
        "shallows.certify_minimum": (
            of_field("radius", Mutation("one", lambda radius: 1.0)),
            of_field("loss_bounds", Mutation("the wrong sign", lambda bounds: (-bounds[1], -bounds[0]))),
        ),
        "shallows.questions.relu.scaling.norm_sum": (DOUBLED, NEGATED),
    },
)
def norm_sums(trial: Trial, extra: int = 1) -> Iterator[Outcome]:
    """k = 14 and one k up to 16 (full: all of 14 to 20): descent from eight printed numbers, a proof of the minimum in
    balls, and its norm sum with that of the radius taken off."""
    sizes = (14, int(trial.rng.integers(15, 17))) if trial.effort == "quick" else range(14, 21)
    for k in sizes:
        problem = relu_problem(k, width=k + extra)
        end = sh.descend(problem, relu(beside(k, extra)))
        try:
            minimum = sh.certify_minimum(problem, end.network)
        except NotConverged:
            yield proof(False, f"k={k}, n={k + extra}: no strict minimum is proved where descent ends")
            continue
        W = minimum.network.W
        lengths = float(np.sqrt(np.sum(W * W, axis=1)).sum())
        excess = lengths - np.sqrt(k + extra) * minimum.radius - k
        same = abs(norm_sum(minimum.network) - lengths) < ROUNDING * k
        yield proof(
            minimum.is_local and excess > EXCESS and same,
            f"k={k}, n={k + extra}: Σ‖wᵢ‖ − k ≥ {excess:.6f}, {minimum!r}",
        )
