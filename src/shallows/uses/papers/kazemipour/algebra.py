"""Paper 002, appendix B: facts of optimisation and algebra that the proofs use."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb
from typing import Any

import numpy as np
from flint import arb, arb_mat, fmpq, fmpq_mat, fmpz_mat, fmpz_poly

import shallows as sh
from shallows.mathematics.balls.systems import precision
from shallows.support.checks import Array
from shallows.uses.papers.claim import ALGEBRA, Trial, claim
from shallows.uses.papers.kazemipour.exact import (
    diagonal,
    doubles,
    exact_matrix,
    identity,
    inner,
    integer_data,
    near,
    outer,
    reflection,
    trace,
)
from shallows.uses.papers.kazemipour.instances import samples
from shallows.uses.papers.mutations import DOUBLED, DROPPED, MISSING_POINT, NEGATED
from shallows.uses.papers.outcome import Outcome, at_least, equal, fact, proof

#: Bits of the balls in which instances are decided.
BITS = 128


def _penalty(Q: Array) -> float:
    """‖QQᵀ − I‖², by the library: the loss of a quadratic problem with a penalty less the one without."""
    d = len(Q)
    net = sh.Network(Q.T, np.zeros(Q.shape[1]))
    bare = sh.Problem(np.eye(d), sh.Gaussian(d), Q.shape[1])
    return sh.Problem(np.eye(d), sh.Gaussian(d), Q.shape[1], orthogonality=1.0).loss(net) - bare.loss(net)


def _exact_penalty(Q: Any) -> Any:
    gap = Q * Q.transpose() - identity(Q.nrows())
    return inner(gap, gap)


@claim(
    "002",
    "Lemma B.1",
    "If (x₀, y₀) is a local minimum of f(x, y), then x₀ is one of f(·, y₀).",
    control=("a saddle instead of a minimum", {"saddle": True}),
    tests={"shallows.Problem.hessian": (NEGATED,), "shallows.Problem.value": (NEGATED,)},
)
def lemma_b_1(trial: Trial, saddle: bool = False) -> Iterator[Outcome]:
    """At global minima of quadratic problems the Hessian in W alone and in a alone is positive semidefinite, and no
    move of W alone or of a alone lowers the loss."""
    for d in (2, 3):
        for _ in trial.times(2, 10):
            problem = sh.Problem(None, samples(trial.rng, d, 20), d)
            values, vectors = np.linalg.eigh(problem.target_tensor().to_matrix())
            net = sh.Network(vectors.T, values)
            if saddle:
                net = sh.Network(np.zeros((d, d)), np.array([1.0, -1.0, 1.0])[:d])
            hessian, theta, cut = problem.hessian(net), problem.pack(net), d * d
            here = float(problem.value(theta))
            for name, part in (("W", slice(0, cut)), ("a", slice(cut, None))):
                lowest = float(np.linalg.eigvalsh(hessian[part, part])[0])
                yield at_least(lowest, -1e-9 * np.abs(hessian).max(), f"d={d}: the Hessian in {name} alone")
                moves = np.zeros((50, problem.size))
                moves[:, part] = 0.1 * trial.rng.standard_normal(moves[:, part].shape)
                lower = float(problem.value(theta + moves).min())
                yield at_least(lower, here - 1e-9, f"d={d}: moves of {name} alone")


@claim(
    "002",
    "Lemma B.2",
    "An invertible affine change of variables preserves the landscape: critical points, their losses and "
    "signatures.",
    control=("target and inputs changed by different matrices", {"other": True}),
    tests={
        "shallows.chart": (MISSING_POINT,),
    },
)
def lemma_b_2(trial: Trial, other: bool = False) -> Iterator[Outcome]:
    """Inputs changed by M, with singular values between ½ and 2 (moments of nearly singular laws are refused), the
    target by M⁻ᵀ·M⁻¹: the charts of d−1 neurons have Σ_{r<d} C(d, r) points each, alike."""
    for d in (2, 3):
        for _ in trial.times(1, 6):
            left, _, right = np.linalg.svd(trial.rng.standard_normal((d, d)))
            M = (left * trial.rng.uniform(0.5, 2, d)) @ right
            values = np.sort(trial.rng.uniform(1, 3, d)) * trial.rng.choice([-1, 1], d)
            here = sh.chart(sh.Problem(np.diag(values), sh.Gaussian(d), d - 1), certify=False)
            inverse = np.linalg.inv(M + np.diag(np.arange(d)) if other else M)
            moved = sh.Problem(inverse.T @ np.diag(values) @ inverse, sh.Gaussian(d, M @ M.T), d - 1)
            there = sh.chart(moved, certify=False)
            count = sum(comb(d, r) for r in range(d))
            same = len(here.points) == len(there.points) == count
            yield fact(same, f"d={d}: {len(here.points)} and {len(there.points)} critical points of {count}")
            scale = problem_energy(values)
            for p, q in zip(here.points, there.points, strict=True):
                yield equal(abs(p.loss - q.loss) / scale, 1e-8, f"d={d}: the loss of a critical point")
                yield fact(p.signature == q.signature, f"d={d}: signature {p.signature}")


def problem_energy(values: Array) -> float:
    """E y² of xᵀdiag(values)x under N(0, I)."""
    return float(2 * np.sum(values**2) + np.sum(values) ** 2)


@claim(
    "002",
    "Lemma B.3",
    "The roots of a polynomial of degree n are continuous in its coefficients, the leading one not zero.",
    control=("the leading coefficient goes to zero", {"leading": 0}),
    tests=ALGEBRA,
)
def lemma_b_3(trial: Trial, leading: int = 1) -> Iterator[Outcome]:
    """Integer polynomials with a double root, coefficients moved by 1e-12 of their size: each root of one is within
    1e-3 of a root of the other, both isolated in balls."""
    scale = 10**12
    for degree in (3, 4, 6):
        for _ in trial.times(3, 20):
            roots = trial.rng.choice(np.arange(-6, 7), degree - 1, replace=False).tolist()
            base = fmpz_poly([scale])
            for root in (roots[0], *roots):
                base *= fmpz_poly([-root, 1])
            if not leading:
                base -= fmpz_poly([0] * degree + [int(base[degree]) - 1])
                first = _roots(fmpz_poly([int(base[i]) for i in range(degree)]))
            else:
                first = _roots(base)
                base += fmpz_poly(trial.rng.integers(-1, 2, degree + 1).tolist())
            second = _roots(base)
            far = max(min((r - t).abs_upper() for t in first) for r in second)
            yield proof(bool(far < 1e-3), f"degree {degree}: roots move by at most {float(far):.1g}")


def _roots(polynomial: Any) -> list[Any]:
    """All roots in balls, without their multiplicities."""
    return [root for root, _ in polynomial.complex_roots()]


@claim(
    "002",
    "Corollary B.1",
    "The eigenvalues of a symmetric matrix are continuous in it (Weyl: |λ(A) − λ(B)| ≤ ‖A − B‖), and the "
    "eigenvectors where eigenvalues are distinct.",
    control=("a jump of the matrix", {"jump": 1}),
    printed=("eigenvectors are continuous everywhere", {"repeated": True}),
    tests=ALGEBRA,
)
def corollary_b_1(trial: Trial, jump: int = 0, repeated: bool = False) -> Iterator[Outcome]:
    """Rational 2×2 matrices ε = 1e-8 apart, eigenvalues and the projector onto the larger one's eigenvector in
    balls, near distinct and near equal eigenvalues."""
    epsilon = fmpq(1, 10**8)
    for _ in trial.times(6, 40):
        A = identity(2) if repeated else diagonal([2, 1])
        turn = reflection(trial.rng, 2)
        E = exact_matrix(trial.rng.integers(-5, 6, (2, 2)).tolist())
        first = A + turn * diagonal([1, -1]) * turn * epsilon
        second = A + (E + E.transpose() + diagonal([1, 0])) * epsilon + diagonal([jump, 0])
        with precision(BITS):
            (low, high, top), (less, more, other) = _eigen(first), _eigen(second)
            gap = max(abs(low - less).upper(), abs(high - more).upper())
            turned = max(entry.abs_upper() for entry in (top - other).entries())
        difference = first - second
        bound = arb(inner(difference, difference)).sqrt()
        yield proof(
            bool(gap <= bound * (1 + arb(10) ** -9)) and bool(gap < 1e-6),
            f"eigenvalues move by {float(gap):.1g}",
        )
        yield proof(bool(turned < 1e-6), f"the eigenvector's projector moves by {float(turned):.1g}")


def _eigen(A: Any) -> tuple[Any, Any, Any]:
    """Both eigenvalues m ∓ ρ of a symmetric 2×2 matrix, and the projector ½(I + (A − mI)/ρ) of the larger one."""
    middle = trace(A) / 2
    rest = A - identity(2) * middle
    rho = arb(inner(rest, rest) / 2).sqrt()
    return arb(middle) - rho, arb(middle) + rho, arb_mat(identity(2)) / 2 + arb_mat(rest) / (2 * rho)


@claim(
    "002",
    "Lemma B.4",
    "rank Q = r implies ‖QQᵀ − I‖² ≥ d − r, with equality for orthogonal projectors; Q of any number of columns.",
    control=("Q of full rank", {"deficit": 0}),
    tests={"shallows.Problem.loss": (DOUBLED, NEGATED)},
)
def lemma_b_4(trial: Trial, deficit: int = 1) -> Iterator[Outcome]:
    """Integer Q of lower rank and rational projectors, in exact arithmetic, the library's penalty beside it."""
    for d in (2, 4, 6):
        for missing in range(1, d):
            for _ in trial.times(1, 10):
                r = d - missing
                Q = fmpq_mat(
                    fmpz_mat(trial.rng.integers(-2, 3, (d, r)).tolist())
                    * fmpz_mat(trial.rng.integers(-2, 3, (r, d)).tolist())
                )
                turn = reflection(trial.rng, d)
                P = turn * diagonal([int(i < r) for i in range(d)]) * turn
                if not deficit:
                    Q, P = identity(d), identity(d)
                for matrix, what, tight in ((Q, "an integer matrix", False), (P, "a projector", True)):
                    exact = _exact_penalty(matrix)
                    holds = exact == missing if tight else exact >= missing
                    yield proof(
                        holds and near(_penalty(doubles(matrix)), exact),
                        f"d={d}, rank ≤ {r}: {what}, {float(doubles(fmpq_mat([[exact]]))[0, 0]):.3g}",
                    )


