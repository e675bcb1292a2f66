"""What a check found: its outcomes counted, and how the paper's own wording stands to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np

from shallows.support.checks import counted
from shallows.support.errors import MissingExtra, ShallowsError
from shallows.uses.papers.outcome import Outcome

Effort = Literal["quick", "full"]
#: How the paper's wording stands to the statement that is checked, where the two differ. "sharpened" is the only one
#: of the three in which the paper is right.
Verdict = Literal["holds with a correction", "false as printed", "sharpened"]
Status = Literal["holds", "holds with a correction", "false as printed", "sharpened", "fails", "not checked"]


@dataclass(frozen=True)
class Trial:
    """What a check may use: a generator, and how hard to try."""

    rng: np.random.Generator
    effort: Effort = "quick"

    def times(self, quick: int, full: int) -> range:
        """As many instances as the effort allows."""
        return range(quick if self.effort == "quick" else full)


Check = Callable[..., Iterator[Outcome]]


@dataclass(frozen=True)
class Variant:
    """The check with some arguments changed, and what that means in words."""

    text: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Printed(Variant):
    """The paper's own wording as a variant of the check, and how our statement stands to it."""

    verdict: Verdict = "holds with a correction"


@dataclass(frozen=True)
class Evidence:
    """What a check found.

    `status` is "holds"; "holds with a correction" or "false as printed" where an instance contradicts the paper's own
    wording; "sharpened" where that wording is true and ours says more; "fails"; or "not checked", in a `Verification`
    of many claims, where something the check needs is not installed. `proved` says that exact or ball
    arithmetic decided every instance, and the one that contradicts the paper: a proof of these instances, not of the
    statement. `figure` is the largest error or the smallest slack over the instances (`figure_name` says which), or the
    number of instances where a claim is a yes or no. `raised` says that an error of the library ended the check.

    >>> claim = next(c for c in sh.claims("001") if c.number == "Theorem 2.8")
    >>> evidence = claim.verify(rng=0)
    >>> evidence.status, evidence.proved, evidence.instances
    ('holds', True, 32)
    >>> evidence
    Evidence(001/thm-2.8: holds (proved); 32 instances; the last: d=5: the prime points of the proof,
    Span(15 samples: rank 15 of 15, exact))
    """

    claim: str
    status: Status
    proved: bool
    holds: bool
    figure: float
    figure_name: str
    detail: str
    instances: int
    counterexample: str | None
    raised: bool
    printed: str | None
    seed: int | None
    effort: Effort
    seconds: float = field(compare=False)

    @property
    def summary(self) -> str:
        """The status and how it was decided: "holds (proved)", "sharpened (numerically)"; "fails" alone."""
        decided = "proved" if self.proved else "numerically"
        return f"{self.status} ({decided})" if self.holds else self.status

    def __repr__(self) -> str:
        return f"Evidence({self.claim}: {self.summary}; {self.detail})"

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and text, for JSON."""
        return asdict(self)

    @classmethod
    def not_checked(cls, claim: str, reason: str, seed: int, effort: Effort) -> Evidence:
        """None: the check could not run here, for this reason."""
        return replace(judged(claim, Tally(), seed, effort, 0.0), status="not checked", detail=reason)


@dataclass
class Tally:
    """The running summary of a check's outcomes."""

    instances: int = 0
    proved: int = 0
    error: float | None = None
    slack: float | None = None
    counterexample: str | None = None
    failure_proved: bool = False
    raised: bool = False
    last: str = ""

    def add(self, outcome: Outcome) -> None:
        """Count one more instance."""
        self.instances += 1
        self.proved += outcome.proved
        if outcome.measure == "error":
            self.error = outcome.number if self.error is None else max(self.error, outcome.number)
        if outcome.measure == "slack":
            self.slack = outcome.number if self.slack is None else min(self.slack, outcome.number)
        if outcome.holds:
            self.last = outcome.what
        else:
            number = "" if outcome.measure == "fact" else f" ({outcome.measure} {outcome.number:.3g})"
            self.counterexample = f"{outcome.what}{number}"
            self.failure_proved = outcome.proved

    @property
    def holds(self) -> bool:
        """Whether there were instances and none failed."""
        return self.instances > 0 and self.counterexample is None

    @property
    def contradicted(self) -> bool:
        """Whether an instance failed for the statement's own reason, not because the library refused."""
        return self.counterexample is not None and not self.raised

    def figure(self) -> tuple[float, str]:
        """The number that sums up the instances, and its name."""
        if self.error is not None:
            return self.error, "largest error"
        if self.slack is not None:
            return self.slack, "smallest slack"
        return float(self.instances), "instances"

    def detail(self) -> str:
        """The summary in words."""
        if self.counterexample is not None:
            return f"fails at instance {self.instances}: {self.counterexample}"
        if not self.instances:
            return "the check had no instance"
        number, name = self.figure()
        margin = "" if name == "instances" else f", {name} {number:.3g}"
        proved = f", {self.proved} of them proved" if 0 < self.proved < self.instances else ""
        return f"{counted(self.instances, 'instance')}{proved}{margin}; the last: {self.last}"


def run(check: Check, trial: Trial, arguments: Mapping[str, Any]) -> Tally:
    """Collect outcomes up to the first that fails; an error of the library's own is a failure, with its sentence.

    What is not installed says nothing about the claim: `MissingExtra` goes on to the caller.
    """
    tally = Tally()
    try:
        for outcome in check(trial, **arguments):
            tally.add(outcome)
            if not outcome.holds:
                break
    except MissingExtra:
        raise
    except ShallowsError as error:
        tally.instances += 1
        tally.raised = True
        tally.counterexample = f"{type(error).__name__}: {error}"
    return tally


def judged(key: str, own: Tally, seed: int | None, effort: Effort, seconds: float) -> Evidence:
    """The evidence of a check whose statement is the paper's."""
    number, name = own.figure()
    return Evidence(
        claim=key,
        status="holds" if own.holds else "fails",
        proved=own.holds and own.proved == own.instances,
        holds=own.holds,
        figure=number,
        figure_name=name,
        detail=own.detail(),
        instances=own.instances,
        counterexample=own.counterexample,
        raised=own.raised,
        printed=None,
        seed=seed,
        effort=effort,
        seconds=seconds,
    )


def compared(evidence: Evidence, printed: Printed, again: Tally) -> Evidence:
    """The same with what the paper prints: a verdict on it has to be borne out by `again`, the check of its wording."""
    found = again.counterexample or "no instance contradicts it"
    told = replace(evidence, printed=f"printed: {printed.text}; {found}")
    if not evidence.holds:
        return told
    paper_is_right = printed.verdict == "sharpened"
    if not (again.holds if paper_is_right else again.contradicted):
        word = "true" if paper_is_right else "wrong"
        reason = f"the printed wording ({printed.text}) is called {word}, but: {found}"
        return replace(told, status="fails", proved=False, holds=False, detail=reason, counterexample=reason)
    decided = again.proved == again.instances if paper_is_right else again.failure_proved
    return replace(told, status=printed.verdict, proved=evidence.proved and decided)
