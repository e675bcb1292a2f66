"""What one neuron, or two or three that merge, leave in the closure: blocks, polynomials of vectors and weights.

    neuron        a p(ℓ)
    at an end     c v^e₀                            any linear form where e₀ = 1
    merged        α p(ℓ) + u p′(ℓ)
    three merged  α p(ℓ) + u p′(ℓ) + β v² p″(ℓ)
    merged at an end, its powers e₀, e₁, … (`ends`), e_j the first with an odd gap:
                  v^(e₀−1)u + A v^e₁ + B v^e_j      neurons c, −c at ε and −ε: B e_j where there is one
                  k + v^(e₁−1)u + B v^e_j           at a constant, e₀ = 0

`opened` is the way back: neurons with which a block begins, ε from it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from shallows.questions.charts.neuron_limits.ends import End, Exact

#: How two neurons that merge where p is even or odd about the end differ in ε.
APART = Fraction(3, 4)
#: A neuron: its outer weight and the coefficients of L, the constant first.
OneNeuron = tuple[Fraction, Exact]


@dataclass(frozen=True)
class Part:
    """q(x_at), D q(x_at)[x_along] or, `twice`, D²q(x_at)[x_along, x_along], times a weight of the block where it
    has one."""

    q: tuple[float, ...]
    at: int
    along: int | None = None
    weight: int | None = None
    twice: bool = False

    @property
    def order(self) -> int:
        """How many derivatives it is."""
        return 0 if self.along is None else 1 + self.twice

    @property
    def bent(self) -> set[int]:
        """The vectors in which it is not linear, its weight being a parameter as well."""
        of_degree_one = len(self.q) == 2
        at = set() if of_degree_one and (self.order or self.weight is None) else {self.at}
        return at if self.along is None or (self.order == 1 and self.weight is None) else {*at, self.along}


def power(k: int) -> tuple[float, ...]:
    """z^k.

    >>> power(2)
    (0.0, 0.0, 1.0)
    """
    return (0.0,) * k + (1.0,)


class Block(ABC):
    """Parts in the block's own vectors; `ends` are those at which neurons come to it."""

    neurons: ClassVar[int]
    words: str
    ends: tuple[End | None, ...] = (None,)

    @property
    @abstractmethod
    def scaled(self) -> tuple[bool, ...]:
        """For each vector whether its length goes into weights."""

    @property
    @abstractmethod
    def parts(self) -> tuple[Part, ...]:
        """What is added up."""

    @property
    def weights(self) -> int:
        """How many weights they have."""
        return len({part.weight for part in self.parts} - {None})

    @abstractmethod
    def opened(
        self, end: End | None, vectors: list[Exact], weights: list[Fraction], epsilon: Fraction
    ) -> list[OneNeuron]:
        """Neurons whose sum is the block but for a power of ε."""


@dataclass(frozen=True)
class Single(Block):
    """A neuron."""

    p: tuple[float, ...]
    words: str = "a neuron"
    neurons: ClassVar[int] = 1

    @property
    def scaled(self) -> tuple[bool, ...]:
        """ℓ is free."""
        return (False,)

    @property
    def parts(self) -> tuple[Part, ...]:
        """a p(ℓ)."""
        return (Part(self.p, 0, weight=0),)

    def opened(
        self, end: End | None, vectors: list[Exact], weights: list[Fraction], epsilon: Fraction
    ) -> list[OneNeuron]:
        """The neuron itself."""
        return [(weights[0], vectors[0])]


@dataclass(frozen=True)
class AtEnd(Block):
    """c v^e₀, e₀ the same at all `ends`."""

    ends: tuple[End, ...]
    neurons: ClassVar[int] = 1

    @property
    def words(self) -> str:  # type: ignore[override]
        """Where."""
        return f"one {self.ends[0].name}"

    @property
    def is_linear(self) -> bool:
        """Whether limits are all linear forms."""
        return self.ends[0].own == 1

    @property
    def scaled(self) -> tuple[bool, ...]:
        """v is a direction, but for e₀ = 1."""
        return (not self.is_linear,)

    @property
    def parts(self) -> tuple[Part, ...]:
        """c v^e₀."""
        return (Part(power(self.ends[0].own), 0, weight=None if self.is_linear else 0),)

    def opened(
        self, end: End | None, vectors: list[Exact], weights: list[Fraction], epsilon: Fraction
    ) -> list[OneNeuron]:
        """The neuron ε from its end."""
        assert end is not None
        return [end.neuron(weights[0] if weights else Fraction(1), vectors[0], epsilon)]


