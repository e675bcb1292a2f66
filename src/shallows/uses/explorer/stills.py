"""A view at one state as a page of its own: figures, facts, table and code, in one file that opens without a network.

For views without a training problem behind them (the ellipse), which have no report of a chart or of training.
"""

from __future__ import annotations

from typing import Any

from shallows.uses.explorer.fields import State, query
from shallows.uses.explorer.scene import Scene, View
from shallows.uses.report.page import Cell, Picture, Section, render


def still_html(view: View, state: State) -> str:
    """The page as text."""
    import plotly.graph_objects as go

    scene = view.draw(state)
    pictures = [
        Picture("The picture", _at_rest(go.Figure(sketch.to_plotly_json())), caption)
        for sketch, caption in zip(scene.figures, view.captions, strict=True)
    ]
    section = Section(
        title=view.title,
        tiles=scene.facts,
        mathematics="",
        sentences=[
            ", ".join(f"{field.label}: {field.text(state[field.name])}" for field in view.fields) + "."
        ],
        notes=[],
        table=_table(scene),
        left_out=0,
        table_caption="Click a heading to sort.",
        pictures=pictures,
        python=scene.code,
        toml="",
        provenance=[("the same view:", f"shallows explore --view '{query(view.name, view.fields, state)}'")],
    )
    return render(f"{view.title}: one state of the explorer", view.lead, [section])


def _at_rest(figure: Any) -> Any:
    """The figure without the invitation to drag something: nothing moves on this page."""
    return figure.for_each_trace(
        lambda trace: trace.update(name=trace.name and trace.name.replace(" (drag it)", ""))
    )


def _table(scene: Scene) -> tuple[list[str], list[list[Cell]]]:
    return list(scene.headings), [[_cell(text) for text in row] for row in scene.rows]


def _cell(text: str) -> Cell:
    """Sorted by its number where it is one."""
    try:
        return Cell(text, float(text))
    except ValueError:
        return Cell(text, text, numeric=False)
