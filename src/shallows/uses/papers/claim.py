"""A claim: one numbered statement of a paper, with a check that runs and that can fail.

A check is a generator of outcomes, one an instance. The same check, with one argument changed, is run

- as the **control**: the hypothesis (or the statement) is broken, and the check has to notice;
- as **printed**, where our statement is not the paper's: what is printed is contradicted by an instance, or it is true
  and ours is sharper.

And it is run as it stands with each library function that it puts to the test replaced by a wrong version
(`shallows.uses.papers.mutations`): it has to notice that too.
"""

from __future__ import annotations

import inspect
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from textwrap import shorten
from typing import Any

import numpy as np

from shallows.support.errors import InvalidProblem
from shallows.support.seeds import generator
from shallows.uses.papers.evidence import (
    Check,
    Effort,
    Evidence,
    Printed,
    Trial,
    Variant,
    Verdict,
    compared,
    judged,
    run,
)
from shallows.uses.papers.mutations import Mutation

__all__ = ["ALGEBRA", "EFFORTS", "Claim", "Trial", "claim"]

EFFORTS: tuple[Effort, ...] = ("quick", "full")
#: Characters of a statement in a claim's printed form: one line of a wide terminal.
SHOWN = 120
#: What a claim puts to the test when it checks the paper's algebra only: no function of the library.
ALGEBRA: Mapping[str, tuple[Mutation, ...]] = {}
_SHORT = {
    "Theorem": "thm", "Lemma": "lemma", "Proposition": "prop", "Corollary": "cor", "Example": "ex", "Remark": "remark",
    "Equation": "eq", "Conjecture": "conj", "Algorithm": "alg", "Finding": "finding",
}  # fmt: skip


@dataclass(frozen=True, repr=False)
class Claim:
    """One numbered statement of a paper with a check that can fail: `claim.verify(rng=0, effort="quick")` → `Evidence`.

    `statement` has the quantifiers and the ranges; `instances` says what is drawn and how it is checked. `control` is
    the same check with a hypothesis broken, which it has to notice; `printed` the paper's own wording where ours
    differs. `tests` are the library functions that the check puts to the test, by dotted name, with wrong versions of
    them (besides "always refuses") that it has to notice; where it is empty, the paper's algebra alone is checked.

    >>> claim = next(c for c in sh.claims("000") if c.number == "Theorem 36")
    >>> print(claim.key, claim.number)
    000/thm-36 Theorem 36
    >>> claim.verify(rng=0).holds, claim.verify_control(rng=0).holds
    (True, False)
    """

    paper: str
    number: str
    statement: str
    check: Check = field(repr=False)
    control: Variant = field(repr=False)
    printed: Printed | None = field(default=None, repr=False)
    tests: Mapping[str, tuple[Mutation, ...]] | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.key}: {shorten(self.statement, SHOWN, placeholder=' …')})"

    def __reduce__(self) -> tuple[Callable[[str, str], Claim], tuple[str, str]]:
        """Pickles are made by name: the decorator `claim` puts the claim where its check was defined."""
        return _claim_at, (self.check.__module__, self.check.__qualname__)

    def __copy__(self) -> Claim:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Claim:
        return self

    @property
    def name(self) -> str:
        """Short and unique in its paper: "thm-35", "cor-d.2"."""
        kind, _, number = self.number.partition(" ")
        return f"{_SHORT[kind]}-{re.sub(r'[^a-z0-9.]+', '-', number.lower()).strip('-')}"

    @property
    def key(self) -> str:
        """Unique over all papers: "000/thm-35"."""
        return f"{self.paper}/{self.name}"

    @property
    def instances(self) -> str:
        """What is drawn and how it is checked: the first words of the check."""
        return " ".join((inspect.getdoc(self.check) or "").split())

    def verify(self, rng: int | np.random.Generator = 0, effort: Effort = "quick") -> Evidence:
        """Run the check (and the printed wording, where ours differs) on instances drawn from `rng`.

        A check that needs an optional package raises `MissingExtra` where that is not installed.
        """
        evidence = self._evidence(self.key, {}, rng, effort)
        if self.printed is None:
            return evidence
        again = run(self.check, Trial(generator(rng), effort), self.printed.arguments)
        return compared(evidence, self.printed, again)

    def verify_control(self, rng: int | np.random.Generator = 0, effort: Effort = "quick") -> Evidence:
        """Run the check with its hypothesis broken: the evidence must not hold."""
        return self._evidence(f"{self.key} (control)", self.control.arguments, rng, effort)

    def _evidence(
        self, key: str, arguments: Mapping[str, Any], rng: int | np.random.Generator, effort: Effort
    ) -> Evidence:
        if effort not in EFFORTS:
            raise InvalidProblem(f"effort is {effort!r}; expected one of {', '.join(map(repr, EFFORTS))}.")
        begin = time.perf_counter()
        tally = run(self.check, Trial(generator(rng), effort), arguments)
        seed = rng if isinstance(rng, int) else None
        return judged(key, tally, seed, effort, time.perf_counter() - begin)


def _claim_at(module: str, name: str) -> Claim:
    found = getattr(import_module(module), name)
    assert isinstance(found, Claim)
    return found


def claim(
    paper: str,
    number: str,
    statement: str,
    *,
    control: tuple[str, Mapping[str, Any]],
    printed: tuple[str, Mapping[str, Any]] | None = None,
    verdict: Verdict = "holds with a correction",
    tests: Mapping[str, tuple[Mutation, ...]] | None = None,
) -> Callable[[Check], Claim]:
    """Make a claim of a check: the decorator of the functions in this package.

    `printed` is the paper's wording where it is not ours, and `verdict` how it stands to ours: "holds with a
    correction" and "false as printed" need an instance that contradicts it, "sharpened" one in which it holds.
    """
    wording = Printed(*printed, verdict) if printed else None

    def decorate(check: Check) -> Claim:
        return Claim(paper, number, statement, check, Variant(*control), wording, tests)

    return decorate
