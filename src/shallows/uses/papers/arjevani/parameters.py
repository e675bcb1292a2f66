"""Paper 000, section 2.1: critical parameters and branch functions (Lemmas 5 and 8, Props. 6 and 7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import prod

import flint
import numpy as np

import shallows as sh
from shallows.mathematics.exact.linear_algebra import kernel
from shallows.mathematics.tensors import coordinates
from shallows.questions.geometry.ranks.branch_locus import critical_representative, in_branch_locus
from shallows.questions.geometry.ranks.generic_rank import is_singular_at, singular_form
from shallows.questions.geometry.ranks.parameterization import differential_matrix
from shallows.uses.papers.arjevani.instances import (
    gaussian_network,
    integer_network,
    random_tensor,
    with_idle,
)
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.mutations import (
    ALWAYS,
    DOUBLED,
    DROPPED,
    NEGATED,
    NEVER,
    NOTHING,
    OFF_BY_ONE,
    OPPOSITE,
    Mutation,
)
from shallows.uses.papers.outcome import Outcome, at_least, equal, fact, proof


@claim(
    "000",
    "Lemma 5",
    "For all r ≥ r_thick(d, n) and smooth ℓ: if W is critical for L = ℓ∘τ_r then τ(W) is critical for ℓ or "
    "W is critical for τ; if ℓ is convex, every local minimum of L that is not global is a critical parameter.",
    control=("a width below r_thick, at the lowest point of its stratum", {"narrower": 1}),
    tests={
        "shallows.is_critical_parameter": (OPPOSITE, NEVER, ALWAYS),
        "shallows.questions.geometry.ranks.parameterization.differential_matrix": (DOUBLED, DROPPED),
        "shallows.Problem.gradient": (DOUBLED, NEGATED),
        "shallows.chart": (Mutation("moved points", lambda chart: _moved(chart)),),
    },
)
def lemma_5(trial: Trial, narrower: int = 0) -> Iterator[Outcome]:
    """Charts at r_thick of random targets, (d, n) = (2,2), (2,3), (3,2): every critical network with ∇ℓ ≠ 0 is a
    critical parameter; random networks are not, and there ‖∇L‖ ≥ σ_min(dτ)‖∇ℓ‖ > 0 with dL = dℓ∘dτ."""
    for d, n in ((2, 2), (2, 3), (3, 2)):
        width = sh.thick_width(d, n) - narrower
        for _ in trial.times(1, 10):
            target = random_tensor(trial.rng, n, d)
            problem = sh.Problem(target, sh.Gaussian(n), width)
            what = f"d={d}, n={n}, width {width}"
            if not narrower:
                yield from _regular(problem, gaussian_network(trial.rng, width, n, d), what)
            points = [point for point in sh.chart(problem, certify=False).points if not point.limit]
            yield fact(
                any(_slope(problem, p.network) > 1e-9 for p in points), f"{what}: there are critical points"
            )
            for point in points:
                yield from _critical(problem, point.network, what)


def _moved(chart: sh.Chart) -> object:
    """Something with the chart's points, each network moved a little."""
    from types import SimpleNamespace

    moved = [
        SimpleNamespace(network=sh.Network(p.network.W + 0.1, p.network.a, p.network.activation), limit=None)
        for p in chart.points
    ]
    return SimpleNamespace(points=moved)


def _slope(problem: sh.Problem, net: sh.Network) -> float:
    """‖∇ℓ‖ on entries, over that at zero."""
    gap = net.tensor().entries - problem.target_tensor().entries
    gram = problem.gram()
    return float(np.linalg.norm(gram @ gap) / np.linalg.norm(gram @ problem.target_tensor().entries))


def _critical(problem: sh.Problem, net: sh.Network, what: str) -> Iterator[Outcome]:
    scale = float(np.linalg.norm(problem.gram() @ problem.target_tensor().entries))
    yield equal(float(np.linalg.norm(problem.gradient(net))) / scale, 1e-6, f"{what}: ∇L = 0")
    slope = _slope(problem, net)
    critical = sh.is_critical_parameter(net, tolerance=1e-6)
    yield fact(
        slope < 1e-6 or critical, f"{what}: ‖∇ℓ‖ = {slope:.2g} of that at zero, critical for τ: {critical}"
    )


