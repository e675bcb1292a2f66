"""Finding 5: bad minima at every width, for every degree, under standard normal data.

Let ℓ(S) = (s − t)ᵀG(s − t), and D(u) = dℓ_S(u^⊗d) = Σ_I δ_I u^I, δ = 2G(s − t). For every network (α′, W′) of any
width,

    L(W′) − ℓ(S) = Σⱼ α′ⱼ D(w′ⱼ) − dℓ_S(S) + (s′ − s)ᵀG(s′ − s).

Take S = e₁^⊗d and the teacher t = s − ½G⁻¹δ with D(u) = κu₁^{d−2}(u₂² + … + u_n²), κ > 0, d, n ≥ 2. Then dℓ_S(S) =
D(e₁) = 0, and L(W′) ≥ ℓ(S) wherever all α′ⱼ ≥ 0 and, for odd d, all first coordinates of w′ⱼ are ≥ 0: an open cone of
networks, of every width, in which ℓ(S) = ¼δᵀG⁻¹δ > 0 is the minimum. It is attained by all networks of neurons cⱼe₁,
cⱼ > 0, with Σ αⱼcⱼ^d = 1, αⱼ > 0, which lie inside of it: these are local minima. The teacher is a tensor, so at width
dim Sym^d the least loss is 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement, product
from math import factorial, prod

import numpy as np
from flint import fmpq, fmpq_mat

import shallows as sh
from shallows.uses.papers.claim import Trial
from shallows.uses.papers.findings.finding import finding
from shallows.uses.papers.mutations import DOUBLED, Mutation
from shallows.uses.papers.outcome import Outcome, at_least, proof

#: d and n of the instances, and the widths.
SIZES, WIDTHS = ((2, 3), (3, 2), (3, 3), (4, 2), (5, 2)), (1, 2, 5, 20)
#: The library's losses and gradients against the rational ones, relatively.
CLOSE = 1e-10
#: Where descent ends against the bad minimum, relatively: it stops at a gradient of 1e-12, and the loss is quadratic.
SAME_LOSS = 1e-6


@finding(
    5,
    "Bad minima at every width and degree under Gaussian data",
    "x ~ N(0, I), all d, n ≥ 2: for the teacher T = e₁^⊗d − ½G⁻¹δ, δ the form κu₁^{d−2}(u₂²+…+u_n²), κ > 0, every "
    "network of neurons along +e₁ with α > 0 and sum e₁^⊗d is a local minimum of loss ¼δᵀG⁻¹δ > 0, at every width r "
    "≥ 1, and none with all α ≥ 0 (d odd: and all w₁ ≥ 0) is lower, while width dim Sym^d reaches 0.",
    basis="proved",
    known="Even degrees have traps at W = 0 (Example 15 of paper 000). That odd degrees have bad minima of active "
    "neurons at every width, and under normal data, is not in the papers; all of them are escapable from dim Sym^d "
    "on (Theorem 9).",
    control=("a network of loss zero, outside the cone", {"outside": True}),
    tests={
        "shallows.Problem.loss": (DOUBLED,),
        "shallows.Problem.gradient": (Mutation("one more", lambda slope: slope + 1),),
    },
)
def bad_cone(trial: Trial, outside: bool = False) -> Iterator[Outcome]:
    """Five (d, n), widths 1, 2, 5 and 20, in rational arithmetic: random networks of the cone are not lower, the
    identity behind it, a network of loss zero; the library's loss and gradient at the minima; and descents from
    beside them end at the same loss."""
    for d, n in SIZES:
        case = _Case(d, n)
        what = f"d={d}, n={n}"
        full = case.interpolating(trial.rng)
        yield proof(case.loss(*full) == 0, f"{what}: {len(full[0])} neurons have loss 0")
        if outside:
            yield _above(case, full, what)
        for width in WIDTHS:
            for _ in trial.times(2, 20):
                W = [[fmpq(int(x), 8) for x in row] for row in trial.rng.integers(-20, 21, (width, n))]
                W = [[abs(row[0]), *row[1:]] for row in W]
                a = [fmpq(int(x), 16) for x in trial.rng.integers(0, 17, width)]
                yield _above(case, (a, W), f"{what}, width {width}")
            yield _stationary(trial, case, width, f"{what}, width {width}")
    yield _descent(trial, _Case(3, 2), 5)


class _Case:
    """The teacher, the metric and the bad minimum, as rationals."""

    def __init__(self, d: int, n: int) -> None:
        self.d, self.n = d, n
        self.powers = [
            tuple(chosen.count(i) for i in range(n)) for chosen in combinations_with_replacement(range(n), d)
        ]
        times = [factorial(d) // prod(map(factorial, p)) for p in self.powers]
        entries = [
            fmpq(s * t * prod(_normal_moment(x + y) for x, y in zip(p, q, strict=True)))
            for (p, s), (q, t) in product(zip(self.powers, times, strict=True), repeat=2)
        ]
        size, kappa = len(self.powers), _normal_moment(2 * d)
        self.gram = fmpq_mat(size, size, entries)
        self.delta = fmpq_mat(size, 1, [fmpq(kappa * int(p[0] == d - 2 and 2 in p[1:])) for p in self.powers])
        self.s = fmpq_mat(size, 1, [fmpq(int(p[0] == d)) for p in self.powers])
        self.t = self.s - self.gram.solve(self.delta) * fmpq(1, 2)
        self.bottom = self.energy(self.s - self.t)

    def energy(self, gap: fmpq_mat) -> fmpq:
        """gapᵀ G gap."""
        return (gap.transpose() * self.gram * gap)[0, 0]

    def tensor(self, a: list[fmpq], W: list[list[fmpq]]) -> fmpq_mat:
        """Σ αⱼ wⱼ^I, by its entries."""
        return fmpq_mat(len(self.powers), 1, [
            sum((x * prod((c**e for c, e in zip(w, p, strict=True)), start=fmpq(1)) for x, w in zip(a, W, strict=True)),
                fmpq(0))
            for p in self.powers
        ])  # fmt: skip

    def loss(self, a: list[fmpq], W: list[list[fmpq]]) -> fmpq:
        """L."""
        return self.energy(self.tensor(a, W) - self.t)

    def interpolating(self, rng: np.random.Generator) -> tuple[list[fmpq], list[list[fmpq]]]:
        """dim Sym^d neurons with small integer weights and the teacher's tensor."""
        while True:
            W = [[fmpq(int(x)) for x in row] for row in rng.integers(-4, 5, (len(self.powers), self.n))]
            columns = [self.tensor([fmpq(1)], [w]).entries() for w in W]
            table = fmpq_mat(columns).transpose()
            if table.rank() == len(W):
                return table.solve(self.t).entries(), W

    def problem(self, width: int) -> sh.Problem:
        """The same in the library."""
        entries = [float(x.p) / float(x.q) for x in self.t.entries()]
        return sh.Problem(sh.SymmetricTensor(np.array(entries), self.n, self.d), sh.Gaussian(self.n), width)


