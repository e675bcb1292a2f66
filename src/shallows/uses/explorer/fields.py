"""The controls of a view: names, bounds and defaults; and the state they make, read from texts and checked.

Everything that comes from a page or a URL is text until it has gone through `read_state`: unknown names, values that
are no numbers and values out of bounds are refused with a sentence. Nothing is ever evaluated as code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from urllib.parse import urlencode

from shallows.support.errors import InvalidProblem

State = dict[str, float]
LONGEST = 40


@dataclass(frozen=True)
class Field:
    """A number with a slider; `choices` makes it a choice instead, whose value is a place in that list.

    `selects`: the choice (field, value) under which alone this number matters; the page makes it when the number moves.
    `needs`: a choice under which alone there is such a number; the page shows its slider then.
    """

    name: str
    label: str
    low: float
    high: float
    step: float
    default: float
    choices: tuple[str, ...] = ()
    selects: tuple[str, str] | None = None
    needs: tuple[str, str] | None = None

    @property
    def whole(self) -> bool:
        """Whether only integers are meant."""
        return float(self.step).is_integer() and float(self.low).is_integer()

    def read(self, text: object) -> float:
        """The value of a text, or a sentence about what is wrong with it."""
        if self.choices:
            return float(self._place(str(text)))
        try:
            value = float(str(text).strip()[:LONGEST])
        except ValueError:
            value = float("nan")
        if text is None or isinstance(text, bool) or not isfinite(value):
            raise InvalidProblem(
                f"{self.label} is {_shown(text)}; expected a number from {self.low:g} to {self.high:g}."
            )
        if not self.low <= value <= self.high:
            raise InvalidProblem(
                f"{self.label} is {value:g}; expected a number from {self.low:g} to {self.high:g}."
            )
        if self.whole and not value.is_integer():
            raise InvalidProblem(f"{self.label} is {value:g}; expected a whole number.")
        return value

    def _place(self, text: str) -> int:
        if text not in self.choices:
            raise InvalidProblem(
                f"{self.label} is {_shown(text)}; expected one of {', '.join(self.choices)}."
            )
        return self.choices.index(text)

    def text(self, value: float) -> str:
        """The value as it stands in a URL and in a box."""
        return self.choices[int(value)] if self.choices else f"{value:.10g}"


def choice(name: str, label: str, choices: tuple[str, ...], default: str) -> Field:
    """A field with a few named values."""
    return Field(name, label, 0, len(choices) - 1, 1, choices.index(default), choices)


def _shown(text: object) -> str:
    return "empty" if text in (None, "") else repr(str(text)[:LONGEST])


def defaults(fields: Sequence[Field]) -> State:
    """The state a view starts with."""
    return {field.name: field.default for field in fields}


def read_state(fields: Sequence[Field], given: Mapping[str, object]) -> State:
    """The state of given texts; what is not given has its default."""
    unknown = sorted(set(given) - {field.name for field in fields})
    if unknown:
        names = ", ".join(field.name for field in fields)
        raise InvalidProblem(f"This view has no {_shown(unknown[0])}; it has {names}.")
    return {f.name: f.read(given[f.name]) if f.name in given else f.default for f in fields}


def query(view: str, fields: Sequence[Field], state: State) -> str:
    """The state as the query of a URL."""
    return "?" + urlencode({"view": view, **{field.name: field.text(state[field.name]) for field in fields}})
