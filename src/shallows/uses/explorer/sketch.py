"""Figures as plain dictionaries, with the few methods of a Plotly figure that the explorer needs.

A Plotly figure checks every property it is given, which takes longer than computing a landscape. A `Sketch` does not;
the tests check that every sketch is a valid Plotly figure.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from shallows.support.checks import Array

#: Arrays longer than this are sent as base64 of 32-bit floats, which is more than a screen shows.
LONG = 64


class Sketch:
    """Traces and a layout."""

    def __init__(self) -> None:
        self.data: list[dict[str, Any]] = []
        self.layout: dict[str, Any] = {"xaxis": {}, "yaxis": {}}

    def add_trace(self, trace: dict[str, Any]) -> None:
        """Add a trace given as a dictionary."""
        self.data.append({name: packed(value) for name, value in trace.items()})

    def add_scatter(self, **trace: Any) -> None:
        """Add lines or markers."""
        self.add_trace({"type": "scatter", **trace})

    def add_scatter3d(self, **trace: Any) -> None:
        """Add lines or markers in space."""
        self.add_trace({"type": "scatter3d", **trace})

    def add_shape(self, **shape: Any) -> None:
        """Add a shape."""
        self.layout.setdefault("shapes", []).append(shape)

    def add_handle(self, x: float, y: float, moves: dict[str, tuple[float, float, float]]) -> None:
        """A place that can be dragged: by (Δx, Δy) sets each field of `moves`, (start, a, b), to start + aΔx + bΔy."""
        handle = {"x": x, "y": y, "moves": {name: list(move) for name, move in moves.items()}}
        self.layout.setdefault("meta", {"handles": []})["handles"].append(handle)

    def update_layout(self, **changes: Any) -> None:
        """Merge into the layout."""
        self.layout.update(changes)

    def update_xaxes(self, **changes: Any) -> None:
        """Merge into the horizontal axis."""
        self._update_axis("xaxis", changes)

    def update_yaxes(self, **changes: Any) -> None:
        """Merge into the vertical axis."""
        self._update_axis("yaxis", changes)

    def _update_axis(self, axis: str, changes: dict[str, Any]) -> None:
        text = changes.pop("title_text", None)
        self.layout[axis] = {**self.layout[axis], **changes}
        if text is not None:
            self.layout[axis]["title"] = {**self.layout[axis].get("title", {}), "text": text}

    def to_plotly_json(self) -> dict[str, Any]:
        """The figure as Plotly's JavaScript reads it."""
        return {"data": self.data, "layout": self.layout}


def packed(value: Any) -> Any:
    """Arrays as lists, long ones as typed arrays in base64; anything else as it is."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fi":
        return value
    if value.size <= LONG:
        return [None if np.isnan(x) else x for x in value.tolist()] if value.ndim == 1 else value.tolist()
    return _typed(value)


def _typed(value: Array) -> dict[str, str]:
    data = np.ascontiguousarray(value, dtype="<f4")
    spec = {"dtype": "f4", "bdata": base64.b64encode(data.tobytes()).decode("ascii")}
    return spec if value.ndim == 1 else {**spec, "shape": ", ".join(map(str, value.shape))}
