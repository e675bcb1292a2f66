"""Systems from the literature with known numbers of solutions, as strings: for tests and benchmarks.

(Posso collection of the FRISCO project; J. Verschelde's collection of polynomial systems, PHCpack.)
"""

from __future__ import annotations


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
