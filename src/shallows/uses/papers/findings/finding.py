"""A finding: a statement that is in none of the four papers, in the form of a claim.

Its check, control and mutations are a claim's. Besides, it says on what it rests: "proved" is for statements whose
derivation is written out (on the page "Findings", in the docstring of the module or of the function it names) or whose
every instance is decided in exact or ball arithmetic; "observed" for those that were computed on the cases named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from shallows.uses.papers.claim import Claim
from shallows.uses.papers.evidence import Check, Variant
from shallows.uses.papers.mutations import Mutation

Basis = Literal["proved", "observed"]
#: What stands in the place of a paper's number.
FINDINGS = "findings"


@dataclass(frozen=True, repr=False)
class Finding(Claim):
    """A statement that the four papers do not have, with a check that can fail, as a `Claim` has.

    `title` is the statement in a few words; `basis` says what it rests on, "proved" (a derivation that is written out,
    or exact or ball arithmetic) or "observed" (so many cases); `known` what the literature has, and what is new.

    >>> finding = sh.findings()[0]
    >>> print(finding.key, finding.basis, finding.title)
    findings/finding-1 proved Conjecture 1 of paper 003 is false for every k and m
    >>> finding.verify(rng=0).holds, finding.verify_control(rng=0).holds
    (True, False)
    """

    title: str = ""
    basis: Basis = "observed"
    known: str = ""


def finding(
    number: int,
    title: str,
    statement: str,
    *,
    basis: Basis,
    known: str,
    control: tuple[str, Mapping[str, Any]],
    tests: Mapping[str, tuple[Mutation, ...]],
) -> Callable[[Check], Finding]:
    """Make a finding of a check: the decorator of the functions in this package."""

    def decorate(check: Check) -> Finding:
        return Finding(
            FINDINGS,
            f"Finding {number}",
            statement,
            check,
            Variant(*control),
            None,
            tests,
            title,
            basis,
            known,
        )

    return decorate
