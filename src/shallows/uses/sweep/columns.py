"""Columns keep their kind: a result whose column changes from numbers to text is a failed cell, not a failed sweep."""

from __future__ import annotations

from typing import Any

from shallows.support.errors import InvalidProblem
from shallows.uses.sweep.axes import Label
from shallows.uses.sweep.cell import FAILED, Row
from shallows.uses.sweep.file import HEAD


class Columns:
    """The kinds (number, boolean, text) of all columns seen so far, beginning with those of the axes."""

    def __init__(self, labels: dict[str, Label]) -> None:
        self.axes = tuple(labels)
        self.kinds = {name: _kind(label) for name, label in labels.items()}

    def learn(self, schema: Any) -> None:
        """Take over the kinds of a Parquet part; the axes of a sweep must be of the same kinds as before."""
        import pyarrow as pa

        for field in schema:
            if pa.types.is_null(field.type):
                continue
            kind = _kind_of_type(field.type)
            known = self.kinds.setdefault(field.name, kind)
            if kind != known and field.name in self.axes:
                raise InvalidProblem(
                    f"The axis {field.name} is {known} now and {kind} in the rows of earlier runs. Fix: --out another "
                    "folder, or another name for the axis."
                )

    def fitted(self, row: Row) -> Row:
        """The row; or, when a column is of another kind than before, its head with that as the error."""
        for name, value in row.items():
            if value is None:
                continue
            kind = _kind(value)
            known = self.kinds.setdefault(name, kind)
            if kind != known:
                message = f"TypeError: {name} is {kind} here and {known} in other cells: {value!r}"
                return {key: row[key] for key in (*HEAD, *self.axes)} | {"status": FAILED, "error": message}
        return row


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "a boolean"
    return "a number" if isinstance(value, (int, float)) else "text"


def _kind_of_type(kind: Any) -> str:
    import pyarrow as pa

    if pa.types.is_boolean(kind):
        return "a boolean"
    return "a number" if pa.types.is_integer(kind) or pa.types.is_floating(kind) else "text"
