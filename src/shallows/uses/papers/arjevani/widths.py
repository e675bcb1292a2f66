"""Paper 000, section 2.1: widths, identifiability, and which cubics two neurons compute."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import ceil, comb

import numpy as np

import shallows as sh
from shallows.questions.geometry.ranks.generic_rank import generic_rank
from shallows.uses.papers.arjevani.instances import gaussian_network
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.mutations import (
    ALWAYS,
    DOUBLED,
    NEVER,
    NOTHING,
    OFF_BY_ONE,
    OPPOSITE,
    Mutation,
    of_field,
)
from shallows.uses.papers.outcome import Outcome, equal, fact, proof

#: A fit of a function with E f² = 1 is exact below this loss; descent goes on until the gradient is as short as this.
EXACT, STATIONARY = 1e-20, 1e-13
#: Labels of order one are fitted when no prediction is farther off than this.
FITTED = 1e-6
EXCEPTIONS = ((4, 3), (4, 4), (4, 5), (3, 5))
PRINTED_UNIDENTIFIABLE = ((6, 3, 9), (4, 4, 8), (3, 6, 9))
DEFECTIVE = ((4, 3, 5), (4, 4, 9), (4, 5, 14), (3, 5, 7))
#: Filling widths that are theorems: the spectral theorem, and binary forms (Example 2).
FILLING = {(2, n): n for n in range(2, 7)} | {(d, 2): d for d in range(3, 7)}


@claim(
    "000",
    "Theorem 1",
    "r_thick(2, n) = r_fill(2, n) = n for all n; r_thick(d, n) = ⌈C(n+d−1, d)/n⌉ for all d ≥ 3 and n ≥ 2, one more for "
    "(d, n) = (4,3), (4,4), (4,5), (3,5); r_fill ≤ 2 r_thick for all (d, n).",
    control=("no exceptions", {"exceptions": ()}),
    printed=("r_thick(2, n) = r_fill(2, n) = d = 2", {"quadratic": lambda n: 2}),
    tests={
        "shallows.thick_width": (OFF_BY_ONE, DOUBLED),
        "shallows.filling_width": (
            Mutation("an upper bound one too large", lambda found: (found[0], found[1] + 1)),
            Mutation("a lower bound one too large", lambda found: (found[0] + 1, found[1] + 1)),
            Mutation("no bounds", lambda found: (1, 10**6)),
        ),
        "shallows.questions.geometry.ranks.generic_rank.generic_rank": (
            of_field("lower", Mutation("one less", lambda rank: rank - 1)),
            of_field("upper", OFF_BY_ONE),
        ),
    },
)
def theorem_1(
    trial: Trial,
    quadratic: Callable[[int], int] = lambda n: n,
    exceptions: tuple[tuple[int, int], ...] = EXCEPTIONS,
) -> Iterator[Outcome]:
    """All d, n from 2 to 5 (full: 6): the rank of dτ at an integer network, modulo a prime, and a form that is singular
    at all neurons of any narrower one; widths that are theorems; the library's bounds of r_fill."""
    largest = 5 if trial.effort == "quick" else 6
    for d in range(2, largest + 1):
        for n in range(2, largest + 1):
            N = comb(n + d - 1, d)
            width = quadratic(n) if d == 2 else ceil(N / n) + ((d, n) in exceptions)
            full, below = generic_rank(d, n, width), generic_rank(d, n, max(width - 1, 1))
            yield proof(
                full.lower == N and below.upper < N and sh.thick_width(d, n) == width,
                f"d={d}, n={n}: dim F_{width} = {full.lower} of {N}, dim F_{width - 1} ≤ {below.upper}",
            )
            lower, upper = sh.filling_width(d, n)
            known = FILLING.get((d, n))
            what = f"d={d}, n={n}: {lower} ≤ r_fill ≤ {upper} ≤ 2·{width}"
            yield proof(width <= lower <= upper <= 2 * width and known in (None, lower), what)
            yield proof(known is None or lower == upper, f"{what}: it is known")


def _cubics(rng: np.random.Generator) -> Iterator[tuple[str, int]]:
    """Binary cubics as text, with the number of distinct real roots on the projective line."""
    a, b, c = (Fraction(int(v), 7) for v in rng.choice(np.arange(-30, 31), 3, replace=False))
    s = Fraction(int(rng.integers(1, 30)), 5)
    yield f"(x - ({a})*y)*(x^2 + ({s})*y^2)", 1
    yield f"y*(x^2 + ({s})*y^2)", 1
    yield f"(x - ({a})*y)^3", 1
    yield f"(x - ({a})*y)^2*(x - ({b})*y)", 2
    yield f"(x - ({a})*y)*(x - ({b})*y)*(x - ({c})*y)", 3