@claim(
    "002",
    "Lemma B.5",
    "Every stationary point of ‖QQᵀ − I‖² has QQᵀ = I or a direction of negative curvature; the second derivative "
    "along V is 4(‖QVᵀ‖² + ‖QᵀV‖² + tr(QVᵀQVᵀ) − ‖V‖²).",
    control=("curvature ≥ 0 claimed at rank-deficient points", {"claim_minimum": True}),
    printed=("(B.1): it is a multiple of ‖QVᵀ‖² + 2(Q•V)² − ‖V‖²", {"as_printed": True}),
    tests={"shallows.Problem.gradient": (DOUBLED, NEGATED), "shallows.Problem.hvp": (DOUBLED, NEGATED)},
)
def lemma_b_5(trial: Trial, claim_minimum: bool = False, as_printed: bool = False) -> Iterator[Outcome]:
    """Rational partial isometries of every rank: the gradient 4(QQᵀ−I)Q vanishes exactly and V = uvᵀ, Qv = Qᵀu = 0,
    curves down; the form at random V against the t² coefficient of the penalty, exactly, and against the
    library's."""
    for d in (2, 3, 4):
        for rank in range(d + 1):
            left, right = reflection(trial.rng, d), reflection(trial.rng, d)
            Q = left * diagonal([int(i < rank) for i in range(d)]) * right
            slope = (Q * Q.transpose() - identity(d)) * Q
            yield proof(not any(slope.entries()), f"d={d}, rank {rank}: stationary")
            if rank < d:
                down = (
                    left
                    * outer([int(i == d - 1) for i in range(d)], [int(i == d - 1) for i in range(d)])
                    * right
                )
                value = _second_derivative(Q, down)
                yield proof(
                    value >= 0 if claim_minimum else value < 0, f"d={d}, rank {rank}: curvature {value}"
                )
        R = exact_matrix(trial.rng.integers(-3, 4, (d, d)).tolist())
        V = exact_matrix(trial.rng.integers(-3, 4, (d, d)).tolist())
        yield _form(R, V, as_printed)


