"""Three neurons that merge at an end about which p is even or odd.

Near it neurons are v^e₀ + κ₁ r v^e₁ + κ₂ r² v^e₂ + …, r = ε^g ≥ 0, g the first gap and e₂ the power with the gap 2g. On
a curve v + ry + r²z three of them whose weights leave what is quadratic in r have the limit

    D v^e₀[z] + θ (½ D²v^e₀[y, y] + κ₁ D v^e₁[y] + κ₂ v^e₂),

and beside it are, r being positive, those on one side only. Where p is neither even nor odd such limits are no
boundary: pairs that merge there, beside a neuron that passes through the end, go on through them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from shallows.questions.charts.neuron_limits.blocks import Block, OneNeuron, Part, moved, power
from shallows.questions.charts.neuron_limits.ends import End, Exact

#: How the three neurons differ in ε.
THIRDS = (Fraction(1, 3), Fraction(2, 3), Fraction(1))


@dataclass(frozen=True)
class MergedThreeAtEnd(Block):
    """The limit above."""

    ends: tuple[End, ...]
    neurons: ClassVar[int] = 3

    @property
    def words(self) -> str:  # type: ignore[override]
        """Where."""
        return f"three neurons that merge {self.ends[0].name}"

    @property
    def scaled(self) -> tuple[bool, ...]:
        """v is a direction, z and y are free."""
        return (True, False, False)

    @property
    def parts(self) -> tuple[Part, ...]:
        """D v^e₀[z], then those with θ."""
        return three_parts(self.ends[0])

    def opened(
        self, end: End | None, vectors: list[Exact], weights: list[Fraction], epsilon: Fraction
    ) -> list[OneNeuron]:
        """Weights θ/∏(rᵢ − rⱼ) on v + ry + r²z/θ."""
        assert end is not None
        (v, z, y), (theta,) = vectors, weights
        gap, found = abs(end.beside - end.own), []
        places = [share * epsilon for share in THIRDS]
        for at in places:
            r, weight = at**gap, theta
            for other in places:
                weight /= 1 if other == at else r - other**gap
            found.append(end.neuron(weight, moved(moved(v, y, r), z, r**2 / theta), at))
        return found


def has_three(end: End) -> bool:
    """Whether p is even or odd about a zero or infinity, its gaps multiples of the first."""
    gaps = [abs(power - end.own) for power in end.powers[1:]]
    return bool(end.own) and end.odd is None and all(gap % gaps[0] == 0 for gap in gaps)


def three_parts(end: End) -> tuple[Part, ...]:
    """The parts of three that merge there."""
    gap = end.beside - end.own
    turned, first = power(end.own), float(end.share(1))
    found = [
        Part(turned, 0, along=1),
        Part(tuple(x / 2 for x in turned), 0, along=2, weight=0, twice=True),
        Part(tuple(first * x for x in power(end.beside)), 0, along=2, weight=0),
    ]
    if end.own + 2 * gap in end.powers:
        i = end.powers.index(end.own + 2 * gap)
        found.append(Part(tuple(float(end.share(i)) * x for x in power(end.powers[i])), 0, weight=0))
    return tuple(found)
