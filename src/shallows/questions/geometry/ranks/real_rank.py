"""The real rank of a symmetric tensor: the smallest width of a network that computes it (paper 000, section 1).

Decided for matrices, for forms in one or two essential variables of degree ≤ 6, and beyond that where a theorem
decides; otherwise bounds. For a binary form F of degree d ≥ 3, not a power, with apolar generators of degrees
r₁ ≤ r₂ = d+2−r₁ (Sylvester):

- rank r₁ if g₁ has distinct real roots (r₁ < r₂), or if some member of the pencil ⟨g₁, g₂⟩ has (r₁ = r₂);
- otherwise rank ≥ r₂ (≥ r₁+1 for a pencil), since every apolar form of lower degree is a multiple of g₁;
- rank ≥ the number of real roots of F with multiplicity (Sylvester 1864; Reznick 2013, Theorem 3.2);
- rank d if and only if all roots of F are real. "If" is the previous line. "Only if" (Causa–Re 2011, Comon–Ottaviani
  2012 for simple roots) holds for repeated ones too: were all polars ∂_vF real-rooted, z ↦ z − d·F/F′ would map the
  upper half plane to itself with a fixed point at a root of multiplicity m ≤ d/2 and multiplier |1 − d/m| ≥ 1,
  against Schwarz's lemma; so some polar has non-real roots, by induction rank ≤ d−2, and integrates to rank ≤ d−1.

For d ≤ 6 these leave nothing open. For d ≥ 7 a search for a real-rooted apolar form, checked exactly, lowers the
upper bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import qr

from shallows.mathematics.exact import binary_forms
from shallows.mathematics.exact.linear_algebra import matrix, to_flint
from shallows.mathematics.numerical_rank import rank_of
from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.questions.geometry.ranks.exact_form import ExactForm, read_exact
from shallows.questions.geometry.ranks.rounded_binary_forms import numerical_rank, rank_near_low_rank
from shallows.questions.geometry.ranks.widths import filling_width
from shallows.support.arguments import typed
from shallows.support.checks import Array, finite_number
from shallows.support.seeds import generator

#: Singular values of a catalecticant below this share of the largest count as zero, for entries with rounding.
TOLERANCE = 1e-10
#: Random apolar forms that are tried for d ≥ 7, with integer weights up to GRID (they are checked exactly).
SAMPLES, GRID = 200, 1000
#: A root with a larger imaginary part, relatively, is not worth an exact check.
REAL_ROOT = 1e-9

Answer = int | tuple[int, int]
FormLike = SymmetricTensor | str | Mapping[tuple[int, ...], Fraction | float] | ArrayLike


@typed
def real_rank(tensor: FormLike, tolerance: float = TOLERANCE, rng: int | np.random.Generator = 0) -> Answer:
    """The real rank of T, or (lower, upper) where it is not decided.

    `tensor` is a SymmetricTensor, a symmetric matrix, or exact input: text or {exponents: Fraction}. Repeated roots
    are decided on exact input; floats within rounding of a simple rational are read as that rational. A float tensor
    whose catalecticant is singular to `tolerance` (relative) counts as the low-rank tensor it is near; when the
    apolar form of that one has a root that may be double, the answer is an interval. `rng` seeds the search for
    d ≥ 7, which can only tighten the upper bound.

    >>> real_rank("x^3 - 3*x*y^2"), real_rank("x^3 + y^3"), real_rank("x^4*y"), real_rank([[0.0, 1.0], [1.0, 0.0]])
    (3, 2, 5, 2)
    """
    tol = finite_number("tolerance", tolerance, minimum=0.0)
    form = read_exact(tensor)
    if form.is_zero:
        return 0
    if form.degree == 1 or form.n == 1:
        return 1
    essential = _essential_variables(form, tol)
    if form.degree == 2 or len(essential) == 1:
        return len(essential)
    restricted = form.restrict(essential)
    if len(essential) == 2:
        return _binary_rank(restricted, tol, generator(rng))
    return _interval(_flattening_rank(restricted, tol), filling_width(form.degree, len(essential))[1])


def _interval(lower: int, upper: int) -> Answer:
    return lower if lower >= upper else (lower, upper)


# -- many variables ------------------------------------------------------------------------------------


def _flattening(form: ExactForm, order: int) -> list[list[Fraction]]:
    """The catalecticant Sym^order → Sym^(d−order), on entries."""
    table = coordinates.product_table(form.n, order, form.degree - order)
    return [[form.entries[k] for k in row] for row in table]


def _scaled_flattening(form: ExactForm, order: int) -> Array:
    """The catalecticant in Frobenius-orthonormal coordinates, so that its singular values mean something."""
    rows = np.array([[float(value) for value in row] for row in _flattening(form, order)])
    left = np.sqrt(coordinates.multiplicities(form.n, order))
    right = np.sqrt(coordinates.multiplicities(form.n, form.degree - order))
    return np.asarray(left[:, None] * rows * right)


def _essential_variables(form: ExactForm, tolerance: float) -> list[int]:
    """Variables J whose partial derivatives are a basis of all: setting the others to 0 keeps the rank.

    F depends on x only modulo K = {v : ∂_vF = 0}, and the coordinates J span a complement of K.
    """
    if form.floating:
        _, triangle, order = qr(_scaled_flattening(form, 1).T, mode="economic", pivoting=True)
        size = np.abs(np.diag(triangle))
        return sorted(order[: rank_of(size, tolerance)].tolist())
    transposed = [list(column) for column in zip(*_flattening(form, 1), strict=True)]
    reduced, rank = matrix(transposed).rref()
    return [next(j for j in range(form.n) if reduced[i, j] != 0) for i in range(rank)]


def _flattening_rank(form: ExactForm, tolerance: float) -> int:
    """The rank of the most square catalecticant: a lower bound of the rank over any field."""
    order = form.degree // 2
    if form.floating:
        return numerical_rank(_scaled_flattening(form, order), tolerance)
    return int(matrix(_flattening(form, order)).rank())


# -- two variables -------------------------------------------------------------------------------------


def _binary_rank(form: ExactForm, tolerance: float, rng: np.random.Generator) -> Answer:
    low = binary_forms.apolar_degree(form.entries)
    if form.floating:
        near = _flattening_rank(form, tolerance)
        if near < low:
            return rank_near_low_rank(np.array([float(a) for a in form.entries]), near)
    return binary_rank(form.entries, rng)


def lowest_real_apolar(entries: list[Fraction]) -> binary_forms.Form | None:
    """An apolar form of the lowest degree r₁ with distinct real roots, or None."""
    low = binary_forms.apolar_degree(entries)
    basis = binary_forms.apolar_forms(entries, low)
    if len(basis) == 2:
        return binary_forms.real_rooted_in_pencil(*basis)
    return basis[0] if binary_forms.is_real_rooted(basis[0]) else None


def binary_rank(entries: list[Fraction], rng: np.random.Generator) -> Answer:
    """The real rank of the binary form Σ C(d,k) a_k x^{d−k} y^k, d ≥ 3, not zero (see the module)."""
    d = len(entries) - 1
    low = binary_forms.apolar_degree(entries)
    if lowest_real_apolar(entries) is not None:
        return low
    roots = sum(binary_forms.multiplicities(binary_forms.coefficients(entries)))
    if roots == d:
        return d
    lower = max(roots, d + 2 - low if 2 * low < d + 2 else low + 1)
    upper = d - 1
    for order in range(lower, upper):
        if _find_real_rooted(entries, order, rng) is not None:
            upper = order
            break
    return _interval(lower, upper)


def _find_real_rooted(
    entries: list[Fraction], order: int, rng: np.random.Generator
) -> binary_forms.Form | None:
    """Sample apolar forms of this degree; a candidate with real roots in floats is checked exactly."""
    basis = binary_forms.apolar_forms(entries, order)
    numbers = np.array([[float(c.p) / float(c.q) for c in form] for form in basis])
    mixing = np.linalg.qr(numbers.T)[1]
    for _ in range(SAMPLES):
        weights = np.linalg.solve(mixing, rng.standard_normal(len(basis)))
        whole = np.rint(GRID * weights / np.max(np.abs(weights)))
        roots = np.roots(whole @ numbers)
        if len(roots) != order or np.any(np.abs(roots.imag) > REAL_ROOT * (1 + np.abs(roots))):
            continue
        parts = [to_flint(Fraction(int(w))) for w in whole]
        form = [
            sum((w * f[j] for w, f in zip(parts, basis, strict=True)), 0 * f0)
            for j, f0 in enumerate(basis[0])
        ]
        if binary_forms.is_real_rooted(form):
            return form
    return None