def _second_derivative(Q: Any, V: Any) -> Any:
    """Twice the t² coefficient of ‖(Q+tV)(Q+tV)ᵀ − I‖², a quartic: from its values at t = 0, ±1, ±2."""
    at = {t: _exact_penalty(Q + V * t) for t in (-2, -1, 0, 1, 2)}
    return (16 * (at[1] + at[-1]) - (at[2] + at[-2]) - 30 * at[0]) / 12


def _form(Q: Any, V: Any, as_printed: bool) -> Outcome:
    """The quadratic form of (B.1) at a random point, and the library's gradient and Hessian product there."""
    d = Q.nrows()
    A, B = Q * V.transpose(), Q.transpose() * V
    if as_printed:
        formula = inner(A, A) + 2 * inner(Q, V) ** 2 - inner(V, V)
    else:
        formula = inner(A, A) + inner(B, B) + trace(A * A) - inner(V, V)
    exact = _second_derivative(Q, V)
    problems = [sh.Problem(np.eye(d), sh.Gaussian(d), d, orthogonality=gamma) for gamma in (1.0, 0.0)]
    net, flat = sh.Network(doubles(Q).T, np.zeros(d)), np.append(doubles(V).T.ravel(), np.zeros(d))
    curve = [float(flat @ problem.hvp(net, flat)) for problem in problems]
    slopes = [problem.gradient(net)[: d * d] for problem in problems]
    gradient = (Q * Q.transpose() - identity(d)) * Q * 4
    own = near(curve[0] - curve[1], exact) and near((slopes[0] - slopes[1]).reshape(d, d).T, gradient)
    return proof(
        own and exact == 4 * formula, f"d={d}: the second derivative is {exact}, 4 times the form {formula}"
    )


