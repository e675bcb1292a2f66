"""Verify many claims, on all cores: the same evidence in the same order, however many processes there are."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any, TypeVar

from shallows.support.checks import counted
from shallows.support.cores import available
from shallows.support.errors import MissingExtra
from shallows.uses.papers.claim import Claim
from shallows.uses.papers.evidence import Effort, Evidence
from shallows.uses.papers.findings.finding import FINDINGS

Found = TypeVar("Found")


@dataclass(frozen=True)
class Verification:
    """Claims and what their checks found."""

    claims: tuple[Claim, ...]
    evidence: tuple[Evidence, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing fails; what is not checked does not."""
        return not any(found.status == "fails" for found in self.evidence)

    @property
    def complete(self) -> bool:
        """Whether every claim could be checked: some need an extra."""
        return not any(found.status == "not checked" for found in self.evidence)

    def by_paper(self) -> dict[str, Counter[str]]:
        """How many claims of each status, paper by paper."""
        counts: dict[str, Counter[str]] = {}
        for claim, found in zip(self.claims, self.evidence, strict=True):
            counts.setdefault(claim.paper, Counter())[found.status] += 1
        return counts

    def proved(self, paper: str) -> int:
        """How many claims of a paper exact or ball arithmetic decided at every instance."""
        pairs = zip(self.claims, self.evidence, strict=True)
        return sum(found.proved for claim, found in pairs if claim.paper == paper)

    def summary(self) -> str:
        """A line a paper."""
        lines = []
        for paper, counts in self.by_paper().items():
            parts = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
            total = counts.total() if paper == FINDINGS else counted(counts.total(), "claim")
            lines.append(f"{paper}: {total}: {parts}; {self.proved(paper)} proved at every instance")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and text, for JSON."""
        rows = [
            {"paper": claim.paper, "number": claim.number, "statement": claim.statement, **found.to_dict()}
            for claim, found in zip(self.claims, self.evidence, strict=True)
        ]
        return {"holds": self.holds, "complete": self.complete, "claims": rows}


def verify(
    claims: Sequence[Claim],
    rng: int = 0,
    effort: Effort = "quick",
    jobs: int | None = None,
    done: Callable[[Claim, Evidence], None] = lambda claim, evidence: None,
) -> Verification:
    """Verify all of `claims`, each from the same seed; `done` is told of each one as it finishes."""
    return Verification(tuple(claims), tuple(on_cores(verify_one, claims, (rng, effort), jobs, done)))


def verify_one(claim: Claim, rng: int, effort: Effort) -> Evidence:
    """The evidence for a claim; none, with the sentence that says what is missing, where it needs an extra."""
    try:
        return claim.verify(rng, effort)
    except MissingExtra as error:
        return Evidence.not_checked(claim.key, str(error), rng, effort)


def on_cores(
    task: Callable[..., Found],
    claims: Sequence[Claim],
    arguments: tuple[Any, ...],
    jobs: int | None,
    done: Callable[[Claim, Found], None],
) -> list[Found]:
    """`task(claim, *arguments)` for every claim, on `jobs` processes; the answers in the order of the claims."""
    jobs = min(jobs or available(), len(claims))
    found: dict[str, Found] = {}
    if jobs <= 1:
        for claim in claims:
            found[claim.key] = task(claim, *arguments)
            done(claim, found[claim.key])
    else:
        # spawned, not forked: numba's threads and a fork do not go together
        with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
            tasks = {pool.submit(task, claim, *arguments): claim for claim in claims}
            for finished in as_completed(tasks):
                found[tasks[finished].key] = finished.result()
                done(tasks[finished], found[tasks[finished].key])
    return [found[claim.key] for claim in claims]
