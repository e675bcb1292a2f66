"""Paper 002, appendix G: activations z^p, shallow and deep polynomial-linear networks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import comb

import numpy as np

import shallows as sh
from shallows.questions.learn.deep.polynomial_linear import PolynomialRun, train_polynomial
from shallows.questions.learn.fitting.spanning_powers import spanning_directions
from shallows.support.checks import Array
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.kazemipour.deep import data, features, least_squares
from shallows.uses.papers.kazemipour.exact import exact_matrix
from shallows.uses.papers.mutations import DROPPED, Mutation, of_field
from shallows.uses.papers.outcome import Outcome, at_least, equal, proof

#: A distance to the optimum below this share of mean y² is none: what L-BFGS leaves in 5,000 iterations.
EXCESS = 1e-3
ITERATIONS = 5_000
WEIGHTS = Mutation("other weights", lambda run: replace(run, theta=1.1 * run.theta))
DIRECTIONS = "shallows.questions.learn.fitting.spanning_powers.spanning_directions"


def _forward(run: PolynomialRun, X: Array) -> Array:
    """v ↦ Λ(Qv)^p, layer by layer, written out."""
    v = X
    for Q, outer in run.network.split(run.theta):
        v = np.sum(outer[None] * ((v @ Q.T) ** run.network.power)[:, None], axis=2)
    return np.asarray(v[:, 0])


def _rank(directions: Array, p: int) -> int:
    """The exact rank of the p-th powers of integer directions."""
    table = np.rint(features(np.rint(directions), p)).astype(object)
    return int(exact_matrix([[int(x) for x in row] for row in table]).rank())


@claim(
    "002",
    "Theorem G.1",
    "Activation z^p, k = C(d+p−1, p) neurons from λ = 0, q_I = Σ e_i, γ = 0 or γ ≥ mean y²: the powers of the q_I "
    "are independent, and descent on (G.1) reaches the least-squares optimum. Its penalty cannot vanish for k > d; "
    "that of the end is the smallest found.",
    control=("one neuron fewer", {"missing": 1}),
    tests={
        DIRECTIONS: (DROPPED,),
        "shallows.learn.train_polynomial": (
            WEIGHTS,
            of_field("loss", Mutation("one more", lambda loss: loss + 1)),
        ),
    },
)
def theorem_g_1(trial: Trial, missing: int = 0) -> Iterator[Outcome]:
    """The exact rank of the powers; the end of L-BFGS from that start, without and with the penalty, run layer by
    layer, against least squares on features of degree p; and its penalty against that of neurons which descend it
    from random starts."""
    for d, p in ((2, 2), (2, 3), (3, 3)):
        directions = spanning_directions(d, p)[missing:]
        size = comb(d + p - 1, p)
        yield proof(
            _rank(directions, p) == size, f"d={d}, p={p}: {len(directions)} neurons, powers of rank {size}"
        )
        X, y = data(trial, d, 120)
        scale, (best, _) = float(np.mean(y**2)), least_squares(X, y, p)
        for gamma in (0.0, scale):
            run = train_polynomial(X, y, p, penalty=gamma, iterations=ITERATIONS, progress=False)
            loss, what = float(np.mean((y - _forward(run, X)) ** 2)), f"d={d}, p={p}, γ={gamma:.2g}"
            yield equal((loss - best) / scale, EXCESS, f"{what}: excess over least squares")
            yield equal(abs(run.loss - loss) / scale, 1e-9, f"{what}: the library's loss")
        own, lower = (
            _penalty(run.network.split(run.theta)[0][0], p),
            _lowest_penalty(trial, len(directions), d, p),
        )
        yield at_least(
            lower, own - 1e-2, f"d={d}, p={p}: penalty {own:.3f} at the end, {lower:.3f} elsewhere"
        )
        yield at_least(own, 0.1, f"d={d}, p={p}: the penalty does not vanish")


def _penalty(Q: Array, p: int) -> float:
    """‖(QQᵀ)^{∘p} − I‖², rows of Q the neurons."""
    return float(np.sum(((Q @ Q.T) ** p - np.eye(len(Q))) ** 2))


def _lowest_penalty(trial: Trial, neurons: int, d: int, p: int) -> float:
    """The lowest penalty that plain descent reaches from a few random starts of unit neurons."""
    ends = []
    for _ in range(5):
        Q = trial.rng.standard_normal((neurons, d))
        Q /= np.linalg.norm(Q, axis=1, keepdims=True)
        for _ in range(400):
            gram = Q @ Q.T
            Q = Q - 0.02 * p * (((gram**p - np.eye(neurons)) * gram ** (p - 1)) @ Q)
        ends.append(_penalty(Q, p))
    return min(ends)


@claim(
    "002",
    "Remark G.1-1",
    "p ≥ 3: k = d neurons, enough for p = 2, are not: networks of z^p with fewer neurons than the rank of the best "
    "form stay above the least-squares optimum; C(d+p−1, p) neurons always reach it.",
    control=("p = 2", {"power": 2}),
    tests={"shallows.real_rank": (Mutation("a lower rank", lambda rank: 2),), DIRECTIONS: (DROPPED,)},
)
def remark_g_1_1(trial: Trial, power: int = 3) -> Iterator[Outcome]:
    """Binary forms of real rank three and more: the best of 20 descents with k = d = 2 neurons is above the
    optimum, zero; C(p+1, p) neurons span all forms, exactly."""
    for _ in trial.times(2, 10):
        entries = np.array([1.0, 0.0, -1.0]) if power == 2 else _three_roots(trial, power)
        T = sh.SymmetricTensor(entries, 2, power)
        problem = sh.Problem(T, sh.Gaussian(2), 2)
        scale = float(problem.value(np.zeros(problem.size)))
        seed = int(trial.rng.integers(2**31))
        runs = sh.ensemble(problem, runs=20, method="lm", iterations=200, rng=seed)
        rank = sh.real_rank(T)
        least = float(runs.losses.min()) / scale
        yield at_least(float(np.min(rank)), 3, f"p={power}: a form of real rank {rank}")
        yield at_least(least, 1e-6, f"p={power}: the best of 20 runs with two neurons leaves {least:.2g}")
        size = power + 1
        yield proof(
            _rank(spanning_directions(2, power), power) == size, f"p={power}: {size} neurons span all forms"
        )


def _three_roots(trial: Trial, power: int) -> Array:
    """The entries of (x − ay)(x − by)(x − cy), three distinct real roots: real rank 3."""
    a, b, c = np.sort(trial.rng.uniform(-2, 2, 3)) + np.array([-1.0, 0.0, 1.0])
    coefficients = np.poly([a, b, c])
    return np.asarray(coefficients / np.array([comb(power, i) for i in range(power + 1)]))


@claim(
    "002",
    "Remark G.1-2",
    "With k = C(d+p−1, p) neurons q_I fixed, updating λ alone, a linear regression, reaches the global optimum.",
    control=("one neuron fewer", {"missing": 1}),
    tests={
        "shallows.learn.PolynomialNetRegressor.predict": (Mutation("a factor 2", lambda y: 2 * y),),
        "shallows.learn.PolynomialNetRegressor.network_": (
            Mutation("outer weights doubled", lambda net: sh.Network(net.W, 2 * net.a, net.activation)),
        ),
        DIRECTIONS: (DROPPED,),
    },
)
def remark_g_1_2(trial: Trial, missing: int = 0) -> Iterator[Outcome]:
    """Least squares in λ alone on (q_I·x)^p, the regressor and its network, against least squares on all
    monomials."""
    for d, p in ((2, 3), (3, 3), (3, 4)):
        X, y = data(trial, d, 120)
        scale, (best, _) = float(np.mean(y**2)), least_squares(X, y, p)
        powers = (X @ spanning_directions(d, p)[missing:].T) ** p
        powers /= np.linalg.norm(powers, axis=0)
        left = y - powers @ np.linalg.lstsq(powers, y, rcond=1e-13)[0]
        yield equal(abs(float(np.mean(left**2)) - best) / scale, 1e-8, f"d={d}, p={p}: λ alone")
        model = sh.learn.PolynomialNetRegressor(degree=p, affine=False).fit(X, y)
        for name, outputs in (("the regressor", model.predict(X)), ("its network", model.network_(X))):
            yield equal(abs(float(np.mean((y - outputs) ** 2)) - best) / scale, 1e-8, f"d={d}, p={p}: {name}")


@claim(
    "002",
    "Remark G.1-3",
    "Depth L: from the start of Theorem G.1 in every layer, a deep polynomial-linear network reaches the "
    "least-squares optimum of degree p^L, which two layers with activation z^(p^L) reach as well: depth has no "
    "advantage.",
    control=("features of degree p", {"shallow": True}),
    tests={"shallows.learn.train_polynomial": (WEIGHTS,)},
)
def remark_g_1_3(trial: Trial, shallow: bool = False) -> Iterator[Outcome]:
    """Two layers of z² by descent, run layer by layer, against least squares of degree four, and one layer of z⁴
    with its neurons fixed against the same number; outputs are homogeneous of degree four."""
    d, p, depth = 2, 2, 2
    for _ in trial.times(2, 8):
        X, y = data(trial, d, 100)
        scale, (best, _) = float(np.mean(y**2)), least_squares(X, y, p if shallow else p**depth)
        run = train_polynomial(X, y, p, depth, iterations=ITERATIONS, progress=False)
        loss = float(np.mean((y - _forward(run, X)) ** 2))
        yield equal(
            abs(loss - best) / scale, EXCESS, f"d={d}, p={p}, L={depth}: excess over degree {p**depth}"
        )
        powers = (X @ spanning_directions(d, p**depth).T) ** (p**depth)
        powers /= np.linalg.norm(powers, axis=0)
        left = y - powers @ np.linalg.lstsq(powers, y, rcond=1e-13)[0]
        yield equal(abs(float(np.mean(left**2)) - best) / scale, 1e-7, f"d={d}: one layer of z^{p**depth}")
        outputs = _forward(run, X)
        ratio = float(np.abs(_forward(run, 2 * X) - 2 ** (p**depth) * outputs).max() / np.abs(outputs).max())
        yield equal(ratio, 1e-9, f"d={d}: homogeneous of degree {p**depth}")
