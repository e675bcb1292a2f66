"""A live table of the losses found so far, for the command line."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import numpy as np

from shallows.support.checks import Array

ROWS = 12
#: Losses closer than this share of the largest are shown as one: four digits are printed.
RESOLUTION = 1e-7
#: Losses of this size are compared absolutely: what is left of a loss of zero is rounding.
FLOOR = 1e-5


class LiveTable:
    """Shows on stderr, while an ensemble runs, how many runs are at which loss; silent when stderr is no terminal."""

    def __init__(self) -> None:
        import sys

        from rich.console import Console
        from rich.live import Live

        console = Console(file=sys.stderr)  # the stream of now: bars of what runs inside may be kept off it
        self.live: Any = (
            Live(console=console, transient=True, auto_refresh=False) if console.is_terminal else None
        )

    def __enter__(self) -> LiveTable:
        if self.live is not None:
            self.live.start()
        return self

    def watch(self, done: int, total: int, losses: Array) -> None:
        """Update the table."""
        if self.live is not None:
            self.live.update(loss_table(done, total, losses), refresh=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.live is not None:
            self.live.stop()


def levels(losses: Array, resolution: float = RESOLUTION) -> list[tuple[float, int]]:
    """Distinct losses and how often each occurs: sorted values, split where the gap exceeds the resolution.

    The resolution is relative to the largest loss, but to FLOOR at least.

    >>> levels(np.array([1.0, 0.0, 1.0 + 1e-9]))
    [(0.0, 1), (1.0, 2)]
    """
    finite = np.sort(losses[np.isfinite(losses)])
    if not len(finite):
        return []
    room = resolution * max(float(np.abs(finite).max()), FLOOR)
    pieces = np.split(finite, np.flatnonzero(np.diff(finite) > room) + 1)
    return [(float(piece[0]), len(piece)) for piece in pieces]


def loss_table(done: int, total: int, losses: Array) -> Any:
    """A rich table of the levels so far."""
    from rich.table import Table

    table = Table(title=f"{done} of {total} runs", title_justify="left")
    for heading in ("loss", "runs", "share"):
        table.add_column(heading, justify="right")
    found = levels(losses)
    for loss, count in found[:ROWS]:
        table.add_row(f"{loss:.8g}", str(count), f"{count / done:.1%}")
    if len(found) > ROWS:
        table.add_row("…", str(sum(count for _, count in found[ROWS:])), "")
    return table
