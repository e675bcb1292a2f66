"""Finding 4: cubic networks with three inputs can be escaped from width 4 on, and valleys at infinity remain.

*Escape.* Let W be critical for ℓ∘τ_r, ℓ smooth and convex, and P = dℓ(τ(W)) ≠ 0. If a neuron is idle, or the powers
wᵢ^⊗d depend linearly, a neuron can be made idle without changing τ (a moves along the relation to its first zero), and
Lemma 14 of paper 000 escapes. Otherwise all wᵢ are singular points of P (Lemma 8), so r is at most the number h of
independent d-th powers among the singular points of a form. For n = 3 let R be the product of the e multiple factors
of P (by degree) and N that of its simple ones, of degree f, 2e + f ≤ d: the singular points are the curve R = 0 and at
most f(f−1)/2 points of N, and their powers span at most C(d+2,2) − C(d−e+2,2) + f(f−1)/2 dimensions; with f = d − 2e
that is convex in e, so largest at e = 0 or e = ⌊d/2⌋:

    h(d, 3) = max( d(d−1)/2 , C(d+2,2) − C(⌈d/2⌉+2,2) ),

attained by d lines and by the square of ⌊d/2⌋ lines. For d = 3 it is 4. At r = 4 and d = 3 P has a double line (a
cubic without one has at most 3 singular points), all neurons lie on it, and four neurons in a plane can be turned,
without changing τ, until one is idle (`escape.dependent_neurons`).

*A valley.* Let z be the third coordinate, wᵢ = (uᵢ, zᵢ), S_m = Σ αᵢ zᵢ^m uᵢ^⊗(3−m), and S* a tensor with S*₂ = S*₃ = 0
and S*₁ = Q positive definite. For the teacher T = S* − ½G⁻¹δ, δ = κz³, κ > 0,

    L(W) = ℓ(S*) + κ S₃ + ‖S − S*‖²_G,   ℓ(S*) = ¼δᵀG⁻¹δ > 0.

Write two pairs of neurons with |u| = 1 as angles θ ± φ, heights h ± k and weights ±(A ± η). With a = 2Ak and b = 2Aφ
a pair adds 2ηu³ + 3b u²u′ to S₀ and a u² to S₁, up to a bounded multiple of |h| + |k| + |φ|, and to S₃ exactly

    a(3h² + k²) + 2ηh(h² + 3k²).

Let N be the networks of two pairs with a ≥ a₀ > 0, |η|, |b| ≤ E, u₁ and u₂ at an angle ≥ γ, and |h|, |k|, |φ| ≤ δ₀.
If δ₀ is small, S₃ ≥ ½a₀Σ(h² + k²) > 0 in N. Where also L ≤ ℓ(S*) + ε with ε small: a₁u₁u₁ᵀ + a₂u₂u₂ᵀ is close to Q,
so that a₁ + a₂ ≈ tr Q and a₁a₂sin² ≈ det Q bound a and the angle from below; then u₁³, u₁²u₁′, u₂³, u₂²u₂′ are a basis
of the binary cubics, and S₀ ≈ S*₀ bounds η and b; Σ(h² + k²) ≤ 2ε/(a₀κ), and φ = bk/a. With a₀, γ and E at half, half
and twice what Q and S*₀ allow, such networks are inside of N and not on its boundary: {L ≤ ℓ(S*) + ε} ∩ N is open and
closed in {L ≤ ℓ(S*) + ε}. It is not empty (h = 0, k → 0), L > ℓ(S*) on it, and ℓ(S*) is its infimum. But at width 4 the
infimum is 0 for every teacher: 4 is the only typical rank of real ternary cubics (Bernardi, Blekherman, Ottaviani).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, permutations
from math import comb

import numpy as np
from flint import fmpq, fmpq_mat

import shallows as sh
from shallows.mathematics.tensors import coordinates
from shallows.model.data.base import InnerProduct
from shallows.support.checks import Array
from shallows.support.tolerances import UNIT_ROUNDOFF
from shallows.uses.papers.arjevani.landscapes import LOWER
from shallows.uses.papers.claim import Trial
from shallows.uses.papers.findings.finding import finding
from shallows.uses.papers.mutations import DOUBLED, NEGATED, of_field
from shallows.uses.papers.outcome import Outcome, at_least, equal, fact, proof

#: Widths of the critical networks (Theorem 9 of paper 000 is for 10 and more).
WIDTHS = range(4, 10)
#: Points of a path at which the loss is looked at, and roundings of a loss: so many units of its largest term.
STEPS, ROUNDING = 201, 64 * UNIT_ROUNDOFF
#: κ, and the half distance k of the pairs from which descents start; their end is at most this share above ℓ(S*)
#: (measured 2e-6 after 3,000 steps: the way to infinity is long), and k = 1e-3 is 6e-5 above it.
KAPPA, BEGIN, NEAR = 2.0, 0.02, 1e-3
#: Steps of such a descent; and sets of 20 descents from normal starts, until one reaches zero: 2 to 11 of 20 do.
ITERATIONS, BATCHES = 3_000, 10
#: A loss is zero below this share of that of the zero network.
ZERO = 1e-12


@finding(
    4,
    "Ternary cubics: every network can be escaped from width 4 on, and valleys at infinity remain",
    "n = 3, smooth convex ℓ: for d = 3 every network that is no global minimum is escapable from width 4 = r_thick on "
    "(Theorem 9: 10), for any d from 1 + max(C(d,2), C(d+2,2) − C(⌈d/2⌉+2,2)) on. Yet at width 4 the square loss has "
    "spurious valleys for some teachers: their infimum, two pairs of neurons that merge and cancel, is at infinity "
    "and > 0, the least is 0.",
    basis="proved",
    known="Theorem 9 of paper 000 (Venturi, Bandeira and Bruna) needs width 10, Theorem 11 is for n = 2; Remark 13 "
    "asks for concrete losses of this kind. That 4 is the only typical rank: Bernardi, Blekherman and Ottaviani.",
    control=("a pair of each sign, so that Q is indefinite", {"sign": -1.0}),
    tests={
        **LOWER,
        "shallows.Problem.loss": (DOUBLED, NEGATED),
        "shallows.ensemble": (of_field("losses", DOUBLED),),
    },
)  # fmt: skip
def plane_cubics(trial: Trial, sign: float = 1.0) -> Iterator[Outcome]:
    """Widths 4 to 9: a critical network of random neurons in a random plane, P = L²M (and L³), under N(0, I) and the
    Frobenius metric, and the library's way out of it; the idle place and h(d, 3) for d = 3 to 6 in rational arithmetic;
    two random teachers with a valley (full: 10): networks far out, descents from there and from elsewhere."""
    for width in WIDTHS:
        for metric, triple in ((sh.Gaussian(3), False), (sh.Frobenius(3), True)):
            yield from _escapes(*_critical(trial.rng, width, metric, triple), f"width {width}, {metric!r}")
    yield from _idle_place(trial.rng)
    for d in (3, 4, 5, 6):
        yield from _independent_powers(trial.rng, d)
    for _ in trial.times(2, 10):
        yield from _valley(trial, _Valley.draw(trial.rng, sign))


# -- escape ------------------------------------------------------------------------------------------------------


def _critical(
    rng: np.random.Generator, width: int, metric: InnerProduct, triple: bool
) -> tuple[sh.Problem, sh.Network]:
    """Neurons in a plane L = 0, and the teacher at which dℓ is 6L²(L + M), or 6L³: all of them are singular points."""
    frame = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    normal, other = frame[2], rng.standard_normal(3) * (not triple)
    net = sh.Network(rng.standard_normal((width, 2)) @ frame[:2], rng.standard_normal(width), sh.Power(3))
    lines = np.array([2 * normal + other, normal + other, other])
    cubic = sh.SymmetricTensor.from_powers(lines, np.array([1.0, -2.0, 1.0]), 3)
    return sh.Problem(_teacher(net.tensor().entries, cubic.coefficients, metric), metric, width), net


def _teacher(s: Array, delta: Array, metric: InnerProduct) -> sh.SymmetricTensor:
    """T = S − ½G⁻¹δ, so that dℓ_S = δ."""
    return sh.SymmetricTensor(s - np.linalg.solve(metric.gram(3), delta) / 2, 3, 3)


def _escapes(problem: sh.Problem, net: sh.Network, what: str) -> Iterator[Outcome]:
    """It is critical and active, and the library's path from it never rises and ends lower."""
    gram, begin = problem.data.gram(3), problem.loss(net)
    gap = net.tensor().entries - problem.target_tensor().entries
    rounding = ROUNDING * _largest(net, gram)
    yield equal(abs(begin - float(gap @ gram @ gap)), rounding, f"{what}: the loss of the residual")
    slope = float(np.abs(problem.gradient(net) * problem.pack(net)).max())
    yield equal(slope, rounding, f"{what}: it is critical")
    path = sh.explain_escape(problem, net).path
    yield fact(path is not None, f"{what}: a path")
    if path is None:
        return
    nets = path.networks(STEPS)
    losses = np.array([problem.loss(each) for each in nets])
    rounding = ROUNDING * max(_largest(each, gram) for each in nets)
    yield equal(abs(losses[0] - begin), rounding, f"{what}: it begins here")
    yield equal(float(np.diff(losses).max()), rounding, f"{what}: it never rises")
    yield at_least(begin, losses[-1] + rounding, f"{what}: from {begin:.4g} to {losses[-1]:.4g}", strict=True)


