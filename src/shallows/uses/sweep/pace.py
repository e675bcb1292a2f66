"""How many cells go into one task: about half a second of work, fewer at the start and towards the end."""

from __future__ import annotations

import math

#: Long against the milliseconds a task costs, short against what one minds losing when a worker is killed.
SECONDS = 0.5
LARGEST = 2000
GROWTH = 4
#: How much the last chunk counts against those before it.
RECENT = 0.3
#: No cell is taken to be shorter, in seconds: below that a clock may show zero.
SHORTEST = 1e-6


class Pace:
    """Chunk sizes from the measured time of the cells so far."""

    def __init__(self) -> None:
        self.size = 1
        self.mean: float | None = None

    def learn(self, seconds: float, cells: int) -> None:
        """Take a finished chunk into account; recent ones count more."""
        mean = max(seconds / cells, SHORTEST)
        self.mean = mean if self.mean is None else (1 - RECENT) * self.mean + RECENT * mean
        self.size = min(max(1, int(SECONDS / self.mean)), GROWTH * self.size, LARGEST)

    def chunk(self, left: int, workers: int) -> int:
        """The next chunk's size: when little is left, every worker gets a share of it, in two rounds."""
        return max(1, min(self.size, math.ceil(left / (2 * max(workers, 1)))))
