"""Finding 1: the turn of two neurons against Conjecture 1 of paper 003, and what is left of it.

The identity is derived in `shallows.questions.relu.rotated_pair`. What is left, for m = 1 (n = k, w̃ the teacher): the
Hessian of ½E is continuous at w̃ (Lemma 1), gᵀH(w̃)g ≥ R(g) = ¼(‖g‖² + (1−2/π)Σ‖gᵢ‖²) by Lemma 4 and Lemma 9, and R is
a positive definite form of the steps. So for every c < 1 left ≥ cR in a neighbourhood of w̃, and for c = 1 in none.
With Σ‖gᵢ‖² ≥ ‖g‖²/k that is assumption (4) of Theorem 7, with every λ < ¼ + (¼ − 1/2π)/k.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from flint import fmpq

from shallows.questions.relu.most_directions import directional_curvature, even_global_minimum
from shallows.uses.papers.claim import Trial
from shallows.uses.papers.findings.finding import finding
from shallows.uses.papers.mutations import DOUBLED, NEGATED, of_field
from shallows.uses.papers.outcome import Outcome, at_least
from shallows.uses.papers.safran.instances import relu, relu_problem
from shallows.uses.papers.safran.most_directions import turned

#: k and m at which ball arithmetic decides: outside the table that the claim of Conjecture 1 goes through.
SIZES = ((2, 1), (2, 9), (3, 6), (25, 1), (30, 2))
#: A factor below one and the length of the steps at which it is seen to be enough; a turn has 1 − 0.94ε.
FACTOR, LENGTH = 0.999, 1e-4


@finding(
    1,
    "Conjecture 1 of paper 003 is false for every k and m",
    "All k ≥ 2, m ≥ 1, d ≥ k: near w̃ = v/m the turn v₁ + εv₂, v₂ − εv₁ has left − right = "
    "−2ε³(1−2ε−ε³)/π(1+ε²)² < 0 for all 0 < ε ≤ 9/20. For m = 1 the inequality holds near w̃ with every factor c < 1 "
    "before the right side, and with c = 1 in no neighbourhood; so assumption (4) of Theorem 7 holds there, λ < ¼ + "
    "(¼−1/2π)/k.",
    basis="proved",
    known="The paper conjectures the opposite, on 18,000 random samples; a refutation is not known to us.",
    control=("the second neuron stays", {"turn": False}),
    tests={
        "shallows.relu.directional_curvature": (of_field("left", DOUBLED), of_field("right", DOUBLED)),
        "shallows.questions.relu.rotated_pair.rotated_excess": (DOUBLED, NEGATED),
    },
)
def turned_pair(trial: Trial, turn: bool = True) -> Iterator[Outcome]:
    """Five (k, m) at a random rational ε, in ball arithmetic by equations 5 to 7, beside the closed form and the
    library's two sides; for m = 1, random steps and turns of length 1e-4 against 0.999 times the right side."""
    epsilon = fmpq(int(trial.rng.integers(1, 451)), 1000)
    for k, m in SIZES:
        yield turned(k, m, k + int(trial.rng.integers(0, 3)), epsilon, turn, as_printed=False)
    for k in (2, 5):
        problem = relu_problem(k)
        centre = even_global_minimum(problem).W
        turn_of_two = np.zeros((k, k))
        turn_of_two[0, 1], turn_of_two[1, 0] = 1.0, -1.0
        for step in (turn_of_two, *(trial.rng.standard_normal((k, k)) for _ in trial.times(3, 50))):
            W = centre + LENGTH * step / np.linalg.norm(step)
            sides = directional_curvature(problem, relu(W))
            yield at_least(sides.left / sides.right, FACTOR, f"k={k}: left ≥ {FACTOR}·right")
