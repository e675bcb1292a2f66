"""Discriminants: milliseconds instead of elimination, and signs of whole slices at once."""

from __future__ import annotations

import shutil
import subprocess
import time

import numpy as np
from flint import Ordering, fmpq, fmpz_mpoly_ctx

import shallows as sh
from bench.report import Row, compare, show_time, side_by_side
from shallows.discriminants import Discriminant, rank_one
from shallows.questions.discriminants.curves import RankOneCurve
from shallows.questions.discriminants.polynomial import generic
from shallows.questions.discriminants.values import over_rationals
from shallows.support.checks import Array

#: Seconds that Macaulay2 gets; when it takes longer the ratio is a lower bound.
PATIENCE = 120.0

MACAULAY2 = """
R = QQ[z, t00,t01,t11, m0000,m0001,m0011,m0101,m0111,m1111,
       Degrees => {1, 5,4,3, 5,4,3,3,2,1}, MonomialOrder => Eliminate 1];
p = (m0000*t00+2*m0001*t01+m0011*t11) + 2*(m0001*t00+2*m0101*t01+m0111*t11)*z
    + (m0011*t00+2*m0111*t01+m1111*t11)*z^2;
q = m0000 + 4*m0001*z + (2*m0011+4*m0101)*z^2 + 4*m0111*z^3 + m1111*z^4;
F = 2*diff(z,p)*q - p*diff(z,q);
elapsed = (timing (G = selectInSubring(1, gens gb ideal(4*F - z*diff(z,F), diff(z,F)))))#0;
print elapsed;
print max apply(flatten entries G, f -> #terms f);
"""


def run() -> list[Row]:
    """The three promises of issue 6."""
    return [
        against_macaulay2(),
        against_flint(),
        signs_on_a_slice(),
        signs_on_walls(),
        signs_of_degree_four(),
    ]


def ours() -> object:
    """The full 2×2 discriminant, from nothing (no cache)."""
    return generic(RankOneCurve(2))


def against_macaulay2() -> Row:
    """The same polynomial by elimination of z from ∂F/∂x = ∂F/∂y = 0: two cubics, homogeneous in this grading."""
    question = "full 2×2 discriminant, against elimination in Macaulay2"
    (mine,) = side_by_side(ours)
    program = shutil.which("M2")
    if program is None:
        return Row(
            question,
            show_time(mine),
            "",
            None,
            1000,
            "skipped: macaulay2 is not installed (Debian: macaulay2)",
        )
    start = time.perf_counter()
    try:
        done = subprocess.run(
            [program, "--silent", "-q", "-e", MACAULAY2 + "exit 0"],
            capture_output=True, text=True, timeout=PATIENCE, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        spent = time.perf_counter() - start
        return Row(
            question, show_time(mine), f"> {spent:.0f} s", spent / mine, 1000, "stopped: a lower bound"
        )
    words = done.stdout.split()
    if done.returncode or len(words) < 2:
        return Row(
            question, show_time(mine), "", None, 1000, f"skipped: M2 failed ({done.stderr.strip()[-80:]})"
        )
    peer, terms = float(words[-2]), int(words[-1])
    assert terms == rank_one(2).n_terms, terms
    return Row(question, show_time(mine), show_time(peer), peer / mine, 1000, f"{terms} terms on both sides")


def against_flint() -> Row:
    """python-flint's generic `discriminant` of the same quartic."""
    curve = RankOneCurve(2)
    names = ["z", *curve.teacher, *curve.metric]
    context = fmpz_mpoly_ctx.get(names, Ordering.lex)
    symbol = dict(zip(names, context.gens(), strict=True))
    gram = [
        [curve.weights[i] * curve.weights[j] * symbol[curve.names[i][j]] for j in range(3)] for i in range(3)
    ]

    def peer() -> object:
        form = curve.coefficients(gram, [symbol[name] for name in curve.teacher])
        return sum((c * symbol["z"] ** k for k, c in enumerate(form)), context.constant(0)).discriminant("z")

    return compare("the same, against python-flint's discriminant", ours, peer, target=10)


def signs_on_a_slice() -> Row:
    """400 × 400 teachers of a generic slice."""
    P = rank_one(2).specialize(data=sh.IID.laplace(2), t01=0.5)
    question = "sign on a 400×400 slice, degree 2, against exact evaluation point by point"
    return _signs(question, P, np.linspace(-3, 3, 400))


def signs_on_walls() -> Row:
    """Hardest for floats, easiest for exact arithmetic: short numbers, few terms, P = 0 at grid points."""
    P = rank_one(2).specialize(data=sh.IID(2, [1, 0, 1, 0, 4]), t01=0)
    x = np.arange(-200, 200) / 8  # the walls t11/t00 = 13/8 and 8/13 pass through points of this grid
    return _signs("the same, walls through grid points", P, x)


def signs_of_degree_four() -> Row:
    """The same for degree 4: 190 terms of degree 18 in the two free entries."""
    P = rank_one(4).specialize(data=sh.IID.uniform(2), t0001=0, t0011=1, t0111=0)
    return _signs("the same, degree 4", P, np.linspace(-3, 3, 400))


def _signs(question: str, P: Discriminant, x: Array) -> Row:
    """The peer is flint's exact evaluation of the specialised polynomial, on 1 of 100 points."""
    exact = over_rationals(P.polynomial)
    few = x[::10]
    rationals = [fmpq(*float(value).as_integer_ratio()) for value in few]

    def whole() -> object:
        return P.sign_slice((P.variables[0], x), (P.variables[1], x))

    def points() -> list[int]:
        return [(v > 0) - (v < 0) for b in rationals for a in rationals for v in (exact(a, b),)]

    found = P.sign_slice((P.variables[0], x), (P.variables[1], x))
    assert found.signs[::10, ::10].ravel().tolist() == points()
    mine, hundredth = side_by_side(whole, points)
    peer = 100 * hundredth
    note = f"{found.exact} of 160,000 decided exactly; peer is 100 × the time of 1,600 points"
    return Row(question, show_time(mine), show_time(peer), peer / mine, 100, note)