def _regular(problem: sh.Problem, net: sh.Network, what: str) -> Iterator[Outcome]:
    slope = 2 * problem.gram() @ (net.tensor().entries - problem.target_tensor().entries)
    J = differential_matrix(net)
    gradient = problem.gradient(net)
    error = np.linalg.norm(gradient - slope @ J) / np.linalg.norm(gradient)
    yield equal(float(error), 1e-9, f"{what}: dL = dℓ∘dτ at a random network")
    yield fact(not sh.is_critical_parameter(net), f"{what}: a random network is no critical parameter")
    least = float(np.linalg.svd(J, compute_uv=False)[-1])
    yield at_least(
        float(np.linalg.norm(gradient)),
        0.999 * least * float(np.linalg.norm(slope)),
        f"{what}: ‖∇L‖ ≥ σ_min(dτ)‖∇ℓ‖",
    )
    yield at_least(least, 0.0, f"{what}: σ_min(dτ) > 0", strict=True)


@claim(
    "000",
    "Proposition 6",
    "Quadratic networks with r ≥ n: the functions of critical parameters are exactly the matrices of rank ≤ "
    "n − 1; so for smooth convex ℓ every local minimum of ℓ∘τ_r that is not global has rank < n.",
    control=("matrices of full rank", {"deficit": 0}),
    tests={
        "shallows.parameterization_rank": (OFF_BY_ONE, Mutation("one less", lambda rank: rank - 1)),
        "shallows.is_critical_parameter": (OPPOSITE,),
        "shallows.questions.geometry.ranks.branch_locus.in_branch_locus": (OPPOSITE,),
    },
)
def proposition_6(trial: Trial, deficit: int = 1) -> Iterator[Outcome]:
    """Random integer networks of width n + 1, n = 2, 3, 4; exact ranks of S and of dτ. Second sentence: the bad
    minima of ℓ = ‖S − T‖² with T = diag(1, …, k, −1, …) and idle neurons w = 0 of the wrong sign, of every rank
    below n, exactly."""
    for n in (2, 3, 4):
        N = coordinates.dimension(n, 2)
        for _ in trial.times(3, 20):
            net = integer_network(trial.rng, n + 1, n, 2)
            full = _integer_rank(net.tensor().to_matrix()) == n
            onto = sh.parameterization_rank(net, exact=True) == N
            yield proof(onto or not full, f"n={n}: dτ is onto over a matrix of rank n")
            low = integer_network(trial.rng, n - deficit, n, 2)
            there = with_idle(low, n + 1)
            rank = _integer_rank(low.tensor().to_matrix())
            what = f"n={n}: a matrix of rank {rank}"
            yield proof(
                sh.parameterization_rank(there, exact=True) < N, f"{what}, idle neurons: dτ is not onto"
            )
            yield proof(sh.is_critical_parameter(there, exact=True), f"{what}: a critical parameter over it")
            yield proof(in_branch_locus(low.tensor(), n + 1), f"{what}: in the branch locus")
            yield proof(
                in_branch_locus(net.tensor(), n + 1) != full, f"n={n}: rank n is outside the branch locus"
            )
        for rank in range(n):
            yield from _quadratic_trap(trial, n, rank)


def _integer_rank(S: np.ndarray) -> int:
    return int(flint.fmpz_mat(len(S), len(S), [int(x) for x in S.ravel()]).rank())


def _quadratic_trap(trial: Trial, n: int, rank: int) -> Iterator[Outcome]:
    """T = diag(1, …, rank, −1, …, −1) under Frobenius; rank neurons fit the positive part, the others have w = 0, α
    = 1.

    ∇ℓ(S) is 2 on the part of −1 and 0 elsewhere, so L(W′) − L(W) ≥ ⟨∇ℓ, S′ − S⟩ = Σ α′ᵢ D(w′ᵢ) ≥ 0 while all α′ᵢ > 0.
    """
    values = [float(i + 1) for i in range(rank)] + [-1.0] * (n - rank)
    problem = sh.Problem(np.diag(values), sh.Frobenius(n), n)
    a = np.array(values[:rank] + [1.0] * (n - rank))
    trap = sh.Network(np.diag([1.0] * rank + [0.0] * (n - rank)), a)
    base = problem.loss(trap)
    what = f"n={n}: a bad minimum of rank {rank}"
    yield proof(base == n - rank and not np.any(problem.gradient(trap)), f"{what}, loss {base:g}, critical")
    yield proof(sh.is_critical_parameter(trap, exact=True), f"{what}: a critical parameter")
    steps = trial.rng.integers(-8, 9, (50, problem.size)) / 64  # dyadic: the losses are exact
    lowest = float(problem.value(problem.pack(trap) + steps).min())
    yield proof(lowest >= base, f"{what}: 50 networks nearby are not better")


