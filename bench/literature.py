"""Systems from the literature with known numbers of solutions, as strings: for tests and benchmarks.

(Posso collection of the FRISCO project; J. Verschelde's collection of polynomial systems, PHCpack.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shallows.mathematics.homotopy.coefficients import ONE
from shallows.mathematics.homotopy.expressions import Expression, variables


def katsura(n: int) -> list[str]:
    """Katsura-n, a model of magnetism: n+1 equations, 2ⁿ solutions, all regular."""
    rows = []
    for m in range(n):
        terms = [f"x{abs(l)}*x{abs(m - l)}" for l in range(-n, n + 1) if abs(m - l) <= n]
        rows.append(" + ".join(terms) + f" - x{m}")
    rows.append("x0 + " + " + ".join(f"2*x{i}" for i in range(1, n + 1)) + " - 1")
    return rows


def noon(n: int) -> list[str]:
    """Noonburg's neural network: 3ⁿ − 2n solutions, 2n paths to infinity."""
    rows = []
    for i in range(1, n + 1):
        squares = " + ".join(f"x{j}^2" for j in range(1, n + 1) if j != i)
        rows.append(f"10*x{i}*({squares}) - 11*x{i} + 10")
    return rows


def eco(n: int) -> list[str]:
    """Morgan's economics problem: 2^(n−2) solutions, most paths of the total degree go to infinity."""
    rows = []
    for k in range(1, n):
        terms = [f"x{k}"] + [f"x{i}*x{i + k}" for i in range(1, n - k)]
        rows.append(f"({' + '.join(terms)})*x{n} - {k}")
    rows.append(" + ".join(f"x{i}" for i in range(1, n)) + " + 1")
    return rows


def cyclic(n: int) -> list[str]:
    """Cyclic n-roots: 70 solutions for n = 5; infinitely many for n = 4."""
    rows = []
    for k in range(1, n):
        rows.append(" + ".join("*".join(f"x{(i + j) % n}" for j in range(k)) for i in range(n)))
    rows.append("*".join(f"x{i}" for i in range(n)) + " - 1")
    return rows


def wilkinson(degree: int) -> list[str]:
    """(x−1)(x−2)…(x−degree), expanded by the parser: simple roots, badly conditioned."""
    return ["*".join(f"(x - {i})" for i in range(1, degree + 1))]


def three_rpr() -> list[str]:
    """Where a planar 3-RPR robot with given legs can be: 6 solutions (C. Gosselin, J. Sefrioui, 1991).

    Legs go from a to p + R b, R the rotation (c, s); lengths are those of one placement, squared.
    """
    rows = ["c^2 + s^2 - 1"]
    for (ax, ay), (bx, by), square in (
        (("0", "0"), ("0", "0"), "29"),
        (("16", "0"), ("17/2", "0"), "65"),
        (("6", "14"), ("5", "21/4"), "85"),
    ):
        rows.append(f"(x + {bx}*c - {by}*s - {ax})^2 + (y + {bx}*s + {by}*c - {ay})^2 - {square}")
    return rows


#: Joints of a Stewart-Gough platform, on the base and on the platform, and squared lengths of its legs: no two alike.
_BASE = ((0, 0, 0), (7, 1, 0), (5, 8, 1), (1, 9, 2), (-4, 6, -1), (-5, 2, 3))
_PLATE = ((0, 0, 0), (3, 0, 1), (4, 3, 0), (1, 5, 1), (-2, 4, 2), (-3, 1, -1))
_LEGS = (53, 61, 47, 71, 59, 67)


def stewart_platform() -> list[str]:
    """Where a general Stewart-Gough platform can be: 40 solutions (M. Raghavan 1993; F. Ronga, T. Vust 1995).

    In Study's coordinates e = (1, e1, e2, e3) and g: e·g = 0, and for each leg from a to b
    4 g·g + (|a|² + |b|² − l²) e·e + 4 b·(e* g) − 4 a·(g e*) − 2 a·(e b e*) = 0; from five the first is subtracted.
    """
    e = [Expression({(): ONE}), *variables("e1 e2 e3")]
    g = list(variables("g0 g1 g2 g3"))
    conjugate = [e[0], *(-x for x in e[1:])]
    rows = []
    for a, b, leg in zip(_BASE, _PLATE, _LEGS, strict=True):
        turned = _quaternion(_quaternion(e, [e[0] * 0, *(x * e[0] for x in b)]), conjugate)
        row = sum(x * x for x in g) * 4 + sum(x * x for x in e) * (_dot(a, a) + _dot(b, b) - leg)
        row += 4 * _dot(b, _quaternion(conjugate, g)[1:]) - 4 * _dot(a, _quaternion(g, conjugate)[1:])
        rows.append(row - 2 * _dot(a, turned[1:]))
    legs = [rows[0], *(row - rows[0] for row in rows[1:])]
    return [str(row) for row in (_dot(e, g), *legs)]


