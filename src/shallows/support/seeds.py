"""Randomness: always from an explicit seed or generator, never from global state."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.support.checks import describe
from shallows.support.errors import InvalidProblem

#: Seeds drawn from a generator are below this, so that they fit a signed 64-bit integer in every file format.
SEEDS = 2**63


def generator(rng: Any) -> np.random.Generator:
    """The source of randomness: a generator itself, or one made from a seed."""
    return rng if isinstance(rng, np.random.Generator) else np.random.default_rng(_checked(rng))


def seed_of(rng: Any) -> int:
    """The seed to use and to report: the number itself, or one drawn from a generator."""
    return int(rng.integers(SEEDS)) if isinstance(rng, np.random.Generator) else _checked(rng)


def seed_text(rng: Any) -> str:
    """What a result says of its randomness."""
    return "of a given generator" if isinstance(rng, np.random.Generator) else str(rng)


def complex_normal(rng: np.random.Generator, *size: int) -> NDArray[np.complex128]:
    """Complex standard normal numbers."""
    return np.asarray((rng.standard_normal(size) + 1j * rng.standard_normal(size)) / np.sqrt(2))


def _checked(rng: Any) -> int:
    if isinstance(rng, Integral) and not isinstance(rng, bool) and int(rng) >= 0:
        return int(rng)
    raise InvalidProblem(
        f"rng is {describe(rng)}; expected a non-negative integer seed or a numpy.random.Generator. Fix: rng=0"
    )
