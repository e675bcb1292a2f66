"""Claims run with the functions that they put to the test replaced by wrong ones: does the check notice?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from shallows.support.seeds import generator
from shallows.uses.papers.claim import Claim
from shallows.uses.papers.evidence import Effort, Trial, run
from shallows.uses.papers.mutations import REFUSED, BrokenMutation, replaced
from shallows.uses.papers.verification import on_cores


@dataclass(frozen=True)
class Mutant:
    """A claim run with one function replaced: whether it noticed, and by what."""

    claim: str
    function: str
    mutation: str
    seed: int
    noticed: bool
    how: str

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and text, for JSON."""
        return asdict(self)


def mutants(claim: Claim, seed: int = 0, effort: Effort = "quick") -> Iterator[Mutant]:
    """Each function that the claim puts to the test, replaced by each of its wrong versions."""
    for function, mutations in (claim.tests or {}).items():
        for mutation in (REFUSED, *mutations):
            with replaced(function, mutation):
                try:
                    tally = run(claim.check, Trial(generator(seed), effort), {})
                    noticed, how = not tally.holds, tally.detail()
                except BrokenMutation as error:
                    noticed, how = False, str(error)
                except (
                    Exception
                ) as error:  # a wrong function may make anything raise: that is noticed as well
                    noticed, how = True, f"{type(error).__name__}: {error}"
            yield Mutant(claim.key, function, mutation.text, seed, noticed, how)


def all_mutants(
    claims: Sequence[Claim], seed: int = 0, effort: Effort = "quick", jobs: int | None = None
) -> list[Mutant]:
    """The mutants of all of `claims`, in their order."""
    found = on_cores(_mutants_of, claims, (seed, effort), jobs, lambda claim, found: None)
    return [mutant for of_one in found for mutant in of_one]


def _mutants_of(claim: Claim, seed: int, effort: Effort) -> list[Mutant]:
    return list(mutants(claim, seed, effort))
