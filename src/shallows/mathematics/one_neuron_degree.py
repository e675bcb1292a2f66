"""How many complex critical points one neuron a Σ c_j (w·x)^j has, under a generic metric or a rotation-invariant one.

Such functions are a cone over a projective variety X of dimension n, and for a generic target

    count = (−1)ⁿ ∫ Eu_X over X ∖ (Q ∪ H),

Q the isotropic quadric ⟨s, s⟩ = 0, H a generic hyperplane, Eu_X MacPherson's local Euler obstruction (P. Aluffi, C.
Harris, "The Euclidean distance degree of smooth complex projective varieties", Algebra Number Theory 12, 2018; L. G.
Maxim, J. I. Rodriguez, B. Wang, "Euclidean distance degree of the multiview variety", SIAM J. Appl. Algebra Geom. 4,
2020, for singular X). A special target, or metric, has at most as many isolated points. With w = ρu let g be the
greatest common divisor of the differences of the powers j₁ < … < j_J, and (s₀ : s₁) = (1 : ρ^g). X is the image of the
P¹-bundle B over P^{n−1} ∋ u by all

    u^j s₁^((j−j₁)/g) s₀^((j_J−j)/g),       A(B) = Z[H, ζ]/(Hⁿ, ζ(ζ − gH)),   s₀ in ζ,   s₁ in ζ − gH,

which are in h = j₁H + (j_J−j₁)/g ζ: one to one but for s₁ = 0 where j₁ = 0, which is a point then. GL_n acts, so X is a
product along s₁ = 0 and along s₀ = 0, with a curve of multiplicity (j₂−j₁)/g and (j_J−j_{J−1})/g: that is Eu_X there.
At the point for j₁ = 0 it is the Euler number of {f = δ}/μ_g for a generic f of degree j₂, (1 + (−1)^{n−1}(j₂−1)ⁿ)/g.

Q is generic of class 2h. Under rotation-invariant metrics ⟨ψ(w), ψ(w)⟩ is (ρ‖u‖)^2j₁ times a polynomial of ρ²‖u‖²: Q
consists of ‖u‖² = 0, for j₁ > 0, and of ρ²‖u‖² = r, one for each of its zeros, which meet in {‖u‖² = s₀ = 0} alone.
Integrals are those of Chern-Schwartz-MacPherson classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, reduce
from math import gcd

#: Where such numbers come from, in a chart's words.
NEURON_SOURCE = "Euler numbers of the variety of one neuron without isotropic points"
#: Coefficients of H^i ζ^e, i < n and e = 0, 1.
Class = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True)
class _Bundle:
    """The Chow ring of B."""

    n: int
    g: int

    def times(self, a: Class, b: Class) -> Class:
        """Their product: ζ² = gHζ."""
        out = [[0] * self.n, [0] * self.n]
        for e, first in enumerate(a):
            for i, x in enumerate(first):
                for f, second in enumerate(b):
                    for k, y in enumerate(second):
                        power, factor = (i + k, 1) if e + f < 2 else (i + k + 1, self.g)
                        if x and y and power < self.n:
                            out[min(e + f, 1)][power] += factor * x * y
        return tuple(out[0]), tuple(out[1])

    def linear(self, one: int, along: int, across: int) -> Class:
        """one + along H + across ζ."""
        head = [one, along] + [0] * (self.n - 2) if self.n > 1 else [one]
        return tuple(head), (across, *[0] * (self.n - 1))

    def inverse(self, along: int, across: int) -> Class:
        """1/(1 + along H + across ζ)."""
        step, power = self.linear(0, -along, -across), self.linear(1, 0, 0)
        total = power
        for _ in range(self.n):
            power = self.times(power, step)
            total = self.plus(total, power)
        return total

    def plus(self, a: Class, b: Class, factor: int = 1) -> Class:
        """a + factor b."""
        return (
            tuple(x + factor * y for x, y in zip(a[0], b[0], strict=True)),
            tuple(x + factor * y for x, y in zip(a[1], b[1], strict=True)),
        )

    def within(self, c: Class, along: int, across: int) -> Class:
        """The Chern class of a hypersurface of this class in what has the class c."""
        return self.times(self.times(c, self.linear(0, along, across)), self.inverse(along, across))

    @property
    def chern(self) -> Class:
        """c(TB)."""
        factors = [self.linear(1, 1, 0)] * self.n + [self.linear(1, 0, 1), self.linear(1, -self.g, 1)]
        return reduce(self.times, factors)

    def degree(self, c: Class) -> int:
        """∫ c: H^{n−1}ζ is a point."""
        return c[1][-1]


@lru_cache(maxsize=256)
def one_neuron_degree(powers: tuple[int, ...], n: int, invariant: bool = False) -> int | None:
    """The number of critical points with w ≠ 0 up to the symmetries ρ → ζρ of the neuron; None where it is not known.

    `invariant`: the metric is rotation-invariant, and the zeros of ⟨ψ(w), ψ(w)⟩ in ρ²‖u‖² are different.

    >>> [(one_neuron_degree(p, n), one_neuron_degree(p, n, True)) for p in ((1, 2), (1, 3)) for n in (2, 3)]
    [(10, 4), (37, 7), (14, 6), (80, 16)]
    >>> [one_neuron_degree((0, 1, 2), n) for n in (1, 2, 3)], one_neuron_degree((0, 2), 2)
    ([4, 13, 40], 4)
    """
    g = gcd(*(j - powers[0] for j in powers))
    if len(powers) < 2 or (invariant and (n == 1 or (g > 1 and g % 2))):
        return None
    ring = _Bundle(n, g)
    first, last = (powers[1] - powers[0]) // g, (powers[-1] - powers[-2]) // g
    height = (powers[-1] - powers[0]) // g
    whole, start, end = ring.chern, ring.within(ring.chern, -g, 1), ring.within(ring.chern, 0, 1)
    weighted = ring.plus(ring.plus(whole, start, (first if powers[0] else 0) - 1), end, last - 1)
    if invariant:
        rest = ring.plus(weighted, _isotropic(ring, powers, first, last), -1)
    else:
        rest = ring.times(weighted, ring.inverse(2 * powers[0], 2 * height))
    total = ring.degree(ring.times(rest, ring.inverse(powers[0], height)))
    if not powers[0]:
        total += (1 + (-1) ** (n - 1) * (powers[1] - 1) ** n) // g
    return int((-1) ** n * total)


def _isotropic(ring: _Bundle, powers: tuple[int, ...], first: int, last: int) -> Class:
    """The class of Q, weighted by Eu_X: ρ²‖u‖² = r for all zeros r, and ‖u‖² = 0 unless j₁ = 0."""
    span, whole = powers[-1] - powers[0], ring.chern
    places, across = (span, 2) if ring.g == 1 else (2 * span // ring.g, 1)
    round_ = ring.within(whole, 2, 0)
    shared = ring.within(round_, 0, 1)
    zeros = ring.within(whole, 0, across)
    if not powers[0]:
        return ring.plus(ring.plus(shared, zeros, places), shared, last - 1 - places)
    result = ring.plus(ring.plus(round_, zeros, places), shared, last - 1 - places)
    return ring.plus(result, ring.within(ring.within(whole, -ring.g, 1), 2, 0), first - 1)
