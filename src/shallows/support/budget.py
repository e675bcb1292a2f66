"""Budgets: what a request will cost is estimated before it starts; what is over the limit is refused with the estimate.

    require("2,000,000 runs of 12 parameters", seconds=2e6 * 1e-4, size=2e6 * 12 * 8, fix="Use fewer runs.")

This is the only place where such limits are kept: seconds of processor time, and bytes of memory at one moment. They
are raised (or lowered) by `sh.budget(seconds=…, gigabytes=…)`, or by SHALLOWS_SECONDS and SHALLOWS_GIGABYTES for a
whole process.

Where nobody can tell beforehand, work is stopped (`OutOfTime`) once it has taken too long: inside `stopped_after`, at
the next place where it counts its progress.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from shallows.support.errors import InvalidProblem, ShallowsError

#: Seconds that understanding a request may take, reading a file or expanding a formula: what a person waits for.
READING = 10.0
#: Seconds that the work itself may take, on one core, unless the user says otherwise: what is left running over lunch.
WORKING = 3600.0
#: The share of the machine's memory that a request may take: arrays are copied, and others live there too.
SHARE = 0.5
#: Names of the limits in the environment.
SECONDS, GIGABYTES = "SHALLOWS_SECONDS", "SHALLOWS_GIGABYTES"
#: Processor seconds of `yardstick` on the machine on which costs in seconds were measured.
REFERENCE = 0.004
#: The step of the clock, in practice: no measured time is below it.
CLOCK = 1e-6
#: Estimates above this are all the same, and their conversion to a float does not overflow.
ENDLESS = 1e30
GIGABYTE = 2.0**30
#: In words: years that are "more than a century", and how many of a unit there must be for it to be used.
CENTURY, IN_UNITS = 100, 1.5
#: The yardstick: rounds of its work, a few milliseconds, and how often it is measured; the best one counts.
WORK, TRIALS = 600, 15


@dataclass(frozen=True)
class _Limits:
    seconds: float | None = None
    size: float | None = None


_DEFAULT = _Limits()
_LIMITS: ContextVar[_Limits] = ContextVar("shallows_budget", default=_DEFAULT)
#: When the work that is being done is to be stopped, on the clock of `_clock`.
_END: ContextVar[float] = ContextVar("shallows_end", default=math.inf)
# processor seconds of this process that no work is charged for
_uncounted = 0.0


class OverBudget(InvalidProblem):
    """A request would take too long, or more memory than there is; the message has the estimate and what to change."""

    def __init__(self, text: str, seconds: float, size: float) -> None:
        super().__init__(text)
        self.seconds, self.size = seconds, size

    def __reduce__(self) -> tuple[type[OverBudget], tuple[str, float, float]]:
        return type(self), (str(self), self.seconds, self.size)


class OutOfTime(ShallowsError):
    """Work was stopped because it had taken all the time it may; nothing of it was kept."""


@contextmanager
def budget(seconds: float | None = None, gigabytes: float | None = None) -> Iterator[None]:
    """Inside, requests may take this much: estimated seconds on one core, and gigabytes of memory.

    By default an hour (ten seconds for reading a file or a formula) and half of this machine's memory.

    >>> problem = sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), width=1)
    >>> with sh.budget(seconds=0.001):
    ...     sh.ensemble(problem, runs=1000)
    Traceback (most recent call last):
        ...
    shallows.support.budget.OverBudget: 1,000 runs of 3 parameters would take about ... the limit is 0.001 s...
    """
    outer = _LIMITS.get()
    mine = _Limits(
        outer.seconds if seconds is None else float(seconds),
        outer.size if gigabytes is None else float(gigabytes) * GIGABYTE,
    )
    token = _LIMITS.set(mine)
    try:
        yield
    finally:
        _LIMITS.reset(token)


@contextmanager
def stopped_after(seconds: float) -> Iterator[None]:
    """Inside, work is stopped at its next count of progress once it has taken so much processor time.

    Compiling, which happens once a machine, does not count. Of nested limits the earlier one holds.
    """
    token = _END.set(min(_END.get(), _clock() + seconds))
    try:
        yield
    finally:
        _END.reset(token)


def require_time() -> None:
    """Stop here if the time is over."""
    if _clock() > _END.get():
        raise OutOfTime("It was stopped: it had taken all the processor time that it may.")


def not_counted(seconds: float) -> None:
    """So many processor seconds of this process were nobody's work."""
    global _uncounted
    _uncounted += seconds


