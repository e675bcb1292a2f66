"""A claim: one numbered statement of a paper, with a check that runs and that can fail.

A check is a generator of outcomes, one an instance. The same check, with one argument changed, is run

- as the **control**: the hypothesis (or the statement) is broken, and the check has to notice;
- as **printed**, where the paper has a misprint: the corrected statement holds, the printed one does not.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from importlib import import_module
from typing import Any, Literal

import numpy as np

from shallows.support.checks import counted
from shallows.support.errors import InvalidProblem, ShallowsError
from shallows.support.seeds import generator
from shallows.uses.papers.outcome import Outcome

Effort = Literal["quick", "full"]
Status = Literal["holds (proved)", "holds (numerically)", "misprint", "fails"]
EFFORTS: tuple[Effort, ...] = ("quick", "full")
_SHORT = {
    "Theorem": "thm", "Lemma": "lemma", "Proposition": "prop", "Corollary": "cor", "Example": "ex", "Remark": "remark",
    "Equation": "eq", "Conjecture": "conj", "Algorithm": "alg",
}  # fmt: skip


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
class Evidence:
    """What a check found.

    `figure` is the largest error or the smallest slack over the instances (`figure_name` says which), or the number of
    instances where a claim is a yes or no. `printed` says how the paper's own wording fails, for a misprint.

    >>> claim = next(c for c in sh.claims("001") if c.number == "Theorem 2.8")
    >>> evidence = claim.verify(rng=0)
    >>> evidence.status, evidence.instances
    ('holds (proved)', 28)
    >>> evidence
    Evidence(001/thm-2.8: holds (proved); 28 instances; the last: d=5: the prime points of the proof,
    Span(15 samples: rank 15 of 15, exact))
    """

    claim: str
    status: Status
    holds: bool
    figure: float
    figure_name: str
    detail: str
    instances: int
    counterexample: str | None
    printed: str | None
    seed: int | None
    effort: Effort
    seconds: float = field(compare=False)

    def __repr__(self) -> str:
        return f"Evidence({self.claim}: {self.status}; {self.detail})"

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and text, for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Claim:
    """One numbered statement of a paper with a check that can fail: `claim.verify(rng=0, effort="quick")` → `Evidence`.

    `control` is the same check with a hypothesis broken, which it has to notice; `printed` the paper's own wording,
    where that is a misprint.

    >>> claim = next(c for c in sh.claims("000") if c.number == "Theorem 36")
    >>> print(claim.key, claim.statement)
    000/thm-36 Heavy-tailed i.i.d. data, rank one, an open set of diagonal teachers: (3ⁿ−1)/2 real critical points.
    >>> claim.verify(rng=0).holds, claim.verify_control(rng=0).holds
    (True, False)
    """

    paper: str
    number: str
    statement: str
    check: Check = field(repr=False)
    control: Variant = field(repr=False)
    printed: Variant | None = field(default=None, repr=False)

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

    def verify(self, rng: int | np.random.Generator = 0, effort: Effort = "quick") -> Evidence:
        """Run the check (and the printed wording, where there is a misprint) on instances drawn from `rng`."""
        if effort not in EFFORTS:
            raise InvalidProblem(f"effort is {effort!r}; expected one of {', '.join(map(repr, EFFORTS))}.")
        begin = time.perf_counter()
        seed = rng if isinstance(rng, int) else None
        tally = _run(self.check, Trial(generator(rng), effort), {})
        printed = None
        if self.printed is not None:
            again = _run(self.check, Trial(generator(rng), effort), self.printed.arguments)
            printed = f"printed: {self.printed.text}; {again.counterexample or 'no instance contradicts it'}"
            tally.misprint = again.counterexample is not None
        return tally.evidence(self.key, printed, seed, effort, time.perf_counter() - begin)

    def verify_control(self, rng: int | np.random.Generator = 0, effort: Effort = "quick") -> Evidence:
        """Run the check with its hypothesis broken: the evidence must not hold."""
        begin = time.perf_counter()
        tally = _run(self.check, Trial(generator(rng), effort), self.control.arguments)
        seed = rng if isinstance(rng, int) else None
        return tally.evidence(f"{self.key} (control)", None, seed, effort, time.perf_counter() - begin)


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
) -> Callable[[Check], Claim]:
    """Make a claim of a check: the decorator of the functions in this package."""

    def decorate(check: Check) -> Claim:
        return Claim(
            paper, number, statement, check, Variant(*control), Variant(*printed) if printed else None
        )

    return decorate


@dataclass
class _Tally:
    """The running summary of a check's outcomes."""

    instances: int = 0
    proved: int = 0
    error: float | None = None
    slack: float | None = None
    counterexample: str | None = None
    last: str = ""
    misprint: bool = False

    def add(self, outcome: Outcome) -> None:
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

    def figure(self) -> tuple[float, str]:
        if self.error is not None:
            return self.error, "largest error"
        if self.slack is not None:
            return self.slack, "smallest slack"
        return float(self.instances), "instances"

    def status(self) -> Status:
        if self.counterexample is not None or not self.instances:
            return "fails"
        if self.misprint:
            return "misprint"
        return "holds (proved)" if self.proved == self.instances else "holds (numerically)"

    def detail(self) -> str:
        if self.counterexample is not None:
            return f"fails at instance {self.instances}: {self.counterexample}"
        if not self.instances:
            return "the check had no instance"
        number, name = self.figure()
        margin = "" if name == "instances" else f", {name} {number:.3g}"
        proved = f", {self.proved} of them proved" if 0 < self.proved < self.instances else ""
        return f"{counted(self.instances, 'instance')}{proved}{margin}; the last: {self.last}"

    def evidence(
        self, key: str, printed: str | None, seed: int | None, effort: Effort, seconds: float
    ) -> Evidence:
        number, name = self.figure()
        status = self.status()
        holds = status != "fails"
        return Evidence(
            claim=key,
            status=status,
            holds=holds,
            figure=number,
            figure_name=name,
            detail=self.detail(),
            instances=self.instances,
            counterexample=self.counterexample,
            printed=printed,
            seed=seed,
            effort=effort,
            seconds=seconds,
        )


def _run(check: Check, trial: Trial, arguments: Mapping[str, Any]) -> _Tally:
    """Collect outcomes up to the first that fails; an error of the library's own is a failure, with its sentence."""
    tally = _Tally()
    try:
        for outcome in check(trial, **arguments):
            tally.add(outcome)
            if not outcome.holds:
                break
    except ShallowsError as error:
        tally.instances += 1
        tally.counterexample = f"{type(error).__name__}: {error}"
    return tally