def _normal_moment(power: int) -> int:
    return 0 if power % 2 else prod(range(1, power, 2))


def _above(case: _Case, net: tuple[list[fmpq], list[list[fmpq]]], what: str) -> Outcome:
    """L(W′) ≥ ℓ(S), and the identity."""
    a, W = net
    found, s = case.loss(a, W), case.tensor(a, W)
    slope = sum((x * y for x, y in zip(case.delta.entries(), s.entries(), strict=True)), fmpq(0))
    same = found - case.bottom == slope + case.energy(s - case.s)
    return proof(
        same and found >= case.bottom > 0, f"{what}: L = {float(found):.4g}, at S {float(case.bottom):.4g}"
    )


def _stationary(trial: Trial, case: _Case, width: int, what: str) -> Outcome:
    """The library at neurons cⱼe₁ that share S among them."""
    shares, sizes = trial.rng.dirichlet(np.ones(width)), trial.rng.uniform(0.5, 2, width)
    W = np.zeros((width, case.n))
    W[:, 0] = sizes
    net, problem = sh.Network(W, shares / sizes**case.d, sh.Power(case.d)), case.problem(width)
    bottom = float(case.bottom.p) / float(case.bottom.q)
    slope = float(np.abs(problem.gradient(net)).max()) / problem.loss(
        sh.Network(0 * W, net.a, net.activation)
    )
    right = abs(problem.loss(net) - bottom) < CLOSE * (bottom + _normal_moment(2 * case.d)) and slope < CLOSE
    return proof(
        right, f"{what}: the library has loss {problem.loss(net):.6g} and gradient {slope:.1e} there"
    )


def _descent(trial: Trial, case: _Case, width: int) -> Outcome:
    """From a network beside a minimum descent goes back to its loss, and not below."""
    W = np.zeros((width, case.n))
    W[:, 0] = 1.0
    net = sh.Network(
        W + 0.02 * trial.rng.standard_normal(W.shape), np.full(width, 1 / width), sh.Power(case.d)
    )
    end = sh.descend(case.problem(width), net, method="lbfgs")
    bottom = float(case.bottom.p) / float(case.bottom.q)
    return at_least(
        SAME_LOSS, abs(end.loss / bottom - 1), f"width {width}: descent from beside ends at {end.loss:.6g}"
    )
