"""Neurons in one input, more of them than a function determines: which networks are critical, which targets are one.

A network Σ aᵢ p(wᵢx + bᵢ) is critical where q(w) = E[p(wx + b) r], r the residual, is zero with its gradient at every
neuron in use. Let q not be zero, that is, the function not be the target.

*Without bias* q has the J powers of p, and its double roots other than 0 are neurons. With signs σ of its coefficients
it has at most V₊ and V₋ positive and negative roots, the changes of sign of q(w) and q(−w) (Descartes): at most
⌊V₊/2⌋ + ⌊V₋/2⌋ neurons in use, and one more at 0 where p has a constant and no slope. Where that is less than J/2, or
J = 4 (`double_roots`), as it is up to degree five, all critical networks but the target have so few neurons in use.

*With a bias*, p a cubic, p(z − h) = c(z³ + κz + μ): with Eⱼ = E[r xʲ] the curve q = 0 is a cubic one, and all its
singular points lie on one line E₀b + E₁w = const. Two of them make that line a part of q; comparing coefficients, it is

- w = 0, and the neurons are constants, or an odd p's neuron and its opposite, which is the same one; or
- q = E₀ p(b + x₀w), r a point evaluation at x₀, and p has a double root z₀; or, κ = 0, r the derivative at some x₀:
  then neurons are z₀ + w(x − x₀), z₀ = −h if κ = 0, and `special_networks` has them. They are those of one neuron,
  unless a power is missing in them.

So critical networks of all widths but the target are those of one neuron, and all of these are saddles: an idle neuron
with q(w) ≠ 0 descends. *With a bias* and a p of higher degree there are folds (`line_folds`).

*Which targets are networks.* With J neurons all are: different positive w have independent powers. A target t is one of
J − 1 neurons only if some q ≠ 0 with Σ qⱼtⱼ/cⱼ = 0 has J − 1 different roots, and signs bound their number. Where w and
−w are different neurons almost all t are, and all are limits; signs of an even or odd p may exclude that as well.
With a bias two neurons have every t of degree three: one for x³ and x², and for the rest a neuron near a root of p.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
from flint import fmpq_poly

from shallows.mathematics.exact.binary_forms import real_roots
from shallows.mathematics.exact.linear_algebra import to_flint
from shallows.mathematics.exact.rational_arrays import rational_matrix
from shallows.model.activations import PolynomialActivation, polynomial_of
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.neurons.best_on_line import critical_polynomial
from shallows.questions.charts.neurons.neuron import Neuron
from shallows.support.checks import Array

#: With a bias: the degree at which all singular points are known.
CUBIC = 3
#: Without bias: the number of powers for which pairs that generic neurons do not lead to are charted (`double_roots`).
PAIRED = 4


def is_wide_line(problem: Problem) -> bool:
    """Whether a problem has trained neurons in one input, more than are isolated."""
    activation = problem.activation
    if not isinstance(activation, PolynomialActivation) or problem.n != 1 or problem.outputs != 1:
        return False
    if problem.outer is not None or problem.width == 1:
        return False
    if problem.bias:
        return activation.degree >= CUBIC and 3 * problem.width > activation.degree
    return bool(2 * problem.width > np.count_nonzero(activation.coefficients))


def isolated_on_line(problem: Problem) -> int:
    """Up to how many neurons they are charted one by one."""
    p = polynomial_of(problem.activation)
    return p.degree // 3 if problem.bias else (int(np.count_nonzero(p.coefficients)) - 1) // 2


def is_cubic(problem: Problem) -> bool:
    """Whether neurons are cubic and have a bias: what is critical is known by hand."""
    return problem.bias and polynomial_of(problem.activation).degree == CUBIC


def changes(signs: Sequence[int], powers: Sequence[int]) -> tuple[int, int]:
    """V₊ and V₋ of a polynomial with these signs, zeros left out.

    >>> changes([1, -1, 1], [0, 2, 4]), changes([1, 0, -1], [1, 2, 4])
    ((2, 2), (1, 0))
    """
    left = [(s, j) for s, j in zip(signs, powers, strict=True) if s]
    steps = [(s * t, (k - j) % 2) for (s, j), (t, k) in pairwise(left)]
    return sum(s < 0 for s, _ in steps), sum(s < 0 if not odd else s > 0 for s, odd in steps)


def is_mirrored(powers: Sequence[int]) -> bool:
    """Whether p is even or odd, so that w and −w are one neuron."""
    return len({j % 2 for j in powers}) == 1


def most_neurons(powers: Sequence[int]) -> int:
    """How many different double roots, but 0, a polynomial of these powers can have; w, −w are one if p is even or odd.

    >>> most_neurons([1, 3]), most_neurons([0, 1, 3]), most_neurons([1, 2, 3, 4]), most_neurons([0, 1, 3, 5, 6])
    (0, 1, 1, 3)
    """
    within = (powers[-1] - powers[0]) // 2
    counts = [changes(signs, powers) for signs in product((1, -1), repeat=len(powers))]
    one_sided = is_mirrored(powers)
    return max(min(plus // 2 if one_sided else plus // 2 + minus // 2, within) for plus, minus in counts)


def can_be_network(powers: Sequence[int], moments: Sequence[Fraction], width: int) -> bool:
    """Whether signs allow a target with these tⱼ/cⱼ to be a network of J − 1 neurons, or J; False is proved.

    >>> can_be_network([0, 2, 4], [1, -1, 1], 2), can_be_network([0, 2, 4], [1, 1, 1], 2)
    (False, True)
    """
    return width >= len(powers) or any(
        _roots(signs, powers) >= len(powers) - 1
        for signs in product((0, 1, -1), repeat=len(powers))
        if any(signs) and _can_vanish(signs, moments)
    )


def _can_vanish(signs: Sequence[int], moments: Sequence[Fraction]) -> bool:
    """Whether numbers with these signs may have Σ qⱼmⱼ = 0."""
    parts = [s * m for s, m in zip(signs, moments, strict=True)]
    return (max(parts) > 0) == (min(parts) < 0)


def _roots(signs: Sequence[int], powers: Sequence[int]) -> int:
    """How many different neurons are roots of a polynomial with these signs, at most."""
    plus, minus = changes(signs, powers)
    still = int(not powers[0] and not signs[0])
    return still + (plus if is_mirrored(powers) else plus + minus)


def is_beyond_limits(powers: Sequence[int], moments: Sequence[Fraction]) -> bool:
    """Whether a target is no limit of networks of J − 1 neurons, either: p even or odd, and all signs alternate.

    Limits are the q with roots at 0 and ∞, where coefficients may vanish; in other cases all targets are.
    """
    turned = [m * (-1) ** i for i, m in enumerate(moments)]
    return is_mirrored(powers) and (min(turned) > 0 or max(turned) < 0)


def is_affine_beyond_two(problem: Problem, space: PolynomialSpace) -> bool:
    """Whether the target is affine, no constant, and there are two neurons with κ = 0, which have no such function.

    Σ cᵢ(x − xᵢ)³ of two terms without x³ and x² has x₁ = x₂ and c₁ + c₂ = 0: a constant is left.
    """
    c = _fractions(polynomial_of(problem.activation).coefficients)
    orders = [order for order, _ in _special_roots(c)]
    t = space.exact.target
    return problem.width == 2 and orders == [1] and bool(t[1]) and not t[2:].any()


def special_networks(
    problem: Problem, space: PolynomialSpace, neuron: Neuron
) -> list[tuple[Array, Array, Array]]:
    """(b, w), a and function of two cubic neurons z₀ + w(x − x₀), r an evaluation at x₀, or a derivative there.

    u being (1, x, x², x³), or its derivative: s = t − λ G⁻¹u(x₀) with u·s = u′·s = 0 at x₀, one equation for x₀.
    """
    if not is_cubic(problem):
        return []
    found = []
    for order, root in _special_roots(_fractions(polynomial_of(problem.activation).coefficients)):
        u = _powers(order)
        for x in _places(space, u):
            values = np.array([float(row(x)) for row in map(_series, u)])
            inverse = np.linalg.solve(space.gram, values)
            s = space.target - inverse * float(values @ space.target) / float(values @ inverse)
            slope = 1 / np.sqrt(float(space.gram[1, 1] - space.gram[0, 1] ** 2 / space.gram[0, 0]))
            W = np.array([[root - slope * x, slope], [root + slope * x, -slope]])
            a = np.linalg.lstsq(neuron.values(W).T, s)[0]
            found.append((W, a, np.asarray(a @ neuron.values(W))))
    return found


def _special_roots(c: Sequence[Fraction]) -> list[tuple[int, float]]:
    """(0, z₀) for a double root z₀ of p, (1, −h) where κ = 0."""
    h = c[2] / (3 * c[3])
    kappa, mu = c[1] / c[3] - 3 * h**2, c[0] / c[3] - h * c[1] / c[3] + 2 * h**3
    if not kappa:
        return [(1, float(-h))]
    root = -3 * mu / (2 * kappa)  # of p and p′, if they have one in common
    return [] if kappa + 3 * root**2 else [(0, float(root - h))]


def _fractions(coefficients: Array) -> list[Fraction]:
    return [Fraction(float(c)) for c in coefficients]


def _powers(order: int) -> list[Any]:
    """The `order`-th derivatives of 1, x, x², x³."""
    rows = [fmpq_poly([0] * j + [1]) for j in range(CUBIC + 1)]
    return [row.derivative() for row in rows] if order else rows


def _series(p: Any) -> Any:
    return np.polynomial.Polynomial([float(Fraction(int(c.p), int(c.q))) for c in p.coeffs()] or [0.0])


def _places(space: PolynomialSpace, u: list[Any]) -> list[float]:
    """The real roots x₀ of (u′·t)(uᵀG⁻¹u) − (u·t)(u′ᵀG⁻¹u)."""
    inverse = rational_matrix(space.exact.gram).inv()
    t = [to_flint(value) for value in space.exact.target]
    whole = critical_polynomial(u, [row.derivative() for row in u], t, inverse)
    return [float(ball.mid()) for ball, _ in real_roots(whole)]