@claim(
    "000",
    "Example 2",
    "Two inputs: for all d ≥ 3, r_thick(d, 2) = ⌈(d+1)/2⌉ and r_fill(d, 2) = d; for d = 3, three neurons "
    "compute every cubic and two compute exactly those with one real root (on the projective line, "
    "multiplicity not counted), and 0.",
    control=("two neurons compute every cubic", {"computable": lambda roots: True}),
    tests={
        "shallows.thick_width": (OFF_BY_ONE, DOUBLED),
        "shallows.filling_width": (
            Mutation("an upper bound one too large", lambda found: (found[0], found[1] + 1)),
        ),
        "shallows.real_rank": (OFF_BY_ONE, Mutation("always two", lambda rank: 2)),
    },
)
def example_2(
    trial: Trial, computable: Callable[[int], bool] = lambda roots: roots == 1
) -> Iterator[Outcome]:
    """Widths for d = 3 to 11; exact real ranks of cubics with rational roots that are known by construction (simple,
    double and triple ones, at infinity, and a complex pair)."""
    for d in range(3, 12):
        yield proof(
            sh.thick_width(d, 2) == ceil((d + 1) / 2) and sh.filling_width(d, 2) == (d, d), f"widths, d={d}"
        )
    yield proof(sh.real_rank({(3, 0): Fraction(0)}) == 0, "the zero cubic has rank 0")
    for _ in trial.times(4, 40):
        for text, roots in _cubics(trial.rng):
            rank = sh.real_rank(text)
            yield proof(
                isinstance(rank, int) and rank <= 3 and (rank <= 2) == computable(roots),
                f"{text} has rank {rank} and {roots} distinct real roots",
            )


def _directions(trial: Trial, n: int, count: int, width: int) -> int:
    """The rank of (a, W) ↦ (f(x₁), …, f(x_N)) at a random ReLU network, by central differences: f is piecewise
    linear."""
    X, W = trial.rng.standard_normal((count, n)), trial.rng.standard_normal((width, n))
    theta, h = np.append(trial.rng.standard_normal(width), W), 1e-6
    rows = []
    for step in h * np.eye(len(theta)):
        ends = [(theta + sign * step) for sign in (1, -1)]
        nets = [sh.Network(end[width:].reshape(width, n), end[:width], sh.ReLU()) for end in ends]
        rows.append((nets[0](X) - nets[1](X)) / (2 * h))
    return int(np.linalg.matrix_rank(np.array(rows), tol=1e-5))


@claim(
    "000",
    "Remark 3",
    "For networks with any activation trained on N samples the functions are vectors of N predictions: "
    "there is a width from which they have positive measure in R^N (thick), and one from which they are all "
    "of R^N (filling); ReLU has both.",
    control=("one neuron", {"widths": lambda count: (1, 1)}),
    tests={"shallows.Network.__call__": (Mutation("always zero", lambda values: 0 * values),)},
)
def remark_3(
    trial: Trial, widths: Callable[[int], tuple[int, int]] = lambda count: (count, count)
) -> Iterator[Outcome]:
    """ReLU networks with n = 2, 3 inputs on N = 4, 6 random samples: the rank of the differential of the predictions is
    N at width N (thick); with N random neurons the outer weights fit any labels (filling)."""
    for n, count in ((2, 4), (3, 6)):
        thick, filling = widths(count)
        for _ in trial.times(2, 10):
            rank = _most_directions(trial, n, count, thick)
            yield fact(
                rank == count, f"n={n}, N={count}, width {thick}: the predictions move in {rank} directions"
            )
            yield from _fit_labels(trial, n, count, filling)


def _most_directions(trial: Trial, n: int, count: int, width: int) -> int:
    """The largest of the ranks at 64 random networks on random samples; `count` is the most there can be."""
    most = 0
    for _ in range(64):
        most = max(most, _directions(trial, n, count, width))
        if most == count:
            break
    return most


def _fit_labels(trial: Trial, n: int, count: int, width: int) -> Iterator[Outcome]:
    X, y = trial.rng.standard_normal((count, n)), trial.rng.standard_normal(count)
    best = np.inf
    for _ in range(400):
        W = trial.rng.standard_normal((width, n))
        features = np.column_stack([sh.Network(w[None], activation=sh.ReLU())(X) for w in W])
        a = np.linalg.lstsq(features, y, rcond=None)[0]
        best = min(best, float(np.abs(sh.Network(W, a, sh.ReLU())(X) - y).max()))
        if best < FITTED:
            break
    yield equal(best, FITTED, f"n={n}, N={count}, width {width}: random labels are fitted")


