"""Verify many claims, on all cores: the same evidence in the same order, however many processes there are."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

from shallows.support.cores import available
from shallows.uses.papers.claim import Claim, Effort, Evidence
from shallows.uses.papers.library import find_claims


@dataclass(frozen=True)
class Verification:
    """Claims and what their checks found."""

    claims: tuple[Claim, ...]
    evidence: tuple[Evidence, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing fails."""
        return all(found.holds for found in self.evidence)

    def by_paper(self) -> dict[str, Counter[str]]:
        """How many claims of each status, paper by paper."""
        counts: dict[str, Counter[str]] = {}
        for claim, found in zip(self.claims, self.evidence, strict=True):
            counts.setdefault(claim.paper, Counter())[found.status] += 1
        return counts

    def summary(self) -> str:
        """A line a paper."""
        lines = []
        for paper, counts in self.by_paper().items():
            parts = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
            lines.append(f"{paper}: {counts.total()} claims: {parts}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and text, for JSON."""
        rows = [
            {"paper": claim.paper, "number": claim.number, "statement": claim.statement, **found.to_dict()}
            for claim, found in zip(self.claims, self.evidence, strict=True)
        ]
        return {"holds": self.holds, "claims": rows}


def verify(
    claims: Sequence[Claim],
    rng: int = 0,
    effort: Effort = "quick",
    jobs: int | None = None,
    done: Callable[[Claim, Evidence], None] = lambda claim, evidence: None,
) -> Verification:
    """Verify all of `claims`, each from the same seed; `done` is told of each one as it finishes."""
    jobs = min(jobs or available(), len(claims))
    found: dict[str, Evidence] = {}
    if jobs <= 1:
        for claim in claims:
            found[claim.key] = claim.verify(rng, effort)
            done(claim, found[claim.key])
    else:
        # spawned, not forked: numba's threads and a fork do not go together
        with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
            tasks = {pool.submit(_verify_one, claim.key, rng, effort): claim for claim in claims}
            for task in as_completed(tasks):
                found[tasks[task].key] = task.result()
                done(tasks[task], found[tasks[task].key])
    return Verification(tuple(claims), tuple(found[claim.key] for claim in claims))


def _verify_one(key: str, rng: int, effort: Effort) -> Evidence:
    (claim,) = find_claims(key)
    return claim.verify(rng, effort)
