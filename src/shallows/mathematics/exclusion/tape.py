"""Functions of intervals as tapes: traced once, then run over many boxes by one compiled loop.

A function that is written with the operations of `Intervals` is called once with unknowns that note what is done with
them. Operations that occur twice are kept once, those that nothing depends on are dropped, and registers are used again
as soon as what they hold is not needed any more: those of a few boxes fit into the processor's cache, where arrays of
thousands of boxes, one for each intermediate result, do not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.exclusion.codes import (
    ABS,
    ADD,
    ARCSINE,
    CHOOSE,
    DIVIDE,
    MEET,
    MIRROR,
    MULTIPLY,
    NEGATE,
    ROOT,
    SCALE,
    SQUARE,
)
from shallows.mathematics.exclusion.intervals import Intervals
from shallows.support.checks import Array

#: Boxes that are worked on at once: 200 registers of them are 200 KB.
LANES = 64
#: (kind, operands, factor); unknowns and constants have no operation.
Operation = tuple[int, tuple[int, ...], float]


class Notes:
    """What was done so far: operations, each once, by what they are."""

    def __init__(self, unknowns: int) -> None:
        self.unknowns = unknowns
        self.operations: list[Operation | None] = [None] * unknowns
        self.constants: dict[int, tuple[float, float]] = {}
        self._known: dict[Any, int] = {}

    def constant(self, lo: float, hi: float) -> Traced:
        """An interval that is the same for all boxes."""
        return Traced(self, self._place(("constant", lo, hi), None, (lo, hi)))

    def note(self, kind: int, *operands: Traced, factor: float = 0.0) -> Traced:
        """The result of an operation."""
        places = tuple(x.place for x in operands)
        if kind in (ADD, MULTIPLY):
            places = tuple(sorted(places))
        return Traced(self, self._place((kind, places, factor), (kind, places, factor), None))

    def _place(self, key: Any, operation: Operation | None, constant: tuple[float, float] | None) -> int:
        if key not in self._known:
            self._known[key] = len(self.operations)
            self.operations.append(operation)
            if constant is not None:
                self.constants[self._known[key]] = constant
        return self._known[key]


class Unknowns:
    """Stands for boxes (m, n): `unknowns[:, j]` is the j-th of them."""

    def __init__(self, n: int) -> None:
        self.notes = Notes(n)

    def __getitem__(self, key: tuple[slice, int]) -> Traced:
        return Traced(self.notes, range(self.notes.unknowns)[key[1]])


class Traced(Intervals):
    """An interval that notes what is done with it."""

    __slots__ = ("notes", "place")

    def __init__(self, notes: Notes, place: int) -> None:
        self.notes, self.place = notes, place

    def _given(self, other: Any) -> Traced:
        """A constant, as one of these."""
        if isinstance(other, Traced):
            return other
        exact = other if isinstance(other, Intervals) else Intervals.exact(other)
        return self.notes.constant(float(exact.lo), float(exact.hi))

    @property
    def _zero(self) -> bool:
        return self.notes.constants.get(self.place) == (0.0, 0.0)

    def alike(self, value: float) -> Traced:
        """The same number for every box."""
        return self.notes.constant(value, value)

    def __neg__(self) -> Traced:
        return self.notes.note(NEGATE, self)

    def __add__(self, other: Any) -> Traced:
        there = self._given(other)
        if self._zero or there._zero:
            return there if self._zero else self
        return self.notes.note(ADD, self, there)

    def __radd__(self, other: Any) -> Traced:
        return self.__add__(other)

    def __sub__(self, other: Any) -> Traced:
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> Traced:
        return self.__neg__().__add__(other)

    def __mul__(self, other: Any) -> Traced:
        if isinstance(other, Intervals):
            there = self._given(other)
            if self._zero or there._zero:
                return self.alike(0.0)
            return self.notes.note(MULTIPLY, self, there)
        factor = float(other)
        if factor in (0.0, 1.0):
            return self if factor else self.alike(0.0)
        return self.notes.note(SCALE, self, factor=factor)

    def __rmul__(self, other: Any) -> Traced:
        return self.__mul__(other)

    def __truediv__(self, other: Any) -> Traced:
        if isinstance(other, Traced):
            return self.notes.note(DIVIDE, self, other)
        known = other if isinstance(other, Intervals) else Intervals.exact(other)
        return self.__mul__(known.reciprocal())

    def __rtruediv__(self, other: Any) -> Traced:
        return self._given(other).__truediv__(self)

    def square(self) -> Traced:
        """x²."""
        return self.notes.note(SQUARE, self)

    def sqrt(self) -> Traced:
        """The root of what is not negative."""
        return self.notes.note(ROOT, self)

    def abs(self) -> Traced:
        """|x|."""
        return self.notes.note(ABS, self)

    def arcsin(self) -> Traced:
        """Of the part in [−1, 1]."""
        return self.notes.note(ARCSINE, self)

    def meet(self, other: Intervals) -> Traced:
        """What is in both."""
        return self.notes.note(MEET, self, self._given(other))

    def mirrored(self, factor: float) -> Traced:
        """[−f·hi, f·hi]."""
        return self.notes.note(MIRROR, self, factor=factor)

    def choose(self, positive: Intervals, negative: Intervals) -> Traced:
        """The first where this is positive, the second where it is negative."""
        return self.notes.note(CHOOSE, self, self._given(positive), self._given(negative))

    def __repr__(self) -> str:
        return f"Traced({self.place})"


class Tape:
    """A function of boxes (m, n) whose results are intervals (m, wanted), compiled.

    `function` is called once, with what stands for boxes: `boxes[:, j]` is the j-th unknown.
    """

    def __init__(self, function: Callable[[Any], Sequence[Intervals]], n: int) -> None:
        unknowns = Unknowns(n)
        results = [unknowns.notes.constant(0.0, 0.0)._given(x) for x in function(unknowns)]
        self.n, self.notes = n, unknowns.notes
        self._order([x.place for x in results])

    def _order(self, wanted: list[int]) -> None:
        """Registers for what is needed: unknowns, constants, then each as long as it is used."""
        operations, last = self.notes.operations, dict.fromkeys(wanted, len(self.notes.operations))
        for place in reversed(range(len(operations))):
            operation = operations[place]
            if operation is not None and place in last:
                for operand in operation[1]:
                    last.setdefault(operand, place)
        register = {j: j for j in range(self.n)}
        for place in self.notes.constants:
            if place in last:
                register[place] = len(register)
        kept, free, count = set(register), list[int](), len(register)
        codes, factors = [], []
        for place, operation in enumerate(operations):
            if operation is None or place not in last:
                continue
            if not free:
                free.append(count)
                count += 1
            register[place] = free.pop()
            kind, operands, factor = operation
            places = [register[x] for x in operands]
            codes.append(
                [
                    kind,
                    *(places * 3)[: 3 if len(places) != 2 else 2],
                    *[0] * (len(places) == 2),
                    register[place],
                ]
            )
            factors.append(factor)
            free += {register[x] for x in operands if last[x] == place and x not in kept}
        constants = [self.notes.constants[x] for x in register if x in self.notes.constants]
        self.codes: NDArray[np.int32] = np.array(codes, dtype=np.int32).reshape(-1, 5)
        self.factors, self.registers = np.array(factors, dtype=np.float64), count
        self.low, self.high = (np.array([c[i] for c in constants], dtype=np.float64) for i in (0, 1))
        self.wanted: NDArray[np.int32] = np.array([register[x] for x in wanted], dtype=np.int32)

    def __call__(self, box: Intervals) -> Intervals:
        """Over boxes (m, n)."""
        from shallows.mathematics.exclusion._compiled.tapes import run

        lo, hi = (np.ascontiguousarray(end) for end in (box.lo, box.hi))
        results: list[Array] = [np.empty((len(box), len(self.wanted))) for _ in range(2)]
        registers = [np.empty((self.registers, LANES)) for _ in range(2)]
        if len(box):
            run(self.codes, self.factors, self.low, self.high, self.wanted, lo, hi, *registers, *results)
        return Intervals(*results)

    def __repr__(self) -> str:
        return f"Tape({self.n} unknowns, {len(self.codes)} operations, {self.registers} registers)"
