"""Claims on the instances of many seeds: a true statement holds at every one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shallows.uses.papers.claim import Claim
from shallows.uses.papers.evidence import Effort, Evidence
from shallows.uses.papers.seed_log import SeedLog
from shallows.uses.papers.verification import on_cores, verify_one


@dataclass(frozen=True)
class ManySeeds:
    """A claim checked from each of `seeds`, and the evidence of those at which it did not hold."""

    claim: str
    seeds: tuple[int, ...]
    failing: tuple[Evidence, ...]
    unchecked: str = ""

    @property
    def holds(self) -> bool:
        """Whether it failed at no seed."""
        return not self.failing

    def __repr__(self) -> str:
        if self.unchecked:
            return f"ManySeeds({self.claim}: not checked; {self.unchecked})"
        good = len(self.seeds) - len(self.failing)
        words = f"{self.claim}: holds at {good} of {len(self.seeds)} seeds"
        if self.holds:
            return f"ManySeeds({words})"
        first = self.failing[0]
        return f"ManySeeds({words}; seed {first.seed}: {first.detail})"

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and text, for JSON."""
        return {
            "claim": self.claim,
            "seeds": list(self.seeds),
            "holds": self.holds,
            "unchecked": self.unchecked,
            "failing": [found.to_dict() for found in self.failing],
        }


def over_seeds(
    claims: Sequence[Claim],
    seeds: Sequence[int],
    effort: Effort = "quick",
    jobs: int | None = None,
    done: Callable[[Claim, ManySeeds], None] = lambda claim, found: None,
    resume: Path | None = None,
) -> list[ManySeeds]:
    """Each of `claims` from each of `seeds`; `done` is told of each claim as it finishes.

    `resume` is a file: what it says to hold is not checked again, and what is checked is added to it (`SeedLog`).
    """
    log = None if resume is None else SeedLog(resume)
    held = {} if log is None else log.held(effort)
    if log is not None:
        log.begin()
    return on_cores(_over_seeds, claims, (tuple(seeds), effort, log, held), jobs, done)


def _over_seeds(
    claim: Claim, seeds: tuple[int, ...], effort: Effort, log: SeedLog | None, held: dict[str, set[int]]
) -> ManySeeds:
    failing = []
    for seed in seeds:
        if seed in held.get(claim.key, ()):
            continue
        found = verify_one(claim, seed, effort)
        if found.status == "not checked":
            return ManySeeds(claim.key, seeds, (), found.detail)
        if log is not None:
            log.add(found)
        if not found.holds:
            failing.append(found)
    return ManySeeds(claim.key, seeds, tuple(failing))
