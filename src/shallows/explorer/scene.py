"""What a view shows for a state: figures with captions, facts, a table, and the problem behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from shallows.errors import InvalidProblem
from shallows.explorer.fields import Field, State
from shallows.problem import Problem

#: A request that would take longer than this is refused, with its estimate.
LONGEST_SECONDS = 5.0


class TooLong(InvalidProblem):
    """A request would take too long; the message has the estimate and what to change."""

    def __init__(self, seconds: float, advice: str) -> None:
        super().__init__(
            f"This would take about {seconds:.0f} s; the explorer's limit is {LONGEST_SECONDS:.0f} s. {advice}"
        )
        self.seconds = seconds


def require_time(seconds: float, advice: str) -> None:
    """Refuse what takes too long before it starts."""
    if seconds > LONGEST_SECONDS:
        raise TooLong(seconds, advice)


@dataclass(frozen=True)
class Scene:
    """One state, drawn. `facts` are (value, label); `code` is the Python that computes the same."""

    figures: Sequence[Any]
    facts: Sequence[tuple[str, str]]
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    code: str
    problem: Problem | None = None


@dataclass(frozen=True)
class View:
    """A page of the explorer: its controls, and how a state is drawn.

    `captions`: one a figure. `drag`: the names of the two fields that the marker in the first figure moves.
    `live`: extra controls and callbacks of the view, for those that compute step by step.
    """

    name: str
    title: str
    lead: str
    fields: tuple[Field, ...]
    captions: tuple[str, ...]
    draw: Callable[[State], Scene]
    drag: tuple[str, str] | None = None
    live: bool = False
