"""Finding 10: the critical points αI + β11ᵀ of the ReLU problem: four for every k, and what the fourth is.

`one_angle` has the count, `turned_spectrum` the Hessian of the one whose neurons have turned round. Both are proved for
all k at once: s = 1/√(k−1) runs through an interval, as a ball. What is left by k: the minimum for k = 6 to `LAST` at
the numbers s themselves, where its margin is small (0.003 at k = 6), and beyond for all s in [0, `TAIL`].

Limits: at τ = 2, sin t = sin 2s and h = −cos 2s − s sin 2s = −1 + ⅔s⁴ + …, so with u = 1 + πs² and up to O(s⁶), A = u +
⅔πs⁴ and B = u + (2 − ⅔π)s⁴ + (8/3)s⁵; τ − 2 = O(s²) changes B²/A by O(s⁶). Hence L = (k/2πs²)(u − B²/A) =
(1/2πs⁴)((2π − 4)s⁴ − (16/3)s⁵ + O(s⁶)), and ½L = ½ − 1/π − (4/3π)s + O(s²).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import pi, sqrt
from typing import Any

import numpy as np
from flint import arb

import shallows as sh
from shallows.mathematics.balls.systems import precision
from shallows.support.checks import Array
from shallows.support.errors import NotConverged
from shallows.uses.papers.claim import Trial
from shallows.uses.papers.findings.finding import finding
from shallows.uses.papers.findings.one_angle import BITS, balanced, critical_angles
from shallows.uses.papers.findings.turned_spectrum import Form, Spectrum, enclosed_tau, is_minimum, spectrum
from shallows.uses.papers.mutations import DOUBLED, DROPPED, NEGATED, Mutation, of_field
from shallows.uses.papers.outcome import Outcome, equal, proof
from shallows.uses.papers.safran.instances import relu, relu_problem

#: Four zeros of F once round: minimum, saddle, minimum, saddle.
FOUR = "+d-u+d-u+"
#: Intervals of s in [0, 1] for the count: 12 suffice.
INTERVALS = 16
#: The smallest k with a minimum, and the last k that is decided by itself.
SMALLEST, LAST = 6, 40
#: More than 1/√(LAST − 1) = 0.1602.
TAIL = 0.165
#: Closed forms and library agree to this, relative to the loss at zero: roundings are 1e-15 of that.
ROUNDING = 1e-11
#: Eigenvalues, relative to the largest (about k/2): the ball of τ has radius 1e-6, its middle is right to 1e-15.
TAU_ROUNDING = 1e-9
#: Gradients at chart points, whose weights are right to 1e-13.
FLAT = 1e-9


@finding(
    10,
    "Exactly four critical points αI + β11ᵀ for every k",
    "k orthonormal ReLU teachers, k students, every k ≥ 2: exactly four networks αI + β11ᵀ without zero rows are "
    "critical: the teacher, two with equal rows (saddles), and one more: the other order of the teacher for k = 2, a "
    "saddle for k = 3, 4, 5, a strict local minimum for every k ≥ 6, −I + (2/k)11ᵀ to leading order, with ½E = ½ − 1/π "
    "− (4/3π)/√k + O(1/k).",
    basis="proved",
    known="Arjevani and Field (arXiv 2003.10576) have families of critical points with isotropy S_k as power series in "
    "k^(−1/2) for large k, and that some have a positive limit of the loss. That there are no others, and the minimum "
    "at every k ≥ 6, are ours.",
    control=("a strict local minimum for every k ≥ 5", {"smallest": 5}),
    tests={
        "shallows.relu.symmetric_chart": (of_field("symmetric", DROPPED),),
        "shallows.Problem.loss": (DOUBLED, NEGATED),
        "shallows.Problem.gradient": (Mutation("one more", lambda slope: slope + 1),),
    },
)
def four_points(trial: Trial, smallest: int = SMALLEST) -> Iterator[Outcome]:
    """Random networks: the closed form against the loss. The library's list at a random k up to 60: four points, flat,
    with the closed form's spectrum. Then in balls: four zeros for all s in [0, 1], k = 3, 4, 5 saddles, and the minimum
    for k = 6 to 40 and for all larger k."""
    for _ in trial.times(3, 50):
        yield _closed_form(int(trial.rng.integers(2, 12)), *trial.rng.uniform((0.2, -pi), (2, pi)))
    for _ in trial.times(1, 10):
        yield from _listed(int(trial.rng.integers(3, 60)))
    for low, high in pairwise(np.linspace(0, 1, INTERVALS + 1).tolist()):
        found = critical_angles(low, high)
        yield proof(found == FOUR, f"s from {low:.3f} to {high:.3f}: F goes {found} round the circle")
    for k in range(3, smallest):
        yield proof(_exterior(k) < 0, f"k={k}: a saddle, λ = {_exterior(k):.4g}")
    for k in range(smallest, LAST):
        yield proof(_is_minimum_at(k), f"k={k}: a strict minimum, λ = {_exterior(k):.4g}")
    yield proof(is_minimum(0.0, TAIL), f"all k ≥ {LAST}: a strict minimum")


def network(k: int, rho: float, t: float) -> Array:
    """Rows of length ρ at the angle t."""
    W = np.full((k, k), rho * np.sin(t) / sqrt(k - 1))
    np.fill_diagonal(W, rho * np.cos(t))
    return W


def _closed_form(k: int, rho: float, t: float) -> Outcome:
    s = 1 / sqrt(k - 1)
    with precision(BITS):
        p = balanced(arb(t), arb(s))
        A, B = float(p.A.mid()), float(p.B.mid())
    start = k / (2 * pi * s * s) * (pi * s * s + 1)
    value = start + k / (2 * pi * s * s) * (rho * rho * A - 2 * rho * B)
    error = abs(relu_problem(k).loss(relu(network(k, rho, t))) - value) / start
    return equal(error, ROUNDING, f"k={k}: the loss is (k/2πs²)(πs² + 1 + ρ²A − 2ρB)")


def turned_at(k: int) -> Spectrum:
    """The Hessian at the turned network, in balls."""
    with precision(BITS):
        s = 1 / arb(k - 1).sqrt()
        tau = enclosed_tau(s)
        if tau is None:
            raise NotConverged(f"No ball with the angle of the turned network was found at k = {k}.")
        return spectrum(tau, s)


def _listed(k: int) -> Iterator[Outcome]:
    """The library's own proof for one k, and its spectrum of the turned network against the closed forms."""
    chart = sh.relu.symmetric_chart(k, [k])
    rows = [point.rows for point in chart.symmetric]
    yield proof(rows == [k, k, 1, 1] and chart.completeness == "proved", f"k={k}: {chart!r}")
    slopes = [
        float(np.abs(relu_problem(k).gradient(point.form.network())).max()) for point in chart.symmetric
    ]
    yield equal(max(slopes), FLAT, f"k={k}: gradients at the four points")
    theirs = [value for value, _, label in chart.symmetric[1].spectrum if "trivial" not in label]
    parts = turned_at(k)
    ours = sorted([*_generalised(parts.standard, parts.lengths), *map(_middle, parts[: 2 if k > 3 else 1])])
    error = max(abs(float(x) - y) for x, y in zip(theirs, ours, strict=True))
    yield equal(error / k, TAU_ROUNDING, f"k={k}: eigenvalues {', '.join(f'{y:.4g}' for y in ours)}")


def _exterior(k: int) -> float:
    """λ₋ at one k: the end of its ball that is next to zero."""
    value = turned_at(k).exterior
    return float(value.upper() if value < 0 else value.lower())


def _is_minimum_at(k: int) -> bool:
    with precision(BITS):
        return turned_at(k).positive


def _middle(ball: Any) -> float:
    return float(ball.mid())


def _generalised(form: list[Form], lengths: list[Form]) -> list[float]:
    """Eigenvalues of one form relative to another, at the middles of balls."""
    A, N = (np.array([[_middle(x) for x in row] for row in table]) for table in (form, lengths))
    half = np.linalg.inv(np.linalg.cholesky(N))
    return [float(value) for value in np.linalg.eigvalsh(half @ A @ half.T)]