def _clock() -> float:
    return time.process_time() - _uncounted


def require(
    what: str, *, seconds: float = 0.0, size: float = 0.0, limit: float = WORKING, fix: str = ""
) -> None:
    """Refuse a request that would take more than `limit` seconds, or more bytes (`size`) than there are.

    A limit that the user has set stands in place of `limit`. `what` opens the sentence; `fix` says what to change.
    """
    seconds, size = min(seconds, ENDLESS), min(size, ENDLESS)
    longest, most = _allowed(limit)
    if seconds <= longest and size <= most:
        return
    slow = seconds > longest
    cost, allowed = (duration(seconds), duration(longest)) if slow else (memory(size), memory(most))
    cost = cost if cost.startswith("more") else f"about {cost}"
    verb = "take" if slow else "need"
    value = f"seconds={_rounded(seconds)}" if slow else f"gigabytes={_rounded(size / GIGABYTE)}"
    name, number = (SECONDS, seconds) if slow else (GIGABYTES, size / GIGABYTE)
    raise OverBudget(
        f"{what} would {verb} {cost}; the limit is {allowed}. Fix: {fix + ' Or raise' if fix else 'raise'} the limit: "
        f"with sh.budget({value}), or {name}={_rounded(number)} in the environment.",
        float(seconds),
        float(size),
    )


def allowed_seconds() -> float:
    """The seconds that work may take here, for those who find out only while they work how much there is."""
    return _allowed(WORKING)[0]


def _allowed(limit: float) -> tuple[float, float]:
    """The seconds and bytes that a request may take here."""
    mine = _LIMITS.get()
    seconds = mine.seconds if mine.seconds is not None else _of_environment(SECONDS)
    size = mine.size
    if size is None:
        gigabytes = _of_environment(GIGABYTES)
        size = SHARE * machine_memory() if gigabytes is None else gigabytes * GIGABYTE
    return limit if seconds is None else seconds, size


def _of_environment(name: str) -> float | None:
    given = os.environ.get(name)
    if given is None:
        return None
    try:
        return float(given)
    except ValueError:
        raise InvalidProblem(f"{name} is {given!r}; expected a number.") from None


@lru_cache(maxsize=1)
def machine_memory() -> float:
    """Bytes of memory that this process may have: the machine's, or its container's where that is less."""
    physical = float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    try:
        group = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
        return min(physical, float(group)) if group != "max" else physical
    except (OSError, ValueError):  # no control groups here
        return physical


def duration(seconds: float) -> str:
    """A time as people say it.

    >>> duration(0.25), duration(90), duration(7200), duration(1e12)
    ('0.25 s', '1.5 minutes', '2 hours', 'more than a century')
    """
    units = (("years", 365.25 * 86400), ("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0))
    if seconds > CENTURY * units[0][1]:
        return "more than a century"
    for unit, length in units:
        if seconds >= IN_UNITS * length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.3g} s"


def memory(size: float) -> str:
    """A number of bytes as people say it.

    >>> memory(3e6), memory(8e12), memory(1e40)
    ('2.86 MB', '7.28 TB', 'more memory than there is')
    """
    if size > ENDLESS / 2:
        return "more memory than there is"
    units = (("TB", 2.0**40), ("GB", GIGABYTE), ("MB", 2.0**20))
    for unit, length in units:
        if size >= length:
            return f"{size / length:,.3g} {unit}"
    return f"{size:.0f} bytes"


def _rounded(number: float) -> str:
    """Two digits, rounded up."""
    digits = max(0, math.floor(math.log10(number)) - 1) if number >= 1 else 0
    return f"{math.ceil(number / 10**digits) * 10**digits:g}"


def yardstick() -> None:
    """A fixed piece of work of the kind pages and charts do: Python, small arrays, texts."""
    matrix, total = np.eye(6) + 0.1, 0.0
    for i in range(WORK):
        matrix = matrix @ matrix / np.linalg.norm(matrix)
        total += float(sum(ord(letter) for letter in f"{total:.6f}{i}"))


@lru_cache(maxsize=1)
def slowness() -> float:
    """This machine's time over the reference's; the best of fifteen, so that other work on it does not count."""
    times = []
    for _ in range(TRIALS):
        start = time.thread_time()
        yardstick()
        times.append(time.thread_time() - start)
    return max(min(times), CLOCK) / REFERENCE