@claim(
    "000",
    "Proposition 7",
    "Two inputs, r ≥ ⌈(d+1)/2⌉: the functions of critical parameters are exactly the forms of rank ≤ ⌊d/2⌋; "
    "so for smooth convex ℓ every local minimum of ℓ∘τ_r that is not global is a network of at most ⌊d/2⌋ neurons.",
    control=("one neuron more", {"rank_of": lambda d: d // 2 + 1}),
    tests={
        "shallows.parameterization_rank": (OFF_BY_ONE, Mutation("one less", lambda rank: rank - 1)),
        "shallows.is_critical_parameter": (OPPOSITE,),
        "shallows.questions.geometry.ranks.branch_locus.in_branch_locus": (OPPOSITE,),
        "shallows.questions.geometry.ranks.branch_locus.critical_representative": (
            Mutation("other weights", lambda net: sh.Network(net.W, 2 * net.a, net.activation)),
        ),
    },
)
def proposition_7(trial: Trial, rank_of: Callable[[int], int] = lambda d: d // 2) -> Iterator[Outcome]:
    """Integer networks, d = 3 to 6, exact ranks of dτ: onto with ⌊d/2⌋ + 1 different directions; not onto, idle neurons
    added, with fewer. Second sentence: bad minima of one neuron, exactly."""
    for d in (3, 4, 5, 6):
        width, rank = (d + 2) // 2, rank_of(d)
        for _ in trial.times(2, 15):
            directions = trial.rng.permutation(9)
            spread = sh.Network([[1.0, float(v)] for v in directions[: d // 2 + 1]], activation=sh.Power(d))
            onto = sh.parameterization_rank(spread, exact=True) == d + 1
            yield proof(onto, f"d={d}: ⌊d/2⌋ + 1 directions, dτ is onto")
            few = sh.Network([[1.0, float(v)] for v in directions[:rank]], activation=sh.Power(d))
            what = f"d={d}: a form of rank {rank}"
            there = with_idle(few, max(width, rank))
            yield proof(sh.is_critical_parameter(there, exact=True), f"{what}: a critical parameter over it")
            yield proof(in_branch_locus(few.tensor(), width), f"{what}: in the branch locus")
            again = critical_representative(few.tensor(), width)
            pairs = zip(again.tensor().entries, few.tensor().entries, strict=True)
            gap = max(abs(Fraction(float(x)) - Fraction(float(y))) for x, y in pairs)
            yield proof(
                gap <= Fraction(1, 10**6) * int(np.abs(few.tensor().entries).max()),
                f"{what}: `critical_representative` computes it",
            )
    for d in (3, 4, 5, 6):
        yield from _binary_trap(trial, d)


def _binary_trap(trial: Trial, d: int) -> Iterator[Outcome]:
    """All neurons e₁ with α = 1, S = r x^d, and ℓ = ‖· − T‖²_F with T = S − D/2, D = C(d,2) x^(d−2)y², so that ∇ℓ(S)
    = D.

    L(W′) − L(W) ≥ ⟨D, S′ − S⟩ = Σ α′ᵢ D(w′ᵢ) ≥ 0 wherever all α′ᵢ and first coordinates are positive: a local minimum,
    of one neuron. It is not global: S − v^⊗d/16 with v = (1, 1) is a network of width two with less loss.
    """
    width = (d + 2) // 2
    entries = np.zeros(d + 1)
    entries[0], entries[2] = width, -0.5
    problem = sh.Problem(sh.SymmetricTensor(entries, 2, d), sh.Frobenius(2), width)
    trap = sh.Network(np.tile([1.0, 0.0], (width, 1)), np.ones(width), sh.Power(d))
    base, what = problem.loss(trap), f"d={d}: a bad minimum of one neuron"
    critical = not np.any(problem.gradient(trap)) and sh.is_critical_parameter(trap, exact=True)
    yield proof(critical and base == d * (d - 1) / 8, f"{what}, loss {base:g}, a critical parameter")
    steps = trial.rng.integers(-4, 5, (50, problem.size)) / 8  # dyadic: the losses are exact
    yield proof(
        float(problem.value(problem.pack(trap) + steps).min()) >= base, f"{what}: 50 others are not better"
    )
    spare = np.zeros((width - 2, 2))
    a = np.array([float(width), -1 / 16, *np.zeros(width - 2)])
    lower = problem.loss(sh.Network(np.vstack([[1.0, 0.0], [1.0, 1.0], spare]), a, sh.Power(d)))
    yield proof(lower < base, f"{what}: another network has loss {lower:g}")


@claim(
    "000",
    "Lemma 8",
    "If rk dτ(W) < dim Sym^d(Rⁿ), some form P ≠ 0 of degree d has ∇P(wᵢ) = 0 wherever αᵢ ≠ 0; the converse "
    "holds if wᵢ = 0 wherever αᵢ = 0. Exactly: rk dτ < dim iff some P ≠ 0 also has P(wᵢ) = 0 wherever αᵢ = 0.",
    control=("an idle neuron with w ≠ 0, for the converse", {"idle": 1.0}),
    printed=("both sentences of the paper", {"exactly": False}),
    verdict="sharpened",
    tests={
        "shallows.parameterization_rank": (OFF_BY_ONE, Mutation("one less", lambda rank: rank - 1)),
        "shallows.branch_witness": (NOTHING, Mutation("another form", lambda P: P and P * 0.0)),
    },
)
def lemma_8(trial: Trial, idle: float = 0.0, exactly: bool = True) -> Iterator[Outcome]:
    """Random integer networks, and those with a pair of parallel neurons and idle ones: exact ranks of dτ against
    the exact space of forms singular at the neurons; `branch_witness` is one of them."""
    for n, d, width in ((2, 3, 2), (2, 4, 3), (3, 3, 4), (3, 4, 5)):
        N = coordinates.dimension(n, d)
        for _ in trial.times(2, 12):
            net = integer_network(trial.rng, width, n, d)
            W, a = net.W.copy(), net.a.copy()
            W[-1] = 2 * W[0]
            if exactly:
                a[1] = trial.rng.choice([0.0, 1.0])
            for one in (sh.Network(W, a, sh.Power(d)), net):
                low = sh.parameterization_rank(one, exact=True) < N
                forms = _singular_forms(one, exactly)
                what = f"n={n}, d={d}, {int(np.sum(one.a == 0))} idle: {len(forms)} forms"
                yield proof(bool(forms) or not low, what)
                yield proof(low or not forms or not exactly, f"{what}: and the converse")
                yield from _witness(one, low, what)
    for d in (4, 6):
        points = [[1, 0], [0, 1], *([1, k + 2] for k in range(d // 2 - 2))]
        W = np.array([*points, [idle, idle]], dtype=float)
        net = sh.Network(W, np.append(np.ones(len(points)), 0.0), sh.Power(d))
        form = singular_form(np.array(points), d)
        yield proof(
            is_singular_at(form, np.array(points)), f"d={d}: {form} is singular at {d // 2} active neurons"
        )
        rank = sh.parameterization_rank(net, exact=True)
        yield proof(rank < d + 1, f"d={d}: and rk dτ = {rank} < {d + 1}")


def _witness(net: sh.Network, low: bool, what: str) -> Iterator[Outcome]:
    """`branch_witness` exists exactly where dτ is not onto, and its ∇P vanishes at the active neurons, to rounding."""
    witness = sh.branch_witness(net)
    yield proof((witness is not None) == low, f"{what}: a witness where dτ is not onto")
    if witness is not None:
        coefficients = [Fraction(float(c)) for c in witness.coefficients]
        table = coordinates.exponents(net.n, witness.degree).tolist()
        active = net.W[net.a != 0].astype(int).tolist()
        slopes = [
            sum((c * _partial(w, e, j) for c, e in zip(coefficients, table, strict=True)), Fraction(0))
            for w in active
            for j in range(net.n)
        ]
        size = max(abs(c) for c in coefficients) * int(np.abs(net.W).max()) ** (witness.degree - 1)
        vanish = max(map(abs, slopes), default=Fraction(0)) <= size / 10**9
        yield proof(size > 0 and vanish, f"{what}: it is not zero, and ∇P = 0 at the active neurons")


def _singular_forms(net: sh.Network, with_idle: bool) -> list[list[object]]:
    """A basis over Q of the forms with ∇P = 0 at active neurons and, if wanted, P = 0 at idle ones."""
    assert isinstance(net.activation, sh.Power)
    table = coordinates.exponents(net.n, net.activation.degree).tolist()
    rows = []
    for alpha, w in zip(net.a, net.W.astype(int).tolist(), strict=True):
        if alpha != 0:
            rows += [[_partial(w, e, j) for e in table] for j in range(net.n)]
        elif with_idle:
            rows.append([prod(x**k for x, k in zip(w, e, strict=True)) for e in table])
    return kernel(flint.fmpq_mat(len(rows), len(table), [x for row in rows for x in row]))


def _partial(w: list[int], exponents: list[int], j: int) -> int:
    """∂/∂x_j of x^e at w."""
    lowered = [k - (i == j) for i, k in enumerate(exponents)]
    return 0 if exponents[j] == 0 else exponents[j] * prod(x**k for x, k in zip(w, lowered, strict=True))