@dataclass(frozen=True)
class Merged(Block):
    """α p(ℓ) + u p′(ℓ)."""

    p: tuple[float, ...]
    words: str = "two merged neurons"
    neurons: ClassVar[int] = 2

    @property
    def scaled(self) -> tuple[bool, ...]:
        """ℓ and u are free."""
        return (False, False)

    @property
    def parts(self) -> tuple[Part, ...]:
        """α p(ℓ), then D p(ℓ)[u]."""
        return (Part(self.p, 0, weight=0), Part(self.p, 0, along=1))

    def opened(
        self, end: End | None, vectors: list[Exact], weights: list[Fraction], epsilon: Fraction
    ) -> list[OneNeuron]:
        """Weights ±1/2ε at ℓ ± εu."""
        (at, along), half = vectors, weights[0] / 2
        return [
            (half + sign / (2 * epsilon), moved(at, along, sign * epsilon))
            for sign in (Fraction(1), Fraction(-1))
        ]


@dataclass(frozen=True)
class MergedThree(Block):
    """α p(ℓ) + u p′(ℓ) + β v² p″(ℓ): on f(t) = p(ℓ + tv + t²u/2β), that is α f(0) + β f″(0)."""

    p: tuple[float, ...]
    words: str = "three merged neurons"
    neurons: ClassVar[int] = 3

    @property
    def scaled(self) -> tuple[bool, ...]:
        """ℓ and u are free, v is a direction."""
        return (False, False, True)

    @property
    def parts(self) -> tuple[Part, ...]:
        """α p(ℓ), D p(ℓ)[u], β D²p(ℓ)[v, v]."""
        slope, bend = Part(self.p, 0, along=1), Part(self.p, 0, along=2, weight=1, twice=True)
        return (Part(self.p, 0, weight=0), slope, bend)

    def opened(
        self, end: End | None, vectors: list[Exact], weights: list[Fraction], epsilon: Fraction
    ) -> list[OneNeuron]:
        """β(f(ε) − 2f(0) + f(−ε))/ε² = βf″(0) + ε²βf⁗(0)/12 + …: inside the cusp of real roots (`points.inward`)."""
        (at, along, v), (alpha, beta) = vectors, weights
        bent = moved(at, along, epsilon**2 / (2 * beta))
        outer = beta / epsilon**2
        return [
            (alpha - 2 * outer, at),
            *((outer, moved(bent, v, sign * epsilon)) for sign in (Fraction(1), Fraction(-1))),
        ]


@dataclass(frozen=True)
class MergedAtEnd(Block):
    """Two neurons that merge at an end."""

    ends: tuple[End, ...]
    neurons: ClassVar[int] = 2

    @property
    def words(self) -> str:  # type: ignore[override]
        """Where."""
        return f"two neurons that merge {self.ends[0].name}"

    @property
    def scaled(self) -> tuple[bool, ...]:
        """v is a direction, u is free."""
        return (True, False)

    @property
    def parts(self) -> tuple[Part, ...]:
        """D v^e[u], then the powers."""
        return merged_parts(self.ends[0])

    def opened(
        self, end: End | None, vectors: list[Exact], weights: list[Fraction], epsilon: Fraction
    ) -> list[OneNeuron]:
        """Outer weights c and −c at ε and −ε, or at ε and 3ε/4 where p is even or odd about the end; v moved by ±δ."""
        assert end is not None
        (v, u), j = vectors, end.odd
        gaps, first = [abs(k - end.own) for k in end.powers], end.share(1)
        slope, still, off = Fraction(1), Fraction(0), Fraction(0)
        second = -epsilon if j is not None else epsilon
        if end.own == 0:
            still, slope = weights[0] / 2, first * epsilon ** gaps[1]
        elif j is None:
            second = APART * epsilon
        if j is not None:
            size = weights[1] / (2 * end.share(j) * epsilon ** gaps[j])
            off = weights[0] / (2 * first * size * gaps[1] * epsilon ** (gaps[1] - 1)) if end.own else off
        elif end.own:
            size = weights[0] / (first * (epsilon ** gaps[1] - second ** gaps[1]))
        else:
            size = 1 / epsilon ** (gaps[1] + 1)
        step = 1 / (2 * size * slope)
        return [
            end.neuron(sign * size + still, moved(v, u, sign * step), at + off)
            for sign, at in ((Fraction(1), epsilon), (Fraction(-1), second))
        ]


def merged_parts(end: End) -> tuple[Part, ...]:
    """The parts of two that merge there."""
    turned, other = (end.beside, 0) if end.own == 0 else (end.own, end.beside)
    last = [] if end.odd is None else [end.powers[end.odd]]
    powers = (Part(power(k), 0, weight=i) for i, k in enumerate([other, *last]))
    return (Part(power(turned), 0, along=1), *powers)


def moved(at: Exact, along: Exact, step: Fraction) -> Exact:
    """at + step · along."""
    return tuple(x + step * y for x, y in zip(at, along, strict=True))
