"""Tensors of proved solutions in balls: which are proved different, and which are proved not real.

Decided at once in float64; what stays open, one by one in Arb over boxes of thirty digits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from flint import acb

from shallows.mathematics.balls.arrays import Ball
from shallows.mathematics.balls.krawczyk import CertifiedRoot
from shallows.questions.charts.points.proved_signature import DIGITS, discs
from shallows.support.checks import Array
from shallows.support.errors import NotConverged


class Students(Protocol):
    """Critical equations whose roots are students s: sums of powers, or limits of merged neurons."""

    def ball_batch(self) -> Any:
        """Float64 balls: `tensors(boxes)` are the entries of s over many boxes."""

    def tensor(self, root: CertifiedRoot) -> list[acb]:
        """The entries of s over the root's box."""


@dataclass(frozen=True, eq=False)
class ProvedTensor:
    """The student s of a proved root: its entries, (N,), are inside the balls."""

    system: Students
    root: CertifiedRoot
    entries: Ball

    @cached_property
    def sharp(self) -> list[acb]:
        """The entries over a box of thirty digits."""
        root = self.root
        with suppress(NotConverged):
            root = root.refine(DIGITS)
        return self.system.tensor(root)

    def may_be(self, other: ProvedTensor) -> bool:
        """Whether the two could be one: no entry tells them apart."""
        gap = self.entries - other.entries
        if bool((np.abs(gap.mid) > gap.rad).any()):  # what overflowed tells nothing
            return False
        return all(a.overlaps(b) for a, b in zip(self.sharp, other.sharp, strict=True))

    @property
    def is_not_real(self) -> bool:
        """Whether the imaginary part of an entry is proved not to vanish."""
        if bool((np.abs(self.entries.mid.imag) > self.entries.rad).any()):
            return True
        return any(not entry.imag.contains(0) for entry in self.sharp)


def tensors(system: Students, roots: Sequence[CertifiedRoot]) -> list[ProvedTensor]:
    """Those of the roots of one system, all at once."""
    if not roots:
        return []
    with np.errstate(over="ignore", invalid="ignore"):
        entries = system.ball_batch().tensors(discs(roots))
    return [ProvedTensor(system, root, entries[k]) for k, root in enumerate(roots)]


def different(given: Sequence[ProvedTensor]) -> list[int]:
    """Positions of tensors that are pairwise proved different: each that could be one of those before is left out."""
    heads = np.array([[t.entries.mid[0].real, t.entries.rad[0]] for t in given]).reshape(-1, 2)
    heads = np.where(np.isfinite(heads), heads, np.inf)
    widest = 2 * float(heads[:, 1].max(initial=0.0))
    kept: list[int] = []
    for k in np.argsort(heads[:, 0], kind="stable").tolist():
        if not any(given[k].may_be(given[j]) for j in _near(heads[:, 0], kept, k, widest)):
            kept.append(k)
    return sorted(kept)


def _near(heads: Array, kept: list[int], k: int, widest: float) -> Iterator[int]:
    """Those of the kept ones, in the order of their first entries, whose first entry may be that of k."""
    for j in reversed(kept):
        if heads[k] - heads[j] > widest:
            return
        yield j
