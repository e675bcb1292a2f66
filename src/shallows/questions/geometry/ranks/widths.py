"""Thick and filling widths: when the networks of width r fill Sym^d(R^n) (paper 000, equation 4, Theorem 1).

F_r, the networks of width r, are the symmetric tensors of real rank at most r. F_r is *thick* when it has
positive measure and *filling* when it is all of Sym^d(R^n). The thick width is the generic complex rank and
known in all cases; the filling width is the maximal real rank and known only in a few, so it is an interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from shallows.mathematics.tensors.coordinates import dimension
from shallows.support.checks import positive_integer

DEFECTIVE = frozenset({(4, 3, 5), (4, 4, 9), (4, 5, 14), (3, 5, 7)})
"""The triples (d, n, r), d ≥ 3, at which dim F_r is one less than min(nr, N) (Alexander–Hirschowitz)."""


@dataclass(frozen=True)
class FillingBounds:
    """lower ≤ r_fill(d, n) ≤ upper, each with where it comes from."""

    degree: int
    n: int
    lower: int
    upper: int
    lower_source: str
    upper_source: str

    @property
    def exact(self) -> bool:
        """Whether the filling width is known."""
        return self.lower == self.upper

    def __repr__(self) -> str:
        head = f"r_fill({self.degree}, {self.n})"
        if self.exact and self.lower_source == self.upper_source:
            return f"{head} = {self.lower} ({self.lower_source})"
        return (
            f"{self.lower} <= {head} <= {self.upper} (lower: {self.lower_source}; upper: {self.upper_source})"
        )


@dataclass(frozen=True)
class Regime:
    """Where a width stands: dim F_r in an ambient space of dimension N, the thick width, the filling interval.

    >>> cubics = [sh.regime(3, 3, width) for width in (3, 4, 5)]        # paper 000, section 2.1
    >>> [(regime.name, regime.dimension, regime.ambient) for regime in cubics]
    [('low-dimensional', 9, 10), ('thick', 10, 10), ('filling', 10, 10)]
    >>> cubics[0].thick, cubics[0].filling
    (4, (5, 5))
    """

    name: str
    dimension: int
    ambient: int
    thick: int
    filling: tuple[int, int]

    def __repr__(self) -> str:
        low, high = self.filling
        fill = f"= {low}" if low == high else f"in {low}..{high}"
        return (
            f"Regime({self.name!r}: dimension {self.dimension} of {self.ambient}, "
            f"thick from {self.thick}, filling width {fill})"
        )


def _checked(degree: int, n: int) -> tuple[int, int]:
    return positive_integer("degree", degree), positive_integer("n", n)


def thick_width(degree: int, n: int) -> int:
    """r_thick(d, n), the smallest width whose networks have positive measure in Sym^d(R^n) (paper 000, Theorem 1).

    ⌈C(n+d−1, d)/n⌉ for d ≥ 3, plus one for (d, n) = (4,3), (4,4), (4,5), (3,5) (Alexander–Hirschowitz); n for
    d = 2 (the paper prints d there); 1 for d = 1.

    >>> [thick_width(3, n) for n in range(2, 7)], thick_width(2, 7), thick_width(4, 3)
    ([2, 4, 5, 8, 10], 7, 6)
    """
    d, n = _checked(degree, n)
    if d == 1 or n == 1:
        return 1
    if d == 2:
        return n
    expected = -(-dimension(n, d) // n)
    return expected + ((d, n, expected) in DEFECTIVE)


def space_dimension(degree: int, n: int, width: int) -> int:
    """dim F_r, the generic rank of dτ_r.

    r(2n−r+1)/2 for d = 2 and r ≤ n; min(nr, N) for d ≥ 3, less one at the four defective triples; n for d = 1.

    >>> space_dimension(2, 5, 2), space_dimension(3, 5, 6), space_dimension(3, 5, 7), space_dimension(3, 5, 8)
    (9, 30, 34, 35)
    """
    d, n = _checked(degree, n)
    r = positive_integer("width", width)
    if d == 1:
        return n
    if d == 2:
        s = min(r, n)
        return s * (2 * n - s + 1) // 2
    return min(n * r, dimension(n, d)) - ((d, n, r) in DEFECTIVE)


def _best_monomial(degree: int, n: int) -> int:
    """The largest rank of a monomial x₀^{a₀}⋯x_k^{a_k}, a₀ ≤ … ≤ a_k, namely Π_{i≥1} (aᵢ+1).

    Moving weight from the smallest exponent to another one only helps, so a₀ = 1 and d−1 is shared evenly.
    """
    best = 1
    for others in range(1, min(n, degree)):
        share, rest = divmod(degree - 1, others)
        best = max(best, (share + 1) ** (others - rest) * (share + 2) ** rest)
    return best


def _lower_bounds(d: int, n: int) -> list[tuple[int, str]]:
    """Lower bounds on the maximal real rank, d ≥ 3 and n ≥ 3. Real rank ≥ complex rank, so complex ones serve."""
    bounds = [
        (thick_width(d, n), "thick width, Alexander–Hirschowitz"),
        (_best_monomial(d, n), "rank of a monomial, Carlini–Catalisano–Geramita 2012"),
    ]
    if d == 3:
        source = "rank of a quadric times a tangent hyperplane, Carlini–Guo–Ventura 2017"
        bounds.append((2 * n - 1, source))
    if n == 3:
        bounds.append(((d * d + 2 * d + 5) // 4, "ternary forms of high rank, De Paris 2017"))
    return bounds


def _submersion_bound(d: int, n: int) -> tuple[int, str]:
    """min over a of 2a + (N − dim F_a), at a = r_thick (twice the thick width) or a = r_thick − 1.

    Let u be generic with a active neurons, and add b = N − dim F_a idle ones (α = 0, w generic). Their powers
    w^⊗d complete the image of dτ to Sym^d, so τ_{a+b} is a submersion there and u + T/t has rank ≤ a+b for every
    T and large t. Then T = t(u + T/t) − tu has rank ≤ 2a+b. With b = 0 this is Blekherman–Teitler's argument.
    """
    g = thick_width(d, n)
    below = 2 * (g - 1) + dimension(n, d) - space_dimension(d, n, g - 1)
    if below < 2 * g:
        return below, "a submersion at a network with idle neurons, after Blekherman–Teitler 2015"
    return 2 * g, "twice the thick width, Blekherman–Teitler 2015"


def _cubic_recursion(n: int) -> tuple[int, str]:
    """r_fill(3, n) ≤ n + r_fill(3, n−1).

    Take u with T(u,u,·) ≠ 0. The matrix M = ∂_u T satisfies Mu ≠ 0, so it has a decomposition Σ bᵢ wᵢwᵢᵀ with at
    most n terms and all wᵢ·u ≠ 0 (turn any one by a generic element of the identity component of O(p,q); a
    matrix of rank one needs no turning). Then T − Σ bᵢ wᵢ^⊗3 / (3 wᵢ·u) has ∂_u = 0: a form in n−1 variables.
    """
    return n + filling_bounds(3, n - 1).upper, "n more than for n−1 variables, integrating a matrix (cubics)"


def _upper_bounds(d: int, n: int) -> list[tuple[int, str]]:
    """Upper bounds on the maximal real rank, d ≥ 3 and n ≥ 3."""
    bounds = [_submersion_bound(d, n)]
    if d == 3:
        bounds.append(_cubic_recursion(n))
    return bounds


def _known(d: int, n: int) -> tuple[int, str] | None:
    """The maximal real rank where it is known."""
    if d == 1 or n == 1:
        return 1, "one neuron is any form"
    if d == 2:
        return n, "spectral theorem"
    if n == 2:
        return d, "binary forms, Comon–Ottaviani 2012 (Example 2)"
    if (d, n) == (3, 3):
        return 5, "real ternary cubics, Bernardi–Blekherman–Ottaviani 2018"
    return None


@lru_cache(maxsize=256)
def _bounds(d: int, n: int) -> FillingBounds:
    known = _known(d, n)
    if known is not None:
        return FillingBounds(d, n, known[0], known[0], known[1], known[1])
    lower = max(_lower_bounds(d, n), key=lambda bound: bound[0])
    upper = min(_upper_bounds(d, n), key=lambda bound: bound[0])
    return FillingBounds(d, n, lower[0], upper[0], lower[1], upper[1])


def filling_bounds(degree: int, n: int) -> FillingBounds:
    """What is known about r_fill(d, n), the maximal real rank in Sym^d(R^n), with the source of each bound.

    Exact: d = 1 or n = 1 (1), d = 2 (n), n = 2 (d), (3,3) (5). Otherwise the lower bound is the largest of the
    thick width, ranks of monomials, of reducible cubics and of known ternary forms (complex ranks: the real rank
    is at least as large); the upper bound is the smaller of 2·r_thick and of two elementary improvements proved
    in `ranks.widths`. Maximal *complex* ranks say nothing from above and are not used.

    >>> filling_bounds(2, 6)
    r_fill(2, 6) = 6 (spectral theorem)
    """
    return _bounds(*_checked(degree, n))


def filling_width(degree: int, n: int) -> tuple[int, int]:
    """(lower, upper) bounds of r_fill(d, n), the smallest width whose networks are all of Sym^d(R^n).

    They are equal where it is known; `filling_bounds` names the sources (paper 000, equation 4 and Theorem 1).

    >>> filling_width(2, 6), filling_width(5, 2), filling_width(3, 3), filling_width(4, 3)
    ((6, 6), (5, 5), (5, 5), (7, 11))
    """
    bounds = filling_bounds(degree, n)
    return bounds.lower, bounds.upper


def _name(width: int, thick: int, lower: int, upper: int) -> str:
    if width < thick:
        return "low-dimensional"
    if width >= upper:
        return "filling"
    return "thick" if width < lower else "thick, filling unknown"


def regime(degree: int, n: int, width: int) -> Regime:
    """The regime of a width: "low-dimensional", "thick", "filling", or "thick, filling unknown".

    F_r, the networks of width r, are the tensors Σ aᵢ wᵢ^⊗d with r terms (paper 000, section 2.1). "thick" says that
    F_r has positive measure and is known not to be everything; "thick, filling unknown" that r lies between the
    bounds of the filling width.

    >>> regime(2, 5, 3)
    Regime('low-dimensional': dimension 12 of 15, thick from 5, filling width = 5)
    >>> regime(4, 3, 8).name
    'thick, filling unknown'
    """
    d, n = _checked(degree, n)
    r = positive_integer("width", width)
    thick, (lower, upper) = thick_width(d, n), filling_width(d, n)
    name = _name(r, thick, lower, upper)
    return Regime(name, space_dimension(d, n, r), dimension(n, d), thick, (lower, upper))