@claim(
    "000",
    "Proposition 4",
    "For all d ≥ 3 and r < r_thick(d, n): if W is generic, any W′ with τ(W′) = τ(W) is a rescaling and "
    "permutation of W, except for (d, n, r) = (6,3,9), (4,4,8), (3,6,9) and the defective (4,3,5), (4,4,9), "
    "(4,5,14), (3,5,7).",
    control=("width r_thick of (4, 2), where fibers have positive dimension", {"shapes": ((4, 2, 3),)}),
    printed=("only the first three exceptions", {"exceptions": PRINTED_UNIDENTIFIABLE}),
    tests={
        "shallows.is_identifiable": (OPPOSITE, ALWAYS, NEVER),
        "shallows.questions.geometry.ranks.generic_rank.generic_rank": (
            of_field("lower", Mutation("one less", lambda rank: rank - 1)),
            of_field("upper", OFF_BY_ONE),
        ),
        "shallows.trivial_symmetry": (NOTHING, Mutation("always related", lambda found: "related")),
    },
)
def proposition_4(
    trial: Trial,
    exceptions: tuple[tuple[int, int, int], ...] = PRINTED_UNIDENTIFIABLE + DEFECTIVE,
    shapes: tuple[tuple[int, int, int], ...] = ((3, 3, 2), (5, 2, 2), (4, 3, 3)),
) -> Iterator[Outcome]:
    """dim F_r, proved, for all r below r_thick of nine (d, n): rn where the claim is made, less at the defective
    triples; networks fitted from random starts to a random network's function are related to it, and other networks
    are not."""
    for d, n in ((3, 3), (3, 4), (3, 5), (3, 6), (4, 3), (4, 4), (4, 5), (5, 3), (6, 3)):
        for width in range(1, sh.thick_width(d, n)):
            claimed = (d, n, width) not in exceptions
            rank = generic_rank(d, n, width)
            finite = min(width * n, comb(n + d - 1, d)) - ((d, n, width) in DEFECTIVE)
            what = f"(d, n, r) = ({d}, {n}, {width}): {rank.lower} ≤ dim F_r ≤ {rank.upper}, parameters {width * n}"
            yield proof(rank.lower == rank.upper == finite, what)
            yield proof(not claimed or finite == width * n, f"{what}: fibers are finite up to scaling")
            yield proof(claimed == sh.is_identifiable(d, n, width), f"{what}: `is_identifiable` agrees")
    for d, n, width in shapes:
        for _ in trial.times(1, 10):
            yield from _refit(trial.rng, d, n, width)


def _far_from_special(rng: np.random.Generator, d: int, n: int, width: int) -> sh.Network:
    """A random network without nearly parallel or nearly idle neurons: doubles tell such ones from no others."""
    while True:
        net = gaussian_network(rng, width, n, d)
        lengths = np.linalg.norm(net.W, axis=1)
        cosines = np.abs((net.W @ net.W.T) / np.outer(lengths, lengths)) - np.eye(width)
        sizes = np.abs(net.a) * lengths**d
        if cosines.max() < 0.9 and sizes.min() > 0.05 * sizes.max():
            return net


def _refit(rng: np.random.Generator, d: int, n: int, width: int) -> Iterator[Outcome]:
    """Fit a network's function from a rescaled one that was moved; where a fit is exact, the two must be related."""
    net = _far_from_special(rng, d, n, width)
    net = sh.Network(net.W, net.a / net.tensor().norm(sh.Gaussian(n)), net.activation)  # so that E f² = 1
    what = f"({d}, {n}, {width})"
    twin = sh.Network((2 * net.W)[::-1], (net.a / 2**d)[::-1], net.activation)
    yield fact(
        sh.trivial_symmetry(net, twin, tolerance=1e-6) is not None, f"{what}: rescaled and exchanged, related"
    )
    other = sh.Network(net.W, net.a + 1.0, net.activation)
    yield fact(
        sh.trivial_symmetry(net, other, tolerance=1e-6) is None, f"{what}: another function, not related"
    )
    problem = sh.Problem(net, sh.Gaussian(n), width)
    fits = 0
    tries = 0
    while fits < 2 and tries < 8:
        tries += 1
        share = 0.2 / 2 ** (tries - 1 - fits)  # nearer after each miss: descent may end at another minimum
        moved = twin.W + share * np.abs(twin.W).max() * rng.standard_normal(twin.W.shape)
        start = sh.Network(moved, twin.a, twin.activation)
        run = sh.descend(problem, start, method="lm", tolerance=STATIONARY)
        if run.loss < EXACT:
            fits += 1
            found = sh.trivial_symmetry(net, run.network, tolerance=1e-5)
            yield fact(
                found is not None, f"{what}: a refit of the same function is {found or 'another network'}"
            )
    yield fact(fits > 0, f"{what}: {fits} of {tries} starts reach the function")
