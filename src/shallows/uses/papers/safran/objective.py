"""Paper 003, section 2 and appendix A: the objective, its Hessian, and where it is differentiable."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import shallows as sh
from shallows.support.checks import Array
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.mutations import DOUBLED, DROPPED, NEGATED
from shallows.uses.papers.outcome import Outcome, equal
from shallows.uses.papers.safran.instances import h2, half_hessian, relu, relu_problem

#: Second differences with steps of 1e-4 are right to about 1e-4 times a third derivative, and to 1e-16/1e-8.
DIFFERENCES = 2e-3


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
    "F is twice continuously differentiable at every w₁, …, w_n without a zero neuron, parallel and opposite "
    "neurons included, for all n and d ≥ k.",
    control=("a neuron that shrinks to zero", {"shrink": True}),
    tests={"shallows.Problem.hessian": (DOUBLED, NEGATED, DROPPED)},
)
def lemma_1(trial: Trial, shrink: bool = False) -> Iterator[Outcome]:
    """Hessians at points that approach one with two parallel (or opposite) neurons, from random sides, d = k and d
    > k; and the Hessian there against second differences of the loss."""
    for inputs in (3, 4):
        problem = relu_problem(3, width=4, inputs=inputs)
        for sign in (1.0, -1.0):
            for _ in trial.times(2, 15):
                W = trial.rng.standard_normal((4, inputs))
                W /= np.linalg.norm(W, axis=1, keepdims=True)
                W[1] = sign * trial.rng.uniform(0.5, 2) * W[0]
                if shrink:
                    W[1] *= 1e-9
                there = half_hessian(problem, W)
                sides = (trial.rng.standard_normal(W.shape) for _ in range(3))
                gaps = [
                    float(np.abs(half_hessian(problem, W + h * side) - there).max())
                    for h, side in zip((1e-3, 1e-5, 1e-7), sides, strict=True)
                ]
                what = f"d={inputs}, θ = {'0' if sign > 0 else 'π'}"
                yield equal(gaps[-1], 1e-5, f"{what}: the Hessian moves by {gaps[0]:.1g}, …, {gaps[-1]:.1g}")
                error = np.abs(_second_differences(problem, W.ravel()) / 2 - there).max()
                yield equal(float(error), DIFFERENCES, f"{what}: second differences")


@claim(
    "003",
    "Theorem 10",
    "At w without zero, parallel or opposite neurons the Hessian of ½E has the blocks ½I + Σ h₁(wᵢ,wⱼ) − Σ "
    "h₁(wᵢ,vⱼ) and h₂(wᵢ,wⱼ), for all n ≥ 1 and d ≥ k.",
    control=("h₁ without its last term", {"last": 0.0}),
    printed=("for equation (2), which has no ½", {"scale": 1.0}),
    tests={
        "shallows.Problem.value": (DOUBLED, NEGATED),
        "shallows.Problem.hessian": (DOUBLED, NEGATED, DROPPED),
    },
)
def theorem_10(trial: Trial, scale: float = 0.5, last: float = 1.0) -> Iterator[Outcome]:
    """Equations 5–7, written out here, against second differences of the loss and against the library's Hessian."""
    for k, d, n in ((2, 2, 3), (2, 3, 2), (3, 4, 4), (3, 3, 1)):
        for _ in trial.times(2, 10):
            problem = relu_problem(k, width=n, inputs=d)
            W = trial.rng.standard_normal((n, d))
            W *= trial.rng.uniform(0.5, 2, (n, 1)) / np.linalg.norm(W, axis=1, keepdims=True)
            formula = _hessian(W, np.eye(k, d), last)
            measured = scale * _second_differences(problem, W.ravel())
            what = f"k={k}, d={d}, n={n}"
            yield equal(float(np.abs(measured - formula).max()), DIFFERENCES, f"{what}: second differences")
            error = np.abs(scale * problem.hessian(relu(W)) - formula).max()
            yield equal(float(error), 1e-9, f"{what}: the library's Hessian")


