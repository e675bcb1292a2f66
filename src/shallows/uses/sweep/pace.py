"""How many cells go into one task: about half a second of work, fewer at the start and towards the end."""

from __future__ import annotations

import math

#: Long against the milliseconds a task costs, short against what one minds losing when a worker is killed.
SECONDS = 0.5
LARGEST = 2000
GROWTH = 4


class Pace:
    """Chunk sizes from the measured time of the cells so far."""

    def __init__(self) -> None:
        self.size = 1
        self.mean: float | None = None

    def learn(self, seconds: float, cells: int) -> None:
        """Take a finished chunk into account; recent ones count more."""
        mean = max(seconds / cells, 1e-6)
        self.mean = mean if self.mean is None else 0.7 * self.mean + 0.3 * mean
        self.size = min(max(1, int(SECONDS / self.mean)), GROWTH * self.size, LARGEST)

    def chunk(self, left: int, workers: int) -> int:
        """The next chunk's size: when little is left, every worker gets a share of it, in two rounds."""
        return max(1, min(self.size, math.ceil(left / (2 * max(workers, 1)))))