def _largest(net: sh.Network, gram: Array) -> float:
    """(Σ|α|‖w‖³)²‖G‖: what the terms of a loss add up to without cancelling."""
    return float((np.abs(net.a) @ np.linalg.norm(net.W, axis=1) ** 3) ** 2 * np.linalg.norm(gram, 2))


def _idle_place(rng: np.random.Generator) -> Iterator[Outcome]:
    """Four neurons (1, t) of a plane: where the third turns to for the fourth to be idle, exactly."""
    for _ in range(5):
        t = [int(x) for x in rng.permutation(np.arange(-9, 10))[:4]]
        a = [int(x) for x in rng.integers(1, 8, 4) * rng.choice([-1, 1], 4)]
        shares = [x * (y - t[0]) * (y - t[1]) for x, y in zip(a, t, strict=True)]
        turned = (sum(shares), sum(x * y for x, y in zip(shares, t, strict=True)))
        few = [(1, t[0]), (1, t[1]), turned]
        if any(x * v == y * u for (x, y), (u, v) in combinations(few, 2)):
            continue  # the zero is at a neuron that was kept: other two have to be kept
        rows = [[fmpq(u ** (3 - e) * v**e) for e in range(4)] for u, v in few]
        rows.append([fmpq(sum(x * y**e for x, y in zip(a, t, strict=True))) for e in range(4)])
        yield proof(
            fmpq_mat(rows).det() == 0, f"t = {t}, α = {a}: three neurons along 1, t₁, t₂ and {turned} do"
        )