def _dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    return sum(x * y for x, y in zip(a, b, strict=True))


def _quaternion(p: Sequence[Any], q: Sequence[Any]) -> list[Any]:
    """The product of two quaternions."""
    a, b, c, d = p
    w, x, y, z = q
    return [
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    ]


def combustion() -> list[str]:
    """Propane burning in air: 16 solutions, 4 of them real, one positive (K. Meintjes, A. Morgan, ACM TOMS 16, 1990).

    √40 is rounded to ten digits.
    """
    root = "6.324555320"
    r = {
        "r5": "193/1000",
        "r6": f"(0.002597/{root})",
        "r7": f"(0.003448/{root})",
        "r8": "(0.00001799/40)",
        "r9": f"(0.0002155/{root})",
        "r10": "(0.00003846/40)",
    }
    rows = [
        "y1*y2 + y1 - 3*y5",
        "2*y1*y2 + y1 + y2*y3^2 + {r8}*y2 - 10*y5 + 2*{r10}*y2^2 + {r7}*y2*y3 + {r9}*y2*y4",
        "2*y2*y3^2 + 2*{r5}*y3^2 - 8*y5 + {r6}*y3 + {r7}*y2*y3",
        "{r9}*y2*y4 + 2*y4^2 - 40*y5",
        "y1*y2 + y1 + {r10}*y2^2 + y2*y3^2 + {r8}*y2 + {r5}*y3^2 + y4^2 - 1 + {r6}*y3 + {r7}*y2*y3 + {r9}*y2*y4",
    ]
    return [row.format(**r) for row in rows]


def wnt() -> list[str]:
    """Steady states of the Wnt shuttle model, 19 species: 9 solutions (E. Gross, H. Harrington, Z. Rosen, B. Sturmfels,
    "Algebraic systems biology: a case study for the Wnt pathway", Bull. Math. Biol. 78, 2016).

    Fourteen rates and five conservation laws; rate constants and totals are primes, in no relation to each other.
    """
    primes = [p for p in range(2, 180) if all(p % q for q in range(2, p))]
    k = {f"k{i + 1}": primes[i] for i in range(31)}
    rows = [
        "-{k1}*x1 + {k2}*x2",
        "{k26}*x2 - {k27}*x3 - {k14}*x3*x6 + ({k15}+{k16})*x15",
        "-{k28}*x5 + {k29}*x7 - {k6}*x5*x8 + {k5}*x14 + {k7}*x16",
        "-{k14}*x3*x6 - {k20}*x6*x11 + {k15}*x15 + {k19}*x17 + ({k21}+{k22})*x19",
        "{k28}*x5 - {k29}*x7 - {k17}*x7*x9 + {k16}*x15 + {k18}*x17",
        "{k12} - ({k13}+{k30})*x10 - {k9}*x4*x10 + {k31}*x11 + {k10}*x18",
        "-{k23}*x11 + {k30}*x10 - {k31}*x11 - {k20}*x6*x11 - {k24}*x11*x12 + {k25}*x13 + {k21}*x19",
        "{k24}*x11*x12 - {k25}*x13",
        "{k3}*x2*x4 - ({k4}+{k5})*x14",
        "{k14}*x3*x6 - ({k15}+{k16})*x15",
        "{k6}*x5*x8 - ({k7}+{k8})*x16",
        "{k17}*x7*x9 - ({k18}+{k19})*x17",
        "{k9}*x4*x10 - ({k10}+{k11})*x18",
        "{k20}*x6*x11 - ({k21}+{k22})*x19",
        "x1 + x2 + x3 + x14 + x15 - 131",
        "x4 + x5 + x6 + x7 + x14 + x15 + x16 + x17 + x18 + x19 - 137",
        "x8 + x16 - 139",
        "x9 + x17 - 149",
        "x12 + x13 - 151",
    ]
    return [row.format(**k) for row in rows]
