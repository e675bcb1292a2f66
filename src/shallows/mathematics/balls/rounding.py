"""Doubles that bound a ball: conversion rounds to nearest, so one step outward keeps the bound a bound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from flint import arb


def below(ball: Any) -> float:
    """A double not above the ball."""
    return float(np.nextafter(float(ball.lower()), -np.inf))


def above(ball: Any) -> float:
    """A double not below the ball."""
    return float(np.nextafter(float(ball.upper()), np.inf))


def longest(vector: Sequence[Any]) -> float:
    """A double not below the Euclidean length of any vector in the balls."""
    tops = [entry.abs_upper() for entry in vector]
    square = sum((top * top for top in tops), arb(0))
    return 0.0 if square.is_zero() else above(square.sqrt())
