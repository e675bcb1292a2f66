"""The neurons of a fitted quadratic network by name: which directions of the columns count, and how strongly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shallows.support.checks import Array, counted
from shallows.support.errors import InvalidProblem
from shallows.support.theme import DIVERGING, styled

#: Columns that a line of text names, and neurons that it shows.
NAMED, SHOWN = 4, 12
#: Neurons that the picture shows at most: those that count most.
DRAWN = 24


@dataclass(frozen=True, eq=False, repr=False)
class Inspection:
    """The neurons λ(q·x + offset)² of all outputs, strongest first within each.

    `directions` are unit vectors in the columns, a row a neuron; `eigenvalues` say how strongly each counts and with
    which sign, `outputs` to which output (or class) it belongs.

    >>> X = np.random.default_rng(0).standard_normal((300, 3))
    >>> model = sh.learn.QuadraticNetRegressor(width=1).fit(X, (2 * X[:, 0] - X[:, 1]) ** 2)
    >>> model.inspect(["height", "weight", "age"])
    Inspection(1 neuron of 1 output in 3 columns)
      +5  +0.894 height  -0.447 weight  ...0.000 age
    """

    names: tuple[str, ...]
    outputs: tuple[str, ...]
    eigenvalues: Array
    directions: Array
    offsets: Array

    def to_dataframe(self) -> Any:
        """A pandas DataFrame, a row a neuron: output, eigenvalue, offset, then the columns by name."""
        import pandas

        table = pandas.DataFrame(self.directions, columns=list(self.names))
        table.insert(0, "offset", self.offsets)
        table.insert(0, "eigenvalue", self.eigenvalues)
        table.insert(0, "output", list(self.outputs))
        return table

    def figure(self) -> Any:
        """A Plotly figure: directions as colours, a row a neuron, the strongest on top."""
        import plotly.graph_objects as go

        rows = np.argsort(-np.abs(self.eigenvalues), kind="stable")[:DRAWN]
        several = len(set(self.outputs)) > 1
        labels = [
            f"{f'{self.outputs[i]}: ' if several else ''}{self.eigenvalues[i]:+.3g} · {place + 1}"
            for place, i in enumerate(rows)
        ]
        figure = go.Figure(
            go.Heatmap(
                z=self.directions[rows],
                x=list(self.names),
                y=labels,
                zmin=-1.0,
                zmax=1.0,
                colorscale=DIVERGING,
                hovertemplate="%{x}: %{z:.3f}<extra>neuron %{y}</extra>",
            )
        )
        figure.update_layout(xaxis={"title": "column"}, yaxis={"title": "neuron, by its eigenvalue"})
        figure.update_yaxes(autorange="reversed")
        return styled(figure, height=160 + 22 * len(rows), legend=False)

    def __repr__(self) -> str:
        count = len(set(self.outputs))
        head = (
            f"Inspection({counted(len(self.eigenvalues), 'neuron')} of {counted(count, 'output')} in "
            f"{counted(len(self.names), 'column')})"
        )
        lines = [head]
        for i in range(min(len(self.eigenvalues), SHOWN)):
            order = np.argsort(-np.abs(self.directions[i]), kind="stable")[:NAMED]
            named = "  ".join(f"{self.directions[i, j]:+.3f} {self.names[j]}" for j in order)
            output = f"{self.outputs[i]}: " if count > 1 else ""
            lines.append(f"  {output}{self.eigenvalues[i]:+.4g}  {named}")
        if len(self.eigenvalues) > SHOWN:
            lines.append(f"  and {len(self.eigenvalues) - SHOWN} more")
        return "\n".join(lines)


def inspection(
    known: Sequence[str],
    feature_names: Sequence[str] | None,
    outputs: Sequence[str],
    parts: tuple[Array, Array, Array],
) -> Inspection:
    """Eigenvalues (M, k), directions (M, k, n) and offsets (M, k) with their names."""
    names = [str(name) for name in (known if feature_names is None else feature_names)]
    eigenvalues, directions, offsets = parts
    if len(names) != directions.shape[-1]:
        raise InvalidProblem(
            f"feature_names has {counted(len(names), 'name')} for {counted(directions.shape[-1], 'column')}."
        )
    width = eigenvalues.shape[-1]
    return Inspection(
        tuple(names),
        tuple(name for name in outputs for _ in range(width)),
        eigenvalues.ravel(),
        directions.reshape(-1, directions.shape[-1]),
        offsets.ravel(),
    )
