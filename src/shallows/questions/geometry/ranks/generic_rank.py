"""The generic rank of dτ, proved: dim F_r for any (d, n, r), Alexander–Hirschowitz exceptions included.

From below: the rank modulo a prime at one network with integer weights is at most its rank over Q, which is at
most the generic rank. From above: rk dτ ≤ rn, and rk dτ ≤ N − k when k independent forms of degree d are singular
at every neuron (Lemma 8). `singular_form` builds such a form for *any* general points in the cases that matter:

- d even, r < dim Sym^{d/2}: some form Q of degree d/2 vanishes at the r points, and Q² is singular there. With a
  k-dimensional space of such Q the products span at least 2k−1 dimensions (k(k+1)/2 for d = 2).
- (d, n, r) = (3, 5, 7): seven general points of P⁴ lie on a rational normal quartic curve, and its secant variety,
  a cubic hypersurface, is singular along the curve.

The two bounds meet in every case with n, d ≤ 6 (a test), so there the dimension is proved by computation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import flint
import numpy as np
from numpy.typing import ArrayLike, NDArray

from shallows.mathematics.exact.linear_algebra import PRIME, kernel, modular_rank
from shallows.mathematics.tensors import coordinates
from shallows.support.arguments import typed
from shallows.support.checks import describe, positive_integer
from shallows.support.errors import InvalidProblem
from shallows.support.seeds import generator


@dataclass(frozen=True)
class GenericRank:
    """lower ≤ generic rank of dτ_r ≤ upper; `argument` says why the upper bound holds."""

    degree: int
    n: int
    width: int
    lower: int
    upper: int
    argument: str

    @property
    def proved(self) -> bool:
        """Whether the bounds meet: then dim F_r is `lower`, by proof."""
        return self.lower == self.upper

    def __repr__(self) -> str:
        value = f"= {self.lower}" if self.proved else f"in {self.lower}..{self.upper}"
        return f"GenericRank(d={self.degree}, n={self.n}, r={self.width}: {value}; {self.argument})"


def generic_rank(
    degree: int, n: int, width: int, rng: int | np.random.Generator = 0, attempts: int = 3
) -> GenericRank:
    """The generic rank of dτ_r: proved bounds from both sides (see the module).

    >>> generic_rank(4, 3, 5)
    GenericRank(d=4, n=3, r=5: = 14; the square of a form of degree 2 is singular at all neurons)
    """
    d, n = positive_integer("degree", degree), positive_integer("n", n)
    r = positive_integer("width", width)
    upper, argument = _upper(d, n, r)
    source = generator(rng)
    lower = 0
    for _ in range(positive_integer("attempts", attempts)):
        W = source.integers(0, PRIME, size=(r, n))
        lower = max(lower, modular_rank(_tangents_modulo(W, d)))
        if lower == upper:
            break
    return GenericRank(d, n, r, lower, upper, argument)


def _tangents_modulo(W: NDArray[np.int64], degree: int) -> NDArray[np.int64]:
    """∂ w^I / ∂w_j modulo the prime for each neuron and j, shape (rn, N)."""
    table = coordinates.exponents(W.shape[1], degree)
    powers = [np.ones_like(W)]
    for _ in range(degree):
        powers.append(powers[-1] * W % PRIME)
    stacked = np.stack(powers)  # (d+1, r, n)
    rows = []
    for j in range(W.shape[1]):
        product = np.broadcast_to(table[:, j], (len(W), len(table)))
        for i in range(W.shape[1]):
            e = np.maximum(table[:, i] - (i == j), 0)
            product = product * stacked[e, :, i].T % PRIME
        rows.append(product)
    return np.concatenate(rows)


def _upper(d: int, n: int, r: int) -> tuple[int, str]:
    """The smallest of the upper bounds of the module's docstring."""
    ambient = coordinates.dimension(n, d)
    bounds = [(ambient, "the whole space"), (n * r, "n for each neuron")]
    if d % 2 == 0:
        k = coordinates.dimension(n, d // 2) - r
        if k > 0:
            missing = k * (k + 1) // 2 if d == 2 else 2 * k - 1
            text = f"the square of a form of degree {d // 2} is singular at all neurons"
            bounds.append((ambient - missing, text))
    if (d, n, r) == (3, 5, 7):
        bounds.append(
            (ambient - 1, "the secant cubic of the quartic curve through the neurons is singular there")
        )
    return min(bounds, key=lambda bound: bound[0])


def singular_form(points: ArrayLike, degree: int) -> Any:
    """A nonzero form of degree d singular at all given integer points, exactly (a python-flint polynomial).

    Built as the module's docstring says: the square of a form through the points (d even, fewer points than
    dim Sym^{d/2}), or the secant cubic through seven general points of P⁴.

    >>> singular_form(np.eye(3, dtype=int), 4)
    x1^2*x2^2
    """
    W = np.asarray(points)
    if W.ndim != 2 or not np.issubdtype(W.dtype, np.integer):
        raise InvalidProblem(
            f"points has shape {W.shape} and dtype {W.dtype}; expected integer points as rows."
        )
    d = positive_integer("degree", degree)
    r, n = W.shape
    if d % 2 == 0 and r < coordinates.dimension(n, d // 2):
        return _form_through(W, d // 2) ** 2
    if (d, n, r) == (3, 5, 7):
        return _secant_cubic(W)
    raise InvalidProblem(
        f"No singular form of degree {d} is known for every set of {r} points in {n} variables: expected d even with "
        f"fewer points than dim Sym^(d/2), or (d, n, r) = (3, 5, 7)."
    )


@typed
def is_singular_at(form: Any, points: ArrayLike) -> bool:
    """Whether all partial derivatives of the form vanish at all integer points, exactly.

    >>> points = np.eye(3, dtype=int)
    >>> quartic = singular_form(points, 4)
    >>> is_singular_at(quartic, points), is_singular_at(quartic, points + 1)
    (True, False)
    """
    W = np.asarray(points)
    if not hasattr(form, "derivative") or W.ndim != 2:
        raise InvalidProblem(
            f"form is {describe(form)} and points {describe(points)}; expected a polynomial of python-flint, as "
            "`singular_form` returns, and one point a row."
        )
    partials = [form.derivative(j) for j in range(W.shape[1])]
    return all(partial(*map(int, w)) == 0 for w in W for partial in partials)


def _ring(n: int) -> Any:
    return flint.fmpq_mpoly_ctx.get([f"x{i + 1}" for i in range(n)], "lex")


def _form_through(W: NDArray[Any], degree: int) -> Any:
    """A form of this degree that vanishes at all points (fewer than the number of its coefficients)."""
    n = W.shape[1]
    table = coordinates.exponents(n, degree)
    values = [
        [int(np.prod([int(x) ** int(e) for x, e in zip(w, row, strict=True)])) for row in table] for w in W
    ]
    rows = flint.fmpq_mat(len(W), len(table), [v for row in values for v in row])
    solution = kernel(rows)[0]
    return _ring(n).from_dict({tuple(map(int, e)): c for e, c in zip(table, solution, strict=True) if c != 0})


def _secant_cubic(W: NDArray[Any]) -> Any:
    """det of the Hankel matrix of u, where the curve through the points is t ↦ (1, t, …, t⁴) in coordinates u.

    With w₁, …, w₅ at the coordinate points, w₆ at (1, …, 1) and w₇ at (a₁, …, a₅), the curve is
    t ↦ (Π_{j≠i} (t − c_j))ᵢ, c_i = 1/a_i: it meets them at t = c_i, ∞ and 0.
    """
    basis = flint.fmpq_mat(5, 5, [int(x) for x in W[:5].T.ravel()])
    sixth, seventh = (basis.inv() * flint.fmpq_mat(5, 1, [int(x) for x in w]) for w in W[5:])
    centres = [sixth[i, 0] / seventh[i, 0] for i in range(5)]
    curve = flint.fmpq_mat(5, 5)
    for i in range(5):
        product = flint.fmpq_poly([1])
        for j in (j for j in range(5) if j != i):
            product *= flint.fmpq_poly([-centres[j], 1])
        for k in range(5):
            curve[i, k] = sixth[i, 0] * product[k]
    change = (basis * curve).inv()
    gens = _ring(5).gens()
    u = [sum((change[k, i] * gens[i] for i in range(5)), start=0 * gens[0]) for k in range(5)]
    return (
        u[0] * (u[2] * u[4] - u[3] ** 2)
        - u[1] * (u[1] * u[4] - u[2] * u[3])
        + u[2] * (u[1] * u[3] - u[2] ** 2)
    )
