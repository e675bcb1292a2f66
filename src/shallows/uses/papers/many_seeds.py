"""Claims on the instances of many seeds: a true statement holds at every one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from shallows.uses.papers.claim import Claim
from shallows.uses.papers.evidence import Effort, Evidence
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
) -> list[ManySeeds]:
    """Each of `claims` from each of `seeds`; `done` is told of each claim as it finishes."""
    return on_cores(_over_seeds, claims, (tuple(seeds), effort), jobs, done)


def _over_seeds(claim: Claim, seeds: tuple[int, ...], effort: Effort) -> ManySeeds:
    failing = []
    for seed in seeds:
        found = verify_one(claim, seed, effort)
        if found.status == "not checked":
            return ManySeeds(claim.key, seeds, (), found.detail)
        if not found.holds:
            failing.append(found)
    return ManySeeds(claim.key, seeds, tuple(failing))