@claim(
    "002",
    "Lemma B.6",
    "Products of invertible linear maps of R^d preserve the ratio of the volumes of any two measurable sets.",
    control=("a map that is not linear", {"bend": 1}),
    tests=ALGEBRA,
)
def lemma_b_6(trial: Trial, bend: int = 0) -> Iterator[Outcome]:
    """Volumes of two boxes with integer sides and of their images under a product of integer maps, by
    determinants."""
    for d in (2, 3, 5):
        for _ in trial.times(5, 40):
            first, second = (trial.rng.integers(1, 9, d).tolist() for _ in range(2))
            maps = [_invertible(trial, d) for _ in range(3)]
            images = []
            for sides in (first, second):
                edges = diagonal(sides)
                for A in maps:
                    edges = A * edges
                    edges += fmpq_mat(d, d, [bend * x * x for x in edges.entries()])
                images.append(abs(edges.det()))
            volumes = [fmpq(int(np.prod(sides))) for sides in (first, second)]
            yield proof(images[0] * volumes[1] == images[1] * volumes[0], f"d={d}: the ratio of two volumes")


def _invertible(trial: Trial, d: int) -> Any:
    """Integer entries, a large diagonal."""
    return exact_matrix((trial.rng.integers(-1, 2, (d, d)) + 2 * d * np.eye(d, dtype=int)).tolist())


@claim(
    "002",
    "Lemma B.7",
    "min ‖y − A_θx‖² with η‖A_θ‖² < 1 for all θ: a step of descent maps x by the invertible map x ↦ (I − ηA_θᵀA_θ)x"
    " + ηA_θᵀy, whatever θ does, so that preimages of null sets are null sets.",
    control=("a step with η‖A‖² = 1 on one neuron", {"scale": 1}),
    tests={"shallows.Problem.gradient": (DOUBLED, NEGATED, DROPPED)},
)
def lemma_b_7(trial: Trial, scale: int = 2) -> Iterator[Outcome]:
    """x the outer weights, θ the inner ones, integer data: A has the entries (wⱼ·xₙ)²; det(I − ηAᵀA) > 0 exactly with
    η = 1/(scale·tr AᵀA), and the library's gradient step maps outer weights by exactly that map."""
    for d in (2, 3):
        width = 1 if scale == 1 else d
        data = integer_data(trial.rng, d, 12)
        problem = sh.Problem(None, data.samples, width)
        for _ in trial.times(3, 20):
            W = trial.rng.integers(1, 4, (width, d)) * trial.rng.choice([-1, 1], (width, d))
            a = trial.rng.integers(-3, 4, width)
            A = exact_matrix(((data.X @ W.T) ** 2).tolist())
            gram = A.transpose() * A
            eta = 1 / (scale * trace(gram))
            step = identity(width) - gram * eta
            column = exact_matrix([[int(x)] for x in a])
            moved = step * column + A.transpose() * exact_matrix([[int(x)] for x in data.y]) * eta
            slope = problem.gradient(sh.Network(W.astype(float), a.astype(float)))[width * d :]
            rate = len(data.y) * float(doubles(fmpq_mat([[eta]]))[0, 0]) / 2  # the loss is a mean of squares
            own = (a - rate * slope)[:, None]
            yield proof(
                step.det() > 0 and near(own, moved),
                f"d={d}: det(I − ηAᵀA) = {float(doubles(fmpq_mat([[step.det()]]))[0, 0]):.3g}",
            )
