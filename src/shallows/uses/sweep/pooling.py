"""Rows of the same cell put together: means with standard errors, shares with binomial intervals."""

from __future__ import annotations

from typing import Any

import numpy as np

from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem
from shallows.uses.sweep.cell import DONE

#: The normal quantile of 95% intervals.
Z = 1.959963984540054


def wilson(successes: Array, trials: Array) -> tuple[Array, Array]:
    """The 95% interval of a binomial share (Wilson 1927): honest at 0 and 1, where √(p(1−p)/n) is zero.

    >>> low, high = wilson(np.array([0.0]), np.array([100.0]))
    >>> float(low[0]), round(float(high[0]), 4)
    (0.0, 0.037)
    """
    share = successes / trials
    scale = 1 + Z**2 / trials
    middle = (share + Z**2 / (2 * trials)) / scale
    half = Z * np.sqrt(share * (1 - share) / trials + Z**2 / (4 * trials**2)) / scale
    low = np.where(successes == 0, 0.0, np.clip(middle - half, 0.0, 1.0))
    high = np.where(successes == trials, 1.0, np.clip(middle + half, 0.0, 1.0))
    return low, high


def pooled(frame: Any, by: list[str], value: str, trials: str | None = None) -> Any:
    """One line for each combination of `by`: value, low and high (95%), and how many rows (or trials) it is from.

    A share (with the column of its `trials`), or a boolean, is pooled as a binomial count; other values by their mean
    with its standard error over rows.
    """
    rows = _usable(frame, [*by, value, *([trials] if trials else [])])
    if trials is not None or is_boolean(rows[value]):
        counts = rows[trials].astype(float) if trials else np.ones(len(rows))
        rows = rows.assign(_trials=counts, _successes=rows[value].astype(float) * counts)
        found = rows.groupby(by, sort=True)[["_successes", "_trials"]].sum().reset_index()
        low, high = wilson(found["_successes"].to_numpy(), found["_trials"].to_numpy())
        share = found["_successes"] / found["_trials"]
        return found[by].assign(value=share, low=low, high=high, count=found["_trials"])
    found = rows.groupby(by, sort=True)[value].agg(["mean", "std", "count"]).reset_index()
    error = Z * found["std"].fillna(0.0) / np.sqrt(found["count"])
    mean = found["mean"]
    return found[by].assign(value=mean, low=mean - error, high=mean + error, count=found["count"])


def _usable(frame: Any, columns: list[str]) -> Any:
    """The rows that are done and have all columns."""
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise InvalidProblem(
            f"The results have no column {missing[0]!r}; they have {', '.join(map(str, frame.columns))}."
        )
    rows = frame[frame["status"] == DONE] if "status" in frame.columns else frame
    rows = rows[rows[columns].notna().all(axis=1)]
    if not len(rows):
        raise InvalidProblem(f"No row is done yet that has {', '.join(columns)}.")
    return rows


def is_boolean(column: Any) -> bool:
    """Whether all values are true or false (a column with gaps comes as objects)."""
    return bool(column.dtype == bool or (column.dtype == object and column.map(type).eq(bool).all()))
