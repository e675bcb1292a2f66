"""What one instance of a check says: it holds or not, by how much, and whether that is a proof."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Measure = Literal["error", "slack", "fact"]


@dataclass(frozen=True)
class Outcome:
    """One instance: `number` is an error to be small, a slack to be positive, or nothing for a plain fact."""

    holds: bool
    what: str
    measure: Measure = "fact"
    number: float = math.nan
    proved: bool = False


def equal(error: float, allowed: float, what: str) -> Outcome:
    """An equality: the error must not exceed what is allowed (a NaN does not hold)."""
    return Outcome(bool(error <= allowed), what, "error", float(error))


def at_least(value: float, bound: float, what: str, *, strict: bool = False) -> Outcome:
    """An inequality value ≥ bound (or > bound); the slack is value − bound."""
    slack = float(value) - float(bound)
    return Outcome(bool(slack > 0 if strict else slack >= 0), what, "slack", slack)


def within(value: float, expected: float, deviations: float, error: float, what: str) -> Outcome:
    """A statistic: |value − expected| in units of its standard error, at most `deviations` of them."""
    scale = error if error > 0 else math.inf if value == expected else 0.0
    distance = 0.0 if scale == math.inf else abs(value - expected) / scale if scale else math.inf
    return Outcome(bool(distance <= deviations), what, "error", float(distance))


def fact(holds: bool, what: str) -> Outcome:
    """A yes or no that was computed in floating point."""
    return Outcome(bool(holds), what)


def proof(holds: bool, what: str) -> Outcome:
    """A yes or no that exact or interval arithmetic decided."""
    return Outcome(bool(holds), what, proved=True)
