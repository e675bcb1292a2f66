"""All solutions of a small rational system with their multiplicities, proved: the algebra of functions on them, over Q.

n forms in n + 1 variables with finitely many common zeros have Π dᵢ of them, with multiplicity (Bézout), and in degree
ρ = Σ (dᵢ − 1) + 1 as many functionals vanish on the ideal: the kernel of Macaulay's matrix. A linear form h that is
zero at no solution turns multiplication by xⱼ/h into commuting matrices Mⱼ of that size, with the eigenvalues xⱼ/h of
the solutions, each as often as its multiplicity (L. Stickelberger; D. Cox, J. Little, D. O'Shea, "Using Algebraic
Geometry", 2005, ch. 2 and 3). For a linear form ℓ that tells the solutions apart, a = ℓ/h is a root of the
characteristic polynomial χ of M_ℓ, with the solution's multiplicity, and xⱼ/h = rⱼ(a) with a polynomial rⱼ
(F. Rouillier, "Solving zero-dimensional systems through the rational univariate representation", AAECC 9, 1999). All of
it is checked: that h vanishes nowhere, by a rank; that ℓ tells solutions apart, since Mⱼ − rⱼ(M_ℓ) is nilpotent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations_with_replacement
from math import comb, lcm, prod
from typing import Any

import numpy as np
from flint import acb, fmpq, fmpq_mat, fmpq_poly, fmpz_mat
from numpy.typing import NDArray

from shallows.mathematics.balls.systems import precision
from shallows.mathematics.homotopy.systems import Exponents, PolynomialSystem

#: The most columns of Macaulay's matrix and solutions with multiplicity: a second or two of exact arithmetic.
MOST_COLUMNS, MOST_SOLUTIONS = 480, 36
#: Coefficients of the linear forms, whole numbers up to this, and how many pairs are tried.
WIDEST, PAIRS = 9, 3
#: Bits of the boxes around solutions.
BITS = 256


@dataclass(frozen=True)
class ExactSolution:
    """A solution of an exact system: its coordinates are in the balls of `box`, its multiplicity is proved.

    With a root a of the irreducible polynomial `minimal`, of this `degree`, they are values of polynomials over Q at a.
    """

    box: tuple[Any, ...]
    multiplicity: int
    minimal: str
    degree: int

    @property
    def point(self) -> NDArray[np.complex128]:
        """The midpoint."""
        return np.array([complex(ball.mid()) for ball in self.box], np.complex128)


def exact_solutions(system: PolynomialSystem) -> tuple[ExactSolution, ...] | None:
    """All finite solutions of a square rational system, with proved multiplicities; None where that takes too long, or
    where there are infinitely many, at infinity or elsewhere.

    >>> from shallows.mathematics.homotopy.quotient_algebra import exact_solutions
    >>> system = sh.homotopy.PolynomialSystem.read(["x^2 - 2", "(y - x)^2"])
    >>> [(s.point.real.round(6).tolist(), s.multiplicity, s.minimal) for s in exact_solutions(system)]
    [([-1.414214, -1.414214], 2, '313*x^2 + 378*x + 81'), ([1.414214, 1.414214], 2, '313*x^2 + 378*x + 81')]
    """
    n, degrees = system.n, [int(d) for d in system.degrees]
    top = sum(degrees) - n + 1
    if len(system.equations) != n or not system.is_real or min(degrees) < 1:
        return None
    if comb(n + top, n) > MOST_COLUMNS or prod(degrees) > MOST_SOLUTIONS:
        return None
    kernel = _kernel(system, degrees, top)
    if kernel.ncols() != prod(degrees):  # infinitely many solutions
        return None
    rng = np.random.default_rng(0)
    for _ in range(PAIRS):
        matrices = _multiplications(kernel, n, top, [int(c) for c in rng.integers(1, WIDEST, n + 1)])
        if matrices is None:
            continue
        form = [int(c) for c in rng.integers(-WIDEST, WIDEST, n + 1)]
        found = _univariate(matrices, form)
        if found is not None:
            return tuple(sorted(found, key=_order))
    return None


def _order(solution: ExactSolution) -> list[tuple[float, float]]:
    return [(z.real, z.imag) for z in solution.point.round(9) + 0.0]


def _monomials(n: int, degree: int) -> dict[Exponents, int]:
    """Those of a degree in n + 1 variables, numbered."""
    chosen = combinations_with_replacement(range(n + 1), degree)
    return {tuple(one.count(j) for j in range(n + 1)): k for k, one in enumerate(chosen)}


def _kernel(system: PolynomialSystem, degrees: Sequence[int], top: int) -> Any:
    """The functionals of degree `top` that vanish on the ideal: one a column, the monomials as rows; x₀ comes last."""
    n, columns = system.n, _monomials(system.n, top)
    rows: list[list[int]] = []
    for terms, degree in zip(system.equations, degrees, strict=True):
        shared = lcm(*(value.real.denominator for value in terms.values()))
        whole = {(*key, degree - sum(key)): int(value.real * shared) for key, value in terms.items()}
        for factor in _monomials(n, top - degree):
            row = [0] * len(columns)
            for key, value in whole.items():
                row[columns[tuple(a + b for a, b in zip(key, factor, strict=True))]] = value
            rows.append(row)
    basis, nullity = fmpz_mat(rows).nullspace()
    return fmpz_mat(len(columns), nullity, [basis[i, k] for i in range(len(columns)) for k in range(nullity)])


def _multiplications(kernel: Any, n: int, top: int, h: Sequence[int]) -> list[Any] | None:
    """M₁, ..., Mₙ and M₀ of xⱼ/h; None when h vanishes at a solution, or there are infinitely many."""
    above, below, size = _monomials(n, top), _monomials(n, top - 1), kernel.ncols()

    def times(j: int) -> Any:
        """The functionals on xⱼ times the monomials of one degree less."""
        places = [above[tuple(e + (i == j) for i, e in enumerate(key))] for key in below]
        return fmpq_mat(fmpz_mat(len(below), size, [kernel[p, k] for p in places for k in range(size)]))

    by_variable = [times(j) for j in range(n + 1)]
    by_h = reduce(lambda a, b: a + b, (m * fmpq(c) for m, c in zip(by_variable, h, strict=True)))
    reduced, rank = by_h.transpose().rref()
    if rank < size:
        return None
    pivots = [next(j for j in range(len(below)) if reduced[i, j]) for i in range(size)]

    def chosen(matrix: Any) -> Any:
        return fmpq_mat(size, size, [matrix[i, k] for i in pivots for k in range(size)])

    inverse = chosen(by_h).inv()
    return [inverse * chosen(matrix) for matrix in by_variable]


def _univariate(matrices: Sequence[Any], form: Sequence[int]) -> list[ExactSolution] | None:
    """The finite solutions as values of polynomials at the roots of χ; None when ℓ does not tell them apart."""
    size = matrices[0].nrows()
    turned = reduce(lambda a, b: a + b, (m * fmpq(c) for m, c in zip(matrices, form, strict=True)))
    _, factors = turned.charpoly().factor()
    simple = reduce(lambda a, b: a * b, (q for q, _ in factors), fmpq_poly([1]))
    simple = simple / simple[simple.degree()]
    powers = [fmpq_mat(size, size, [int(i == k) for i in range(size) for k in range(size)])]
    for _ in range(simple.degree() - 1):
        powers.append(powers[-1] * turned)
    weights = _numerator(powers, simple, None)
    common, inverse, _ = weights.xgcd(simple)
    if common.degree() != 0:
        return None
    values = [(_numerator(powers, simple, m) * inverse / common[0]) % simple for m in matrices]
    for matrix, value in zip(matrices, values, strict=True):
        image = reduce(lambda a, b: a + b, (p * value[k] for k, p in enumerate(powers)))
        if (matrix - image).charpoly() != fmpq_poly([0] * size + [1]):
            return None
    return [one for q, many in factors for one in _solutions(q, many, values)]


def _numerator(powers: Sequence[Any], simple: Any, matrix: Any) -> Any:
    """Σₚ mₚ f(p) Π (T − ℓ(p′)) over the other solutions p′, from the traces of f(M) M_ℓᵏ; f = 1 without a matrix."""
    degree = simple.degree()
    horner, total = fmpq_poly([1]), fmpq_poly([0])
    polynomials = []
    for k in range(degree):
        polynomials.append(horner)
        horner = horner * fmpq_poly([0, 1]) + simple[degree - 1 - k]
    for k, power in enumerate(powers):
        product = power if matrix is None else power * matrix
        total += polynomials[degree - 1 - k] * sum((product[i, i] for i in range(product.nrows())), fmpq(0))
    return total


def _solutions(minimal: Any, multiplicity: int, values: Sequence[Any]) -> list[ExactSolution]:
    """One for each root of an irreducible factor of χ; none when these are at infinity."""
    *finite, last = [value % minimal for value in values]
    if not last:
        return []
    found = []
    with precision(BITS):
        for root, _ in minimal.complex_roots():
            scale = _at(last, root)
            found.append(
                ExactSolution(
                    tuple(_at(v, root) / scale for v in finite), multiplicity, str(minimal), minimal.degree()
                )
            )
    return found


def _at(polynomial: Any, place: Any) -> Any:
    """The value at a ball."""
    total = acb(0)
    for k in range(polynomial.degree(), -1, -1):
        total = total * place + acb(polynomial[k])
    return total
