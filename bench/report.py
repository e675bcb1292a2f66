"""How a benchmark measures and what it reports: both sides timed side by side, shown as a ratio."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Row:
    """One comparison. `ratio` is how many times faster (or smaller) ours is; `target` what is promised."""

    question: str
    ours: str
    peer: str
    ratio: float | None
    target: float | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the promised ratio was reached; None when nothing is promised or nothing was measured."""
        if self.ratio is None or self.target is None:
            return None
        return self.ratio >= self.target


def _calls(call: Callable[[], object], budget: float) -> int:
    """Warm up, and say how many calls fit into the budget of one round."""
    call()
    start = time.perf_counter()
    call()
    return max(1, int(budget / max(time.perf_counter() - start, 1e-9)))


def _round(call: Callable[[], object], number: int) -> float:
    start = time.perf_counter()
    for _ in range(number):
        call()
    return (time.perf_counter() - start) / number


def side_by_side(*calls: Callable[[], object], rounds: int = 9, budget: float = 2.0) -> list[float]:
    """The best time of each call; rounds alternate between the calls, so that a busy machine slows all alike."""
    numbers = [_calls(call, budget / rounds / len(calls)) for call in calls]
    best = [float("inf")] * len(calls)
    for _ in range(rounds):
        best = [min(t, _round(call, number)) for t, call, number in zip(best, calls, numbers, strict=True)]
    return best


def show_time(value: float) -> str:
    """Seconds with a readable unit."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def compare(
    question: str,
    ours: Callable[[], object],
    peer: Callable[[], object],
    target: float | None = None,
    note: str = "",
) -> Row:
    """Time both calls in this process, side by side, and report the ratio peer / ours."""
    time_ours, time_peer = side_by_side(ours, peer)
    return Row(question, show_time(time_ours), show_time(time_peer), time_peer / time_ours, target, note)


def print_rows(title: str, rows: list[Row]) -> None:
    """Print one benchmark's rows as a table."""
    table = Table(title=title, title_justify="left")
    for heading in ("question", "ours", "peer", "ratio", "promised", "note"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:,.2f}×"
        promised = "" if row.target is None else f"≥ {row.target:,g}×"
        mark = {True: " ✓", False: " ✗", None: ""}[row.met]
        table.add_row(row.question, row.ours, row.peer, ratio, promised + mark, row.note)
    Console(width=150).print(table)
