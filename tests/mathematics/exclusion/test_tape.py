"""Tapes against the same functions of arrays, operation by operation, and against exact rational arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from shallows.mathematics.exclusion.intervals import PI, Intervals
from shallows.mathematics.exclusion.tape import Tape

ENDS = [-np.inf, -1e300, -3.0, -1.0, -0.3, -1e-300, 0.0, 5e-324, 0.1, 1.0, 2.0, 1e200, np.inf]


def boxes(rng: np.random.Generator, n: int = 3) -> Intervals:
    """All pairs of special ends, what is not known, and random intervals of all sizes."""
    special = [(a, b) for a in ENDS for b in ENDS if a <= b] + [(np.nan, np.nan)]
    random = np.sort(rng.standard_normal((400, 2)) * 10.0 ** rng.uniform(-12, 3, (400, 1)), axis=1)
    one = np.concatenate([special, random])
    columns = [one[rng.permutation(len(one))] for _ in range(n)]
    return Intervals(*(np.stack([c[:, end] for c in columns], axis=1) for end in (0, 1)))


OPERATIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "sum": lambda x, y, z: x + y,
    "number": lambda x, y, z: 2.5 - x,
    "product": lambda x, y, z: x * y,
    "scaled": lambda x, y, z: x * -0.3,
    "constant": lambda x, y, z: PI * x - PI,
    "quotient": lambda x, y, z: x / y,
    "by a number": lambda x, y, z: x / 3.0,
    "of a number": lambda x, y, z: 2.0 / x,
    "square": lambda x, y, z: x.square(),
    "root": lambda x, y, z: x.sqrt(),
    "size": lambda x, y, z: x.abs(),
    "angle": lambda x, y, z: x.arcsin(),
    "meet": lambda x, y, z: x.meet(y),
    "part": lambda x, y, z: x.meet(Intervals(-1.0, 1.0)),
    "mirrored": lambda x, y, z: x.mirrored(1.5),
    "choice": lambda x, y, z: x.choose(y, z),
    "negative": lambda x, y, z: -x,
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_are_those_of_arrays(name: str) -> None:
    box, operation = boxes(np.random.default_rng(0)), OPERATIONS[name]
    taped = Tape(lambda x: [operation(x[:, 0], x[:, 1], x[:, 2])], 3)(box)
    with np.errstate(all="ignore"):
        plain = operation(box[:, 0], box[:, 1], box[:, 2])
    known = np.isfinite(plain.lo) & np.isfinite(plain.hi) & (np.abs(plain.lo) + np.abs(plain.hi) < 1e290)
    assert known.sum() > 100
    for one, other in ((taped.lo[:, 0], plain.lo), (taped.hi[:, 0], plain.hi)):
        assert np.allclose(one[known], other[known], rtol=1e-14, atol=1e-299)
    unknown = ~(np.isfinite(plain.lo) & np.isfinite(plain.hi))
    for one, other in ((taped.lo[:, 0], plain.lo), (taped.hi[:, 0], plain.hi)):
        more = np.isfinite(one[unknown]) & ~np.isfinite(other[unknown])  # never more than arrays know …
        assert not np.any(more & (one[unknown] != 0))  # … but that squares, roots and sizes are not negative


def test_exact_values_are_inside() -> None:
    rng = np.random.default_rng(1)
    box = boxes(rng)
    box = box[np.flatnonzero((np.abs(box.lo) < 1e6).all(axis=1) & (np.abs(box.hi) < 1e6).all(axis=1))]

    def formula(x: Any) -> Any:
        a, b, c = x
        return (a * b - c * 0.7) * (a + b * c) - (a * b).square() / 3.0

    taped = Tape(lambda x: [formula([x[:, j] for j in range(3)])], 3)(box)
    for m in range(len(box)):
        at = np.clip(box.lo[m] + rng.uniform(size=3) * (box.hi[m] - box.lo[m]), box.lo[m], box.hi[m])
        a, b, c = (Fraction(float(v)) for v in at)
        exact = (a * b - c * Fraction(0.7)) * (a + b * c) - (a * b) ** 2 / 3
        assert Fraction(taped.lo[m, 0]) <= exact <= Fraction(taped.hi[m, 0])


def test_what_occurs_twice_is_done_once_and_what_nobody_asks_for_not_at_all() -> None:
    def wasteful(x: Any) -> list[Any]:
        one, two = x[:, 0] * x[:, 1], x[:, 1] * x[:, 0]
        (one / two).sqrt()
        return [one + two * 0.0, one + two, x[:, 0], x[:, 1].alike(4.0)]

    tape = Tape(wasteful, 2)
    assert len(tape.codes) == 2 and "2 operations" in repr(tape)
    found = tape(Intervals([[1.0, 2.0]], [[1.0, 3.0]]))
    assert np.allclose(found.lo, [[2.0, 4.0, 1.0, 4.0]]) and np.allclose(found.hi, [[3.0, 6.0, 1.0, 4.0]])
    assert tape(Intervals(np.zeros((0, 2)), np.zeros((0, 2)))).lo.shape == (0, 4)


@pytest.mark.parametrize("count", [1, 63, 64, 65, 200])
def test_any_number_of_boxes(count: int) -> None:
    ends = np.random.default_rng(2).uniform(0.5, 1.0, (count, 4))
    box = Intervals(ends.min(axis=1, keepdims=True), ends.max(axis=1, keepdims=True))
    found = Tape(lambda x: [x[:, 0].sqrt() / x[:, 0], -x[:, 0]], 1)(box)
    plain = box[:, 0].sqrt() / box[:, 0]
    assert np.allclose(found.lo[:, 0], plain.lo) and np.allclose(found.hi[:, 0], plain.hi)
    assert np.array_equal(found.lo[:, 1], -box.hi[:, 0])
