"""Finding 3: a branch point of the parameterisation outside the closure of the narrower networks.

Paper 000, section 2.1, asks whether Br(τ_r) ⊂ F_{r_thick − 1} for r ≥ r_thick. For quartics in three variables r_thick
= 6. Put the neurons on the conic Q = xz − y²: w = (1, t, t²). Q² is singular at all of them, so that by Lemma 8 rk dτ
< 15: S = Σ aᵢwᵢ⁴ lies in the branch locus, whatever the width. Its entries are the moments m_e = Σ aᵢtᵢ^e, e = 0, …,
8, which are those of the binary octic B = Σ aᵢ(1, tᵢ)⁸.

S is in no F₅. The catalecticant C of S (6×6, m_{e+e′} at monomials of degree two, exponents 0, 1, 2, 2, 3, 4) has rank
5 where the Hankel matrix (m_{i+j}), 5×5, is regular, and its kernel is Q. If S = Σ bⱼuⱼ⁴ with at most 5 terms, C = Σ
bⱼuⱼ²(uⱼ²)ᵀ has rank 5, so all bⱼ ≠ 0 and the uⱼ² are independent, and the kernel, the conics through all uⱼ, is Q: the
uⱼ are on the conic, and B = Σ b′ⱼ(1, sⱼ)⁸ with five terms. By Sylvester a member of the pencil of quintics apolar to B
(the kernel of the 4×6 Hankel matrix) then has five distinct real roots; none has more than three.

Nor in the closure. Let S_ν → S with S_ν in F₅. Their catalecticants have rank 5 from some ν on, and kernels Q_ν → Q:
real conics of the same kind, so Q_ν∘A_ν = Q with A_ν → I. The forms S_ν∘A_ν → S have their neurons on Q, their octics
tend to B, and so do their pencils (the 4×6 matrix keeps its rank); each has a member with five real roots, and so has
the limit, with multiplicity. The number of real roots with multiplicity of the members of a pencil is its number in
the adjacent intervals of the discriminant's complement, the larger one, where the real roots of the discriminant are
simple.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from math import comb

from flint import fmpq, fmpq_mat, fmpq_poly

import shallows as sh
from shallows.mathematics.exact.linear_algebra import kernel
from shallows.uses.papers.claim import Trial
from shallows.uses.papers.findings.finding import finding
from shallows.uses.papers.mutations import OFF_BY_ONE, Mutation
from shallows.uses.papers.outcome import Outcome, proof

#: t and a of the network.
PLACES, WEIGHTS = (2, 4, 3, 0, -2, -1), (2, 1, -2, -2, 2, 1)
#: The octic's pencil of quintics, and the degree of its discriminant.
QUINTIC, DISCRIMINANT = 5, 8
#: Exponents of t at the monomials x², xy, xz, y², yz, z² of a neuron (1, t, t²).
CONIC = (0, 1, 2, 2, 3, 4)


@finding(
    3,
    "The branch locus is not inside the closure of the narrower networks",
    "(d, n) = (4, 3), every width r ≥ r_thick = 6: Br(τ_r) is not contained in cl F₅. The network w = (1, t, t²), "
    "t = 2, 4, 3, 0, −2, −1, a = (2, 1, −2, −2, 2, 1) has rk dτ = 14 < 15; its catalecticant has rank 5 and kernel "
    "xz − y², and no quintic apolar to its octic Σa(1, t)⁸ has more than three real roots.",
    basis="proved",
    known="An open question of paper 000, section 2.1; F₅ ⊂ Br(τ_r) is there, and equality for d = 2 and for n = 2. "
    "Apolarity and the octic of a conic are classical (Sylvester; Clebsch). The counterexample is ours.",
    control=("five of the six neurons", {"neurons": 5}),
    tests={
        "shallows.parameterization_rank": (OFF_BY_ONE,),
        "shallows.thick_width": (OFF_BY_ONE,),
        "shallows.real_rank": (Mutation("always five", lambda rank: 5),),
    },
)
def conic_network(trial: Trial, neurons: int = 6) -> Iterator[Outcome]:
    """Exact arithmetic throughout: ranks of integer matrices, and the real roots of one quintic from each interval
    between the real roots of the pencil's discriminant, by Sturm sequences; the library's ranks beside them."""
    places, weights = PLACES[:neurons], WEIGHTS[:neurons]
    net = sh.Network([[1, t, t * t] for t in places], a=weights, activation=sh.Power(4))
    rank = sh.parameterization_rank(net, exact=True)
    yield proof(
        rank == _tangent_rank(places) == 14, f"rk dτ = {rank} of 15, r_thick = {sh.thick_width(4, 3)}"
    )
    yield proof(sh.thick_width(4, 3) == 6, "r_thick(4, 3) = 6")
    m = [sum(a * t**e for a, t in zip(weights, places, strict=True)) for e in range(9)]
    catalecticant = fmpq_mat([[fmpq(m[i + j]) for j in CONIC] for i in CONIC])
    hankel = fmpq_mat([[fmpq(m[i + j]) for j in range(5)] for i in range(5)])
    yield proof(
        catalecticant.rank() == 5 and hankel.det() != 0, "the catalecticant has rank 5, its kernel is xz − y²"
    )
    pencil = _apolar([fmpq(x) for x in m])
    counts, simple = _real_roots_of_members(*pencil)
    yield proof(
        simple and max(counts) <= 3,
        f"members of the pencil have {sorted(set(counts))} real roots, none of them 5",
    )
    octic: dict[tuple[int, ...], Fraction | float] = {
        (8 - e, e): Fraction(comb(8, e) * m[e]) for e in range(9)
    }
    found = sh.real_rank(octic)
    yield proof(found == 6, f"the octic has real rank {found}")


def _tangent_rank(places: Sequence[int]) -> int:
    """The rank of all w³·x, w³·y, w³·z as quartics: rk dτ of a network without idle neurons."""
    monomials = [(i, j, 4 - i - j) for i in range(5) for j in range(5 - i)]
    rows = []
    for t in places:
        w = (1, t, t * t)
        for shift in range(3):
            row = []
            for power in monomials:
                rest = [p - (axis == shift) for axis, p in enumerate(power)]
                value = fmpq(0)
                if min(rest) >= 0:
                    value = fmpq(_trinomial(rest) * w[0] ** rest[0] * w[1] ** rest[1] * w[2] ** rest[2])
                row.append(value)
            rows.append(row)
    return int(fmpq_mat(rows).rank())


def _trinomial(powers: Sequence[int]) -> int:
    return comb(sum(powers), powers[0]) * comb(powers[1] + powers[2], powers[1])


def _apolar(m: Sequence[fmpq]) -> tuple[list[fmpq], list[fmpq]]:
    """Two quintics that span the kernel of the Hankel matrix (m_{i+j}), i < 4, j < 6."""
    first, second = kernel(fmpq_mat([[m[i + j] for j in range(6)] for i in range(4)]))
    return first, second


def _real_roots_of_members(p: list[fmpq], q: list[fmpq]) -> tuple[list[int], bool]:
    """How many real roots p + tq has, for one t in each interval between real roots of its discriminant; and whether
    that has its full degree, so that q itself lies between the last and the first, and only simple roots."""
    nodes = [fmpq(t) for t in range(DISCRIMINANT + 1)]
    values = [_discriminant(_member(p, q, t)) for t in nodes]
    table = fmpq_mat([[t**e for e in range(DISCRIMINANT + 1)] for t in nodes])
    solved = table.solve(fmpq_mat(DISCRIMINANT + 1, 1, values))
    disc = fmpq_poly([solved[e, 0] for e in range(DISCRIMINANT + 1)])
    simple = disc.degree() == DISCRIMINANT and disc.gcd(disc.derivative()).degree() == 0
    points = _between(disc)
    return [_sturm(fmpq_poly(_member(p, q, t))) for t in points], simple


def _member(p: list[fmpq], q: list[fmpq], t: fmpq) -> list[fmpq]:
    return [a + t * b for a, b in zip(p, q, strict=True)]


def _discriminant(form: list[fmpq]) -> fmpq:
    """The resultant of the two derivatives of a quintic form, by Sylvester's matrix."""
    d = QUINTIC
    x = [form[e] * (d - e) for e in range(d)]
    y = [form[e] * e for e in range(1, d + 1)]
    size = 2 * (d - 1)
    rows = [[fmpq(0)] * i + each + [fmpq(0)] * (size - d - i) for each in (x, y) for i in range(d - 1)]
    return fmpq_mat(rows).det()


