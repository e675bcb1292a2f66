"""Paper 003, sections 3.1 to 3.3: the global minima and what is around them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from flint import arb

import shallows as sh
from shallows.mathematics.balls.definite import definite
from shallows.mathematics.balls.systems import precision
from shallows.questions.relu.global_minima import SMALLEST_EIGENVALUE, global_minimum, sample_global_minima
from shallows.questions.relu.nonconvexity import negative_curvature
from shallows.questions.relu.witnesses import witness
from shallows.support.checks import Array
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.mutations import ALWAYS, DOUBLED, DROPPED, NEGATED, NOTHING, Mutation, of_field
from shallows.uses.papers.outcome import Outcome, equal, fact, proof
from shallows.uses.papers.safran.instances import (
    BITS,
    blocks,
    box,
    curvature_ball,
    half_hessian,
    orthogonal_steps,
    relu,
    relu_balls,
    relu_problem,
)

#: Widths of teacher and student, and inputs: n = k, n > k, d = k and d > k.
SIZES = ((2, 3, 2), (2, 3, 4), (4, 4, 5), (4, 6, 4))
#: The largest ratio (distance to the form)³/loss that descents may have: the loss is 2αε³/3πα₁α₂ ≥ 0.8ε³ along the
#: flattest steps (Theorem 5), so that 10 leaves room for several of them.
FLATTEST = 10.0
#: Losses of networks with neurons of length one are right to this.
ROUNDING = 1e-14
#: The radius of the box of strong convexity: next to parallel directions ρ is known to √BOX only.
BOX = 1e-6


@claim(
    "003",
    "Theorem 1",
    "For n ≥ k, d ≥ k, w is a global minimum if and only if every wⱼ is αⱼ ≥ 0 times a teacher neuron and the αⱼ of"
    " each teacher neuron sum to one.",
    control=("a negative multiple", {"negative": True}),
    tests={
        "shallows.Problem.loss": (DOUBLED, NEGATED),
        "shallows.relu.global_minimum": (NOTHING, ALWAYS),
    },
)
def theorem_1(trial: Trial, negative: bool = False) -> Iterator[Outcome]:
    """Networks of the form have loss zero, and with one neuron scaled by 1 + t exactly (tα)²/2. Necessity: networks
    off the form have a positive loss in ball arithmetic, and descents that reach a small loss end near the form."""
    for k, n, d in SIZES:
        problem, what = relu_problem(k, width=n, inputs=d), f"k={k}, n={n}, d={d}"
        for found in sample_global_minima(problem, len(trial.times(2, 20)), trial.rng):
            W = np.array(found.network.W)
            if negative:
                W[0] *= -1
            form = global_minimum(problem, relu(W))
            yield fact(form is not None and problem.loss(relu(W)) < 1e-14, f"{what}: a network of that form")
            t = float(trial.rng.uniform(0.1, 0.5))
            W[0] *= 1 + t
            expected = (t * float(found.weights[0])) ** 2 / 2
            yield equal(abs(problem.loss(relu(W)) - expected), 1e-12, f"{what}: one neuron scaled by 1 + t")
            yield _positive(problem, found.network.W + 1e-2 * trial.rng.standard_normal((n, d)), what)
        yield from _ends(trial, problem, what)


def _positive(problem: sh.Problem, W: Array, what: str) -> Outcome:
    """A network off the form has a positive loss, and is told from the form."""
    with precision(BITS):
        loss = relu_balls(problem).loss(box(W))
    return proof(
        bool(loss > 0) and global_minimum(problem, relu(W)) is None,
        f"{what}: off the form, loss {loss.mid()}",
    )


def _ends(trial: Trial, problem: sh.Problem, what: str) -> Iterator[Outcome]:
    """Descents that reach a small loss: the distance to the form is at most (10 loss)^⅓."""
    runs = sh.ensemble(problem, runs=len(trial.times(4, 30)), rng=int(trial.rng.integers(2**31)))
    for theta, loss in zip(runs.thetas, runs.losses, strict=True):
        if loss < 1e-8:
            near = (FLATTEST * (abs(float(loss)) + ROUNDING)) ** (1 / 3)
            form = global_minimum(problem, problem.unpack(theta), tolerance=near)
            yield fact(form is not None, f"{what}: a descent that reached loss {loss:.0e}")


@claim(
    "003",
    "Theorem 2",
    "n = k, d ≥ k: the Hessian of ½E at every global minimum is at least (¼ − 1/2π)I, with equality, and ½E is "
    "strongly convex in a neighbourhood of it.",
    control=("n = k + 1", {"extra": 1}),
    tests={
        "shallows.Problem.hessian": (DOUBLED, NEGATED),
        "shallows.relu.sample_global_minima": (),
        "shallows.mathematics.balls.definite.definite": (
            Mutation("the bound doubled", lambda pair: (2 * pair[0], pair[1])),
            Mutation("the bound negative", lambda pair: (-pair[0], pair[1])),
        ),
    },
)
def theorem_2(trial: Trial, extra: int = 0) -> Iterator[Outcome]:
    """At a random permutation of the teacher, in balls: a lower bound on the eigenvalues of the Hessian that is also
    above no Rayleigh quotient, the library's smallest eigenvalue beside it; and a positive bound on a box of radius
    1e-6."""
    sizes = ((2, 2), (2, 4), (3, 3), (6, 6)) if trial.effort == "quick" else ((2, 2), (2, 4), (6, 6), (8, 9))
    for k, d in sizes:
        problem, what = relu_problem(k, width=k + extra, inputs=d), f"k={k}, d={d}"
        W = sample_global_minima(problem, 1, trial.rng)[0].network.W
        own = float(np.linalg.eigvalsh(problem.hessian(relu(W)))[0])
        close = abs(own - SMALLEST_EIGENVALUE) < 1e-12
        yield proof(close and _attained(problem, W), f"{what}: smallest eigenvalue {own / 2:.12f} of ½E")
        with precision(BITS):
            bound, _ = definite(relu_balls(problem)(box(W, BOX))[1])
        yield proof(
            0 < bound < SMALLEST_EIGENVALUE,
            f"{what}: at least {bound / 2:.4f} within {BOX:g} of it, entry by entry",
        )


def _attained(problem: sh.Problem, W: Array) -> bool:
    """Whether ½ − 1/π bounds the Hessian of E from below and is attained, each to 1e-30, in balls."""
    with precision(BITS):
        exact = arb(1) / 2 - 1 / arb.pi()
        bound, _ = definite(relu_balls(problem)(box(W))[1])
        turn = np.zeros_like(W)
        turn[0], turn[1] = W[0] + W[1], -W[0] - W[1]
        quotient = (
            curvature_ball(problem, W, turn) / 2
        )  # of ½E along a vector of square 4: that of E along a unit one
        return bool(abs(arb(bound) - exact) < arb(10) ** -12 and abs(quotient - exact) < arb(10) ** -30)


@claim(
    "003",
    "Lemma 4",
    "n = k, d ≥ k: at a global minimum the Hessian of ½E has H_ii = ½I and H_ij = ¼I + (w̄ᵢw̄ⱼᵀ + w̄ⱼw̄ᵢᵀ)/2π for i"
    " ≠ j.",
    control=("a student off the minimum", {"move": 1e-2}),
    tests={"shallows.Problem.hessian": (DOUBLED, NEGATED, DROPPED)},
)
def lemma_4(trial: Trial, move: float = 0.0) -> Iterator[Outcome]:
    """Block by block at random permutations of the teacher, in more inputs than neurons too."""
    for k, d in ((2, 2), (3, 5), (6, 6)):
        problem = relu_problem(k, inputs=d)
        W = trial.rng.permutation(np.eye(k, d)) + move * trial.rng.standard_normal((k, d))
        H = blocks(half_hessian(problem, W), k)
        for i in range(k):
            for j in range(k):
                expected = np.eye(d) / 2
                if i != j:
                    expected = np.eye(d) / 4 + (np.outer(W[i], W[j]) + np.outer(W[j], W[i])) / (2 * np.pi)
                yield equal(float(np.abs(H[i, j] - expected).max()), 1e-12, f"k={k}, d={d}: block ({i}, {j})")


@claim(
    "003",
    "Theorem 3",
    "n > k and d > 1, d ≥ k: every neighbourhood of every differentiable global minimum has a point at which the "
    "Hessian has a negative eigenvalue.",
    control=("two neurons tilted apart, along (z, z)", {"sign": 1.0}),
    tests={
        "shallows.relu.negative_curvature": (
            of_field("curvature", DOUBLED),
            of_field("curvature", NEGATED),
            of_field("predicted", DOUBLED),
            of_field("direction", DROPPED),
            of_field("distance", DOUBLED),
        )
    },
)
def theorem_3(trial: Trial, sign: float = -1.0) -> Iterator[Outcome]:
    """An explicit point at each distance from random minima, k = 1 and d > k among them: its curvature is negative in
    ball arithmetic, and agrees with the Hessian product and with the closed form."""
    for k, n, d in ((1, 2, 2), (2, 3, 2), (2, 4, 3), (5, 6, 6)):
        problem = relu_problem(k, width=n, inputs=d)
        for found in sample_global_minima(problem, len(trial.times(2, 10)), trial.rng):
            for distance in (1e-1, 1e-3, 1e-5):
                there = negative_curvature(problem, found.network, distance)
                direction = there.direction if sign < 0 else np.abs(there.direction)
                ball = 2 * curvature_ball(problem, there.network.W, direction)
                away = float(np.linalg.norm(there.network.W - found.network.W))
                agrees = (
                    abs(float(ball.mid()) / there.curvature - 1) < 1e-3
                    and abs(float(ball.mid()) / there.predicted - 1) < 1e-3
                    and abs(away - there.distance) < 1e-12
                    and away < 1.01 * distance
                )
                what = f"k={k}, n={n}, d={d}, distance {distance:g}: curvature {float(ball.mid()):.3g}"
                yield proof(bool(ball < 0) and agrees, what)


def _coefficients(problem: sh.Problem, W: Array, step: Array) -> tuple[float, float, float, float]:
    """One-point coefficients by the Hessian and by the gradient, the PŁ quotient, and the loss, at W + step."""
    net, flat = relu(W + step), step.ravel()
    slope, loss, square = problem.gradient(net), problem.loss(net), float(flat @ flat)
    hessian = float(flat @ problem.hvp(net, flat)) / square
    return hessian, float(slope @ flat) / square, 0.5 * float(slope @ slope) / loss, loss


def _minima(trial: Trial) -> Iterator[tuple[sh.Problem, sh.Network, str]]:
    """Random global minima with n > k, d = k and d > k, none of whose neurons is tiny."""
    for k, n, d in ((1, 2, 2), (2, 3, 2), (2, 3, 4), (4, 5, 4)):
        problem = relu_problem(k, width=n, inputs=d)
        V = np.eye(k, d)
        for _ in trial.times(2, 10):
            share = float(trial.rng.uniform(0.2, 0.8))
            W = trial.rng.permutation(np.vstack([share * V[:1], (1 - share) * V[:1], V[1:]]))
            yield problem, relu(W), f"k={k}, n={n}, d={d}, α={share:.2f}"


@claim(
    "003",
    "Theorem 4",
    "n > k, d ≥ max(k, 2): around no differentiable global minimum is F one-point strongly convex, by Hessian or by"
    " gradient, even in its ε-orthogonal neighbourhood, for any ε > 0.",
    control=("random orthogonal steps", {"together": False}),
    tests={
        "shallows.relu.witness": tuple(
            of_field(name, mutation)
            for name in ("hessian_coefficient", "gradient_coefficient")
            for mutation in (DOUBLED, NEGATED)
        ),
        "shallows.Problem.gradient": (DOUBLED, NEGATED),
        "shallows.Problem.hvp": (DOUBLED, NEGATED),
    },
)
def theorem_4(trial: Trial, together: bool = True) -> Iterator[Outcome]:
    """The witness w₁ + εu, w₂ − εu: with L = cε³ + O(ε⁴), c = 2α/3πα₁α₂, the two coefficients are 3cε and 3cε/2."""
    for problem, net, what in _minima(trial):
        for epsilon in (1e-2, 1e-3, 1e-4):
            found = witness(problem, net, epsilon)
            step = found.network.W - net.W if together else orthogonal_steps(trial.rng, net.W, epsilon)
            hessian, gradient, *_ = _coefficients(problem, net.W, step)
            c = found.predicted_loss / epsilon**3
            orthogonal = float(np.abs(np.sum(step * net.W, axis=1)).max())
            yield equal(orthogonal, 1e-12, f"{what}, ε={epsilon:g}: an orthogonal step")
            for name, value, own, expected in (
                ("Hessian", hessian, found.hessian_coefficient, 3 * c * epsilon),
                ("gradient", gradient, found.gradient_coefficient, 1.5 * c * epsilon),
            ):
                error = max(abs(value / expected - 1), abs(own / expected - 1))
                yield equal(error, 30 * epsilon + 1e-3, f"{what}, ε={epsilon:g}: by {name}, {value:.3g}")


@claim(
    "003",
    "Theorem 5",
    "n > k, d ≥ max(k, 2): around no differentiable global minimum does the Polyak–Łojasiewicz condition hold, even"
    " in its ε-orthogonal neighbourhood, for any ε > 0: at the witness the loss is of order ε³ and the quotient of "
    "order ε.",
    control=("random orthogonal steps", {"together": False}),
    printed=("equation 26: the loss at the witness is of order ε", {"loss_order": 1.0}),
    tests={
        "shallows.relu.witness": tuple(
            of_field(name, mutation)
            for name in ("loss", "pl_coefficient", "predicted_loss")
            for mutation in (DOUBLED, NEGATED)
        ),
        "shallows.Problem.gradient": (DOUBLED,),
        "shallows.Problem.loss": (DOUBLED, NEGATED),
    },
)
def theorem_5(trial: Trial, together: bool = True, loss_order: float = 3.0) -> Iterator[Outcome]:
    """½‖∇F‖²/F at witnesses of three sizes, and the orders of it and of F: against the library's, and F against
    2αε³/3πα₁α₂."""
    sizes = (1e-2, 1e-3, 1e-4)
    for problem, net, what in _minima(trial):
        quotients, losses = [], []
        for epsilon in sizes:
            found = witness(problem, net, epsilon)
            step = found.network.W - net.W if together else orthogonal_steps(trial.rng, net.W, epsilon)
            _, _, quotient, loss = _coefficients(problem, net.W, step)
            quotients.append(quotient)
            losses.append(loss)
            alike = max(abs(found.loss / loss - 1), abs(found.pl_coefficient / quotient - 1))
            yield equal(alike, 1e-6, f"{what}, ε={epsilon:g}: the library's witness")
            closed = abs(loss / found.predicted_loss - 1)
            yield equal(closed, 30 * epsilon, f"{what}, ε={epsilon:g}: the loss {loss:.3g}")
            along = float(problem.gradient(relu(net.W + step)) @ step.ravel()) / (3 * loss)
            yield equal(
                abs(along - 1), 30 * epsilon, f"{what}, ε={epsilon:g}: the slope along the step is 3F"
            )
        for name, values, expected in (("the quotient", quotients, 1.0), ("the loss", losses, loss_order)):
            order = float(np.polyfit(np.log(sizes), np.log(np.abs(values)), 1)[0])
            yield equal(abs(order - expected), 0.1, f"{what}: {name} falls like ε^{order:.2f}")
        bound = quotients[-1] / sizes[-1]
        alpha = np.sort(np.linalg.norm(net.W, axis=1))[0]
        yield equal(bound * alpha**2, 10.0, f"{what}: the quotient is {bound:.3g} ε")
