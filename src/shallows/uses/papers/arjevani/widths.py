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
from shallows.uses.papers.outcome import Outcome, equal, proof

EXCEPTIONS = ((4, 3), (4, 4), (4, 5), (3, 5))
PRINTED_UNIDENTIFIABLE = ((6, 3, 9), (4, 4, 8), (3, 6, 9))
DEFECTIVE = ((4, 3, 5), (4, 4, 9), (4, 5, 14), (3, 5, 7))


@claim(
    "000",
    "Theorem 1",
    "F_r is full-dimensional from r = ⌈N/n⌉ on (one more in four cases; n for d = 2), and r_fill ≤ 2 r_thick.",
    control=("no exceptions", {"exceptions": ()}),
    printed=("r_thick(2, n) = d = 2", {"quadratic": lambda n: 2}),
)
def theorem_1(
    trial: Trial,
    quadratic: Callable[[int], int] = lambda n: n,
    exceptions: tuple[tuple[int, int], ...] = EXCEPTIONS,
) -> Iterator[Outcome]:
    """The rank of dτ at an integer network, modulo a prime, against Alexander and Hirschowitz's count."""
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
            yield proof(
                width <= lower <= upper <= 2 * width, f"d={d}, n={n}: {lower} ≤ r_fill ≤ {upper} ≤ 2·{width}"
            )


def _cubics(rng: np.random.Generator) -> Iterator[tuple[str, int, int]]:
    """Binary cubics as text, with the number of distinct real roots on the circle and on the affine line y = 1."""
    a, b, c = (Fraction(int(v), 7) for v in rng.choice(np.arange(-30, 31), 3, replace=False))
    s = Fraction(int(rng.integers(1, 30)), 5)
    yield f"(x - ({a})*y)*(x^2 + ({s})*y^2)", 1, 1
    yield f"y*(x^2 + ({s})*y^2)", 1, 0
    yield f"(x - ({a})*y)^3", 1, 1
    yield f"(x - ({a})*y)^2*(x - ({b})*y)", 2, 2
    yield f"(x - ({a})*y)*(x - ({b})*y)*(x - ({c})*y)", 3, 3


@claim(
    "000",
    "Example 2",
    "Two inputs: r_thick = ⌈(d+1)/2⌉ and r_fill = d; two neurons compute the cubics with one distinct real root.",
    control=("two neurons compute every cubic", {"computable": lambda circle, line: True}),
    printed=(
        "the cubics in one variable with exactly one real root",
        {"computable": lambda circle, line: line == 1},
    ),
)
def example_2(
    trial: Trial, computable: Callable[[int, int], bool] = lambda circle, line: circle == 1
) -> Iterator[Outcome]:
    """Exact real ranks of cubics whose roots are known by construction."""
    for d in range(3, 12):
        yield proof(
            sh.thick_width(d, 2) == ceil((d + 1) / 2) and sh.filling_width(d, 2) == (d, d), f"widths, d={d}"
        )
    for _ in trial.times(4, 40):
        for text, circle, line in _cubics(trial.rng):
            rank = sh.real_rank(text)
            yield proof(
                isinstance(rank, int) and rank <= 3 and (rank <= 2) == computable(circle, line),
                f"{text} has rank {rank} and {circle} distinct real roots ({line} of them finite)",
            )


@claim(
    "000",
    "Proposition 4",
    "For d ≥ 3 and r < r_thick generic networks are identifiable up to trivial symmetries, but for seven cases.",
    control=("width r_thick, where fibers have positive dimension", {"beyond": True}),
    printed=("three exceptions", {"exceptions": PRINTED_UNIDENTIFIABLE}),
)
def proposition_4(
    trial: Trial,
    exceptions: tuple[tuple[int, int, int], ...] = PRINTED_UNIDENTIFIABLE + DEFECTIVE,
    beyond: bool = False,
) -> Iterator[Outcome]:
    """dτ has no kernel but the scalings where the claim is made; networks fitted to one function are related."""
    for d, n in ((3, 3), (3, 4), (3, 5), (4, 3), (4, 4), (4, 5), (5, 3)):
        for width in range(1, sh.thick_width(d, n)):
            claimed = (d, n, width) not in exceptions
            rank = generic_rank(d, n, width)
            finite = rank.lower == width * n
            yield proof(
                not claimed or finite,
                f"(d, n, r) = ({d}, {n}, {width}): dim F_r = {rank.upper}, parameters {width * n}",
            )
            yield proof(
                claimed == sh.is_identifiable(d, n, width), f"is_identifiable({d}, {n}, {width}) agrees"
            )
    shapes = ((4, 2, 3),) if beyond else ((3, 3, 2), (5, 2, 2))
    for d, n, width in shapes:
        for _ in trial.times(1, 10):
            yield from _refit(trial.rng, d, n, width)


def _refit(rng: np.random.Generator, d: int, n: int, width: int) -> Iterator[Outcome]:
    """Fit a network's function from a random start; where the fit is exact, the networks must be trivially related."""
    net = gaussian_network(rng, width, n, d)
    problem = sh.Problem(net, sh.Gaussian(n), width)
    for _ in range(20):
        run = sh.descend(problem, gaussian_network(rng, width, n, d), method="lm")
        if run.converged and run.loss < 1e-22 * net.tensor().norm(sh.Gaussian(n)) ** 2:
            found = sh.trivial_symmetry(net, run.network, tolerance=1e-6)
            gap = 0.0 if found is not None else 1.0
            yield equal(
                gap, 0.0, f"({d}, {n}, {width}): a refit of the same function is {found or 'another network'}"
            )
            return