def _hessian(W: Array, V: Array, last: float) -> Array:
    """Equations 5 to 7."""
    n, d = W.shape
    H = np.zeros((n, n, d, d))
    for i in range(n):
        H[i, i] = 0.5 * np.eye(d) - sum(_h1(W[i], v, last) for v in V)
        for j in range(n):
            if j != i:
                H[i, i] += _h1(W[i], W[j], last)
                H[i, j] = _h2(W[i], W[j])
    return H.transpose(0, 2, 1, 3).reshape(n * d, n * d)


def _h1(w: Array, v: Array, last: float) -> Array:
    theta, a, _, _, second = _angles(w, v)
    factor = np.sin(theta) * np.linalg.norm(v) / (2 * np.pi * np.linalg.norm(w))
    return np.asarray(factor * (np.eye(len(w)) - np.outer(a, a) + last * np.outer(second, second)))


def _h2(w: Array, v: Array) -> Array:
    theta, a, b, first, second = _angles(w, v)
    return ((np.pi - theta) * np.eye(len(w)) + np.outer(first, b) + np.outer(second, a)) / (2 * np.pi)


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
    "For every u ≠ 0 in R^d, h₂(w, v) tends to ½I as w and v tend to u.",
    control=("v tends to −u", {"sign": -1.0}),
    printed=("equation (8): h₂ = ½I + n̄v̄ᵀ + n̄w̄ᵀ", {"as_printed": True}),
    tests={"shallows.Problem.hessian": (DOUBLED, NEGATED)},
)
def lemma_2(trial: Trial, sign: float = 1.0, as_printed: bool = False) -> Iterator[Outcome]:
    """The library's blocks along sequences, and at generic points against equation 8 with its 1/2π."""
    for d in (2, 3, 5):
        for _ in trial.times(2, 15):
            u = trial.rng.standard_normal(d)
            u *= trial.rng.uniform(0.5, 2) / np.linalg.norm(u)
            p, q = trial.rng.standard_normal((2, d))
            gaps = [
                float(np.abs(h2(u + t * p, sign * (u + t * q)) - np.eye(d) / 2).max())
                for t in (1e-2, 1e-4, 1e-6)
            ]
            yield equal(
                gaps[-1], 1e-4, f"d={d}: distances {gaps[0]:.1g}, {gaps[1]:.1g}, {gaps[2]:.1g} from ½I"
            )
            w, v = trial.rng.standard_normal((2, d))
            _, a, b, first, second = _angles(w, v)
            terms = np.outer(first, b) + np.outer(second, a)
            formula = np.eye(d) / 2 + terms if as_printed else _h2(w, v)
            yield equal(float(np.abs(h2(w, v) - formula).max()), 1e-7, f"d={d}: equation 8 at generic w, v")


@claim(
    "003",
    "Lemma 3",
    "Continuous functions R^d → R that differ somewhere have a positive expected squared difference under N(0, I).",
    control=("the same function, written differently", {"same": True}),
    tests={"shallows.Problem.loss": (DOUBLED, NEGATED)},
)
def lemma_3(trial: Trial, same: bool = False) -> Iterator[Outcome]:
    """ReLU networks that differ by one small neuron w, whose squared difference is ‖w‖²/2, by the exact loss."""
    for k, d in ((2, 2), (4, 4), (3, 5)):
        problem = relu_problem(k, width=k + 1, inputs=d)
        for _ in trial.times(4, 30):
            small = 1e-3 * trial.rng.standard_normal(d)
            W = np.vstack([np.eye(k, d), small])
            if same:
                W = relu(np.eye(k, d)).split(0, float(trial.rng.uniform(0.1, 0.9))).W
            expected = float(small @ small) / 2
            yield equal(
                abs(problem.loss(relu(W)) / expected - 1), 1e-6, f"k={k}, d={d}: the loss is ‖w‖²/2 > 0"
            )
