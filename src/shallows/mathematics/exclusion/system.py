"""What a search is over: a system with enclosures of its values and derivatives, and the check that they are some."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.exclusion.intervals import Intervals
from shallows.mathematics.homotopy.systems import PolynomialSystem
from shallows.support.arguments import typed
from shallows.support.checks import Array
from shallows.support.errors import NotConverged
from shallows.support.seeds import generator

#: Pairs of points that an enclosure is tried on before a search: a wrong term shows at nearly all of them.
TRIED = 64


class System(Protocol):
    """n equations in n unknowns with enclosures over boxes; unknowns not in `split` are bounded through `contract`.

    Most systems are a `Plain` one, and have `n` and a call that encloses values and derivatives.

    >>> isinstance(sh.exclusion.Polynomials.read(["x^2 - 2"]).n, int)
    True
    """

    n: int

    @property
    def split(self) -> tuple[int, ...]:
        """The unknowns that are bisected."""
        ...

    def __call__(self, box: Intervals, derivative: bool) -> tuple[Intervals, Intervals | None]:
        """Values (m, n) and, where asked for, derivatives (m, n, n) over m boxes (m, n), as enclosures."""
        ...

    def contract(self, box: Intervals) -> Intervals:
        """Smaller boxes with the same zeros; a lower end above the upper one where there is none."""
        ...

    def excused(self, box: Intervals) -> NDArray[np.bool_]:
        """Which boxes lie in the part of the region that is not asked about."""
        ...


@runtime_checkable
class PartlyLinear(System, Protocol):
    """A system that is linear in the unknowns that are not bisected."""

    def centred(self, centre: Array) -> tuple[Intervals, Intervals]:
        """Values (m, n) at points (m, n), and derivatives (m, n, ·) by those unknowns there."""
        ...


class Plain:
    """What most systems are: all unknowns are bisected, nothing is contracted or excused.

    >>> class Waves(sh.exclusion.Plain):
    ...     n = 1
    ...     def __call__(self, box, derivative):            # cos x − x/4, and −sin x − 1/4
    ...         slope = (-box.sin() - 0.25)
    ...         J = sh.exclusion.Intervals(slope.lo[:, :, None], slope.hi[:, :, None])
    ...         return box.cos() - box * 0.25, J if derivative else None
    >>> sh.exclusion.exclude(Waves(), ([-10.0], [10.0])).zeros.ravel().round(6).tolist()
    [-3.595305, -2.133332, 1.252353]
    """

    n: int

    @property
    def split(self) -> tuple[int, ...]:
        """All of them."""
        return tuple(range(self.n))

    def contract(self, box: Intervals) -> Intervals:
        """The boxes as they are."""
        return box

    def excused(self, box: Intervals) -> NDArray[np.bool_]:
        """None."""
        return np.zeros(len(box), bool)


class Polynomials(Plain):
    """A polynomial system with rational coefficients, over intervals.

    >>> circle = sh.exclusion.Polynomials.read(["x^2 + y^2 - 1", "x - y"])
    >>> value, _ = circle(sh.exclusion.Intervals([[0.0, 0.0]], [[0.5, 0.5]]), False)
    >>> value[0, 0]
    Intervals([-1, -0.5])
    """

    @typed
    def __init__(self, equations: list[dict[tuple[int, ...], Any]]) -> None:
        self.n = len(equations)
        self.equations = [[(key, _enclosed(value)) for key, value in terms.items()] for terms in equations]

    @classmethod
    def read(cls, texts: list[str]) -> Polynomials:
        """From strings, as `sh.homotopy.solve` takes them."""
        system = PolynomialSystem.read(texts)
        return cls([{key: value.real for key, value in terms.items()} for terms in system.equations])

    def __call__(self, box: Intervals, derivative: bool) -> tuple[Intervals, Intervals | None]:
        """Term by term."""
        columns = [box[:, j] for j in range(self.n)]
        values = [self._sum(terms, columns, None) for terms in self.equations]
        if not derivative:
            return Intervals.stack(values), None
        rows = [
            Intervals.stack([self._sum(terms, columns, j) for j in range(self.n)]) for terms in self.equations
        ]
        return Intervals.stack(values), Intervals.stack(rows, axis=1)

    def _sum(self, terms: Any, x: list[Intervals], by: int | None) -> Intervals:
        total = Intervals.exact(np.zeros(len(x[0])))
        for key, coefficient in terms:
            exponents, factor = list(key), coefficient
            if by is not None:
                factor = coefficient * float(exponents[by])
                if not exponents[by]:
                    continue
                exponents[by] -= 1
            term = factor + total * 0.0
            for entry, exponent in zip(x, exponents, strict=True):
                if exponent:
                    term = term * _power(entry, exponent)
            total = total + term
        return total


def _power(x: Intervals, exponent: int) -> Intervals:
    """xᵉ: monotone for odd e, and in |x| for even e."""
    if exponent % 2 == 0:
        result = x.square()
        for _ in range(exponent // 2 - 1):
            result = result * x.square()
        return result
    ends = []
    for end in (x.lo, x.hi):
        power = Intervals.exact(end)
        for _ in range(exponent - 1):
            power = power * end
        ends.append(power)
    return Intervals(ends[0].lo, ends[1].hi)


def _enclosed(value: Any) -> Intervals:
    """A rational, rounded outward."""
    near = float(value)
    return (
        Intervals.exact(near)
        if near == value
        else Intervals(np.nextafter(near, -np.inf), np.nextafter(near, np.inf))
    )


def check_enclosure(system: System, region: Intervals, rng: int | np.random.Generator = 0) -> None:
    """Refuse a system whose enclosures do not hold what they must; none that holds it is refused.

    Over random boxes: values at random points are in the values over the box, and F(y) − F(x) is in J(box)(y − x), for
    two points of it; where F is said to be linear in some unknowns, its change with these is what their coefficients
    say. That does not prove an enclosure; it finds wrong terms, signs and factors.
    """
    source = generator(rng)
    lo, hi = region.lo, region.hi
    size = source.uniform(0.0, 1.0, (TRIED, 1)) ** 4
    centre = lo + (hi - lo) * source.uniform(0.0, 1.0, (TRIED, system.n))
    box = Intervals(np.maximum(centre - size * (hi - lo), lo), np.minimum(centre + size * (hi - lo), hi))
    x, y = (box.lo + (box.hi - box.lo) * source.uniform(0.0, 1.0, box.lo.shape) for _ in range(2))
    x, y = (np.clip(point, box.lo, box.hi) for point in (x, y))
    with np.errstate(all="ignore"):
        values, slopes = system(box, True)
        at_x, at_y = system(Intervals.exact(x), False)[0], system(Intervals.exact(y), False)[0]
        assert slopes is not None
        change = at_y - at_x
        step = Intervals.exact(y) - x
        room = Intervals.exact(np.zeros((TRIED, system.n)))
        for j in range(system.n):
            room = room + slopes[:, :, j] * step[:, j : j + 1]
        apart = (at_x.lo > values.hi) | (at_x.hi < values.lo) | (change.lo > room.hi) | (change.hi < room.lo)
        if isinstance(system, PartlyLinear):
            apart |= _not_linear(system, x, y)
    if np.any(apart):
        row, equation = np.argwhere(apart)[0]
        raise NotConverged(
            f"The enclosure of equation {equation} is wrong: over the box {box[row]!r} its values or slopes do not "
            "hold what the equation does inside. Nothing is excluded on such grounds."
        )


def _not_linear(system: PartlyLinear, x: Array, y: Array) -> NDArray[np.bool_]:
    """Where the change from x, when the unknowns that are not bisected become those of y, is not what is said."""
    rest = [j for j in range(system.n) if j not in system.split]
    moved = x.copy()
    moved[:, rest] = y[:, rest]
    at, columns = system.centred(x)
    change = system(Intervals.exact(moved), False)[0] - at
    for k, j in enumerate(rest):
        change = change - columns[:, :, k] * (Intervals.exact(moved) - x)[:, j : j + 1]
    return ~change.has_zero
