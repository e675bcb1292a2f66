"""Paper 003, section 2 and appendix A: the objective, its Hessian, and where it is differentiable."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import shallows as sh
from shallows.support.checks import Array
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.outcome import Outcome, at_least, equal
from shallows.uses.papers.safran.instances import h2, half_hessian, relu, relu_problem


def _angles(w: Array, v: Array) -> tuple[float, Array, Array, Array, Array]:
    """θ, w̄, v̄ and the unit vectors n̄_{w,v}, n̄_{v,w} of Theorem 10."""
    a, b = w / np.linalg.norm(w), v / np.linalg.norm(v)
    c = float(a @ b)
    first, second = a - c * b, b - c * a
    theta = float(np.arctan2(np.linalg.norm(first), c))
    return theta, a, b, first / np.linalg.norm(first), second / np.linalg.norm(second)


@claim(
    "003",
    "Lemma 1",
    "F is twice continuously differentiable wherever no neuron is zero, parallel neurons included.",
    control=("a neuron that shrinks to zero", {"shrink": True}),
)
def lemma_1(trial: Trial, shrink: bool = False) -> Iterator[Outcome]:
    """Hessians at points that approach one with two parallel (or opposite) neurons, from random sides."""
    problem = relu_problem(3, width=4)
    for sign in (1.0, -1.0):
        for _ in trial.times(3, 20):
            W = trial.rng.standard_normal((4, 3))
            W[1] = sign * trial.rng.uniform(0.5, 2) * W[0]
            if shrink:
                W[1] *= 1e-9
            there = half_hessian(problem, W)
            gaps = [
                float(np.abs(half_hessian(problem, W + h * trial.rng.standard_normal((4, 3))) - there).max())
                for h in (1e-3, 1e-5, 1e-7)
            ]
            yield equal(
                gaps[-1],
                1e-5,
                f"θ = {'0' if sign > 0 else 'π'}: the Hessian moves by {gaps[0]:.1g}, …, {gaps[-1]:.1g}",
            )


@claim(
    "003",
    "Theorem 10",
    "The Hessian of ½E has blocks ½I + Σ h₁(wᵢ,wⱼ) − Σ h₁(wᵢ,vⱼ) and h₂(wᵢ,wⱼ).",
    control=("h₁ without its last term", {"last": 0.0}),
    printed=("for equation (2), which has no ½", {"scale": 1.0}),
)
def theorem_10(trial: Trial, scale: float = 0.5, last: float = 1.0) -> Iterator[Outcome]:
    """Equations 5–7 against second differences of the loss, which came from its own closed form."""
    for k, d, n in ((2, 2, 3), (2, 3, 2), (3, 4, 4)):
        for _ in trial.times(2, 10):
            problem = relu_problem(k, width=n, inputs=d)
            W, V = trial.rng.standard_normal((n, d)), np.eye(k, d)
            H = np.zeros((n, n, d, d))
            for i in range(n):
                H[i, i] = 0.5 * np.eye(d) - sum(_h1(W[i], v, last) for v in V)
                H[i, i] += sum(_h1(W[i], W[j], last) for j in range(n) if j != i)
                for j in range(n):
                    if j != i:
                        theta, a, b, first, second = _angles(W[i], W[j])
                        H[i, j] = ((np.pi - theta) * np.eye(d) + np.outer(first, b) + np.outer(second, a)) / (
                            2 * np.pi
                        )
            formula = H.transpose(0, 2, 1, 3).reshape(n * d, n * d)
            measured = scale * _second_differences(problem, W.ravel())
            yield equal(
                float(np.abs(measured - formula).max()), 2e-5, f"k={k}, d={d}, n={n}: second differences"
            )


def _h1(w: Array, v: Array, last: float) -> Array:
    theta, a, _, _, second = _angles(w, v)
    factor = np.sin(theta) * np.linalg.norm(v) / (2 * np.pi * np.linalg.norm(w))
    return np.asarray(factor * (np.eye(len(w)) - np.outer(a, a) + last * np.outer(second, second)))


def _second_differences(problem: sh.Problem, theta: Array, h: float = 1e-4) -> Array:
    steps = h * np.eye(len(theta))
    shifts = [theta + s * p + t * q for p in steps for q in steps for s in (1, -1) for t in (1, -1)]
    values = problem.value(np.array(shifts)).reshape(len(theta), len(theta), 2, 2)
    return np.asarray(
        (values[..., 0, 0] - values[..., 0, 1] - values[..., 1, 0] + values[..., 1, 1]) / (4 * h * h)
    )


@claim(
    "003",
    "Lemma 2",
    "h₂(w, v) tends to ½I as w and v tend to the same u ≠ 0.",
    control=("v tends to −u", {"sign": -1.0}),
    printed=("equation (8): h₂ = ½I + n̄v̄ᵀ + n̄w̄ᵀ", {"as_printed": True}),
)
def lemma_2(trial: Trial, sign: float = 1.0, as_printed: bool = False) -> Iterator[Outcome]:
    """The library's blocks along sequences; and equation 8 as printed at generic points."""
    for d in (2, 3, 5):
        for _ in trial.times(2, 15):
            u = trial.rng.standard_normal(d)
            p, q = trial.rng.standard_normal((2, d))
            gaps = [
                float(np.abs(h2(u + t * p, sign * (u + t * q)) - np.eye(d) / 2).max())
                for t in (1e-2, 1e-4, 1e-6)
            ]
            yield equal(
                gaps[-1], 1e-5, f"d={d}: distances {gaps[0]:.1g}, {gaps[1]:.1g}, {gaps[2]:.1g} from ½I"
            )
            w, v = trial.rng.standard_normal((2, d))
            theta, a, b, first, second = _angles(w, v)
            terms = np.outer(first, b) + np.outer(second, a)
            formula = (
                np.eye(d) / 2 + terms if as_printed else ((np.pi - theta) * np.eye(d) + terms) / (2 * np.pi)
            )
            yield equal(float(np.abs(h2(w, v) - formula).max()), 1e-9, f"d={d}: equation 8 at generic w, v")


@claim(
    "003",
    "Lemma 3",
    "Continuous functions that differ somewhere have a positive expected squared difference.",
    control=("the same function, written differently", {"same": True}),
)
def lemma_3(trial: Trial, same: bool = False) -> Iterator[Outcome]:
    """Exact losses of ReLU networks that differ by one small neuron, or by a split that changes nothing."""
    for k in (2, 4):
        problem = relu_problem(k, width=k + 1)
        for _ in trial.times(4, 30):
            small = 1e-3 * trial.rng.standard_normal(k)
            W = np.vstack([np.eye(k), small])
            if same:
                W = relu(np.eye(k)).split(0, float(trial.rng.uniform(0.1, 0.9))).W
            yield at_least(
                problem.loss(relu(W)),
                1e-12,
                f"k={k}: the loss of a network that differs by a small neuron",
                strict=True,
            )