def _independent_powers(rng: np.random.Generator, d: int) -> Iterator[Outcome]:
    """d lines meet in d(d−1)/2 points of independent powers; those of ⌊d/2⌋ lines have as many as h(d, 3) says."""
    slopes = [int(x) for x in rng.permutation(np.arange(-9, 10))[:d]]
    lines = [np.array([1, s, s * s], dtype=object) for s in slopes]  # no three of them meet in a point
    nodes = [np.cross(x, y) for x, y in combinations(lines, 2)]
    yield proof(_rank(nodes, d) == comb(d, 2), f"d={d}: the double points of {d} lines")
    points = [
        np.array([-s - t * s * s, 1, t], dtype=object) for s in slopes[: d // 2] for t in range(-d, d + 1)
    ]
    expected = comb(d + 2, 2) - comb(d - d // 2 + 2, 2)
    yield proof(_rank(points, d) == expected, f"d={d}: {expected} powers of points of {d // 2} lines")


def _rank(points: list[Array], d: int) -> int:
    """The number of independent d-th powers, of integer vectors."""
    rows = [
        [fmpq(int(x**i * y**j * z ** (d - i - j))) for i in range(d + 1) for j in range(d + 1 - i)]
        for x, y, z in points
    ]
    return int(fmpq_mat(rows).rank())


# -- a valley ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Valley:
    """Two pairs in a plane: their angles, and a, b, η of each."""

    theta: Array
    a: Array
    b: Array
    eta: Array

    @classmethod
    def draw(cls, rng: np.random.Generator, sign: float) -> _Valley:
        """Random, with Q positive definite, or indefinite for a negative sign."""
        theta = rng.uniform(0, np.pi) + np.array([0.0, rng.uniform(0.6, 1.4)])
        return cls(
            theta, rng.uniform(0.5, 2.0, 2) * [1, sign], rng.standard_normal(2), rng.standard_normal(2)
        )

    def network(self, k: float, h: Array) -> sh.Network:
        """The pairs at heights h ± k."""
        A = self.a / (2 * k)
        phi = self.b / (2 * A)
        W = [
            [np.cos(t + s * p), np.sin(t + s * p), up + s * k]
            for t, p, up in zip(self.theta, phi, h, strict=True) for s in (1, -1)
        ]  # fmt: skip
        return sh.Network(np.array(W), np.column_stack([A + self.eta, self.eta - A]).ravel(), sh.Power(3))

    def limit(self) -> Array:
        """S* = Σ 2ηu³ + 3u²(bu′ + az), by its entries."""
        whole = np.zeros((3, 3, 3))
        for t, a, b, eta in zip(self.theta, self.a, self.b, self.eta, strict=True):
            u = np.array([np.cos(t), np.sin(t), 0.0])
            v = 2 * eta * u + 3 * np.array([-b * np.sin(t), b * np.cos(t), a])
            whole += np.einsum("i,j,k->ijk", u, u, v)
        even = np.mean([whole.transpose(order) for order in permutations(range(3))], axis=0)
        return np.array([even[tuple(index)] for index in coordinates.indices(3, 3)])


def _valley(trial: Trial, valley: _Valley) -> Iterator[Outcome]:
    """Far out the loss is above ℓ(S*) and tends to it, descents stay there, and others reach zero."""
    delta, gram = np.zeros(10), sh.Gaussian(3).gram(3)
    delta[-1] = KAPPA
    bottom = float(delta @ np.linalg.solve(gram, delta)) / 4
    problem = sh.Problem(_teacher(valley.limit(), delta, sh.Gaussian(3)), sh.Gaussian(3), 4)
    far = [problem.loss(valley.network(k, np.zeros(2))) for k in (1e-2, 1e-3)]
    yield at_least(far[0], far[1], f"towards infinity the loss falls from {far[0]:.6g} to {far[1]:.6g}")
    yield equal(abs(far[1] / bottom - 1), NEAR, f"to ¼δᵀG⁻¹δ = {bottom:.6g}")
    nets = [
        valley.network(BEGIN * trial.rng.uniform(0.1, 1), BEGIN * trial.rng.uniform(-1, 1, 2))
        for _ in range(30)
    ]
    yield at_least(min(problem.loss(net) for net in nets), bottom, "30 networks far out are not lower")
    starts = np.array([problem.pack(net) for net in nets[:5]])
    ends = sh.ensemble(problem, 5, "lm", init=starts, rng=0, iterations=ITERATIONS)
    yield at_least(min(ends.losses), bottom * (1 - ZERO), "five descents from there do not get below")
    yield equal(max(ends.losses) / bottom - 1, NEAR, "and get close to it")
    size = float(np.abs(ends.thetas[:, 12:]).max())
    yield at_least(size, np.abs(starts[:, 12:]).max(), f"with weights up to {size:.3g}", strict=True)
    zero = problem.loss(sh.Network(np.zeros((4, 3)), np.zeros(4), sh.Power(3)))
    best = np.inf
    for _ in range(BATCHES):
        others = sh.ensemble(problem, 20, "lm", rng=trial.rng, iterations=300)
        best = min(best, float(others.losses.min()))
        if best <= ZERO * zero:
            break
    yield equal(best / zero, ZERO, "a descent from elsewhere reaches zero")