def _sturm(p: fmpq_poly, low: fmpq | None = None, high: fmpq | None = None) -> int:
    """The number of distinct real roots in (low, high], everywhere by default."""
    chain = [p, p.derivative()]
    while chain[-1].degree() > 0:
        chain.append(-(chain[-2] % chain[-1]))
    return _changes(chain, low, -1) - _changes(chain, high, 1)


def _changes(chain: Sequence[fmpq_poly], at: fmpq | None, side: int) -> int:
    """Sign changes of the chain at a point, or at ±∞."""
    values = [f[f.degree()] * side ** f.degree() if at is None else f(at) for f in chain if f.degree() >= 0]
    signs = [value > 0 for value in values if value != 0]
    return sum(a != b for a, b in pairwise(signs))


def _between(p: fmpq_poly) -> list[fmpq]:
    """A rational point in each interval between the real roots of p, and beyond them."""
    bound = 1 + max(abs(p[e] / p[p.degree()]) for e in range(p.degree()))
    cells = [(-bound, bound)]
    apart = []
    while cells:
        low, high = cells.pop()
        count = _sturm(p, low, high)
        if count == 1:
            apart.append((low, high))
        elif count > 1:
            middle = (low + high) / 2
            cells += [(low, middle), (middle, high)]
    apart.sort()
    return [-bound, *(high for _, high in apart)]
