"""The page of a view: menu, controls, figures, facts, table, code."""

from __future__ import annotations

from typing import Any

from dash import dcc
from dash import html as tags

from shallows.explorer.fields import Field, State
from shallows.explorer.scene import View
from shallows.explorer.views import NAMES, view_of

html: Any = tags  # its stubs know no aria- and data- attributes
GRAPH: Any = {"displaylogo": False, "responsive": True,
              "modeBarButtonsToRemove": ["lasso2d", "select2d", "autoScale2d"]}  # fmt: skip


def frame() -> Any:
    """What is there before a view: the URL, the stores, and an empty page."""
    return html.Div(
        id="root",
        children=[
            dcc.Location(id="url", refresh=False),
            dcc.Store(id="moved"),
            dcc.Download(id="download"),
            html.Div(id="page"),
        ],
    )


def page(view: View, state: State, message: str) -> list[Any]:
    """The whole page of a view at a state."""
    return [
        html.Header([html.Span("shallows explorer", className="brand"), _menu(view.name)]),
        dcc.Store(id="view", data=view.name),
        dcc.Store(id="wanted"),
        html.H1(view.title),
        html.P(view.lead, className="lead"),
        html.Div(
            className="workbench",
            children=[
                html.Div(
                    className="panel",
                    children=[*(_control(field, state[field.name]) for field in view.fields), _buttons(view)],
                ),
                html.Div(children=_stage(view, message)),
            ],
        ),
    ]


def _menu(current: str) -> Any:
    links = [
        html.A(
            view_of(name).title,
            href=f"/?view={name}",
            **({"aria-current": "page"} if name == current else {}),
        )
        for name in NAMES
    ]
    return html.Nav(links, **{"aria-label": "Views"})


def _control(field: Field, value: float) -> Any:
    box = {"type": "box", "name": field.name}
    place = {"type": "slider", "name": field.name}
    if field.choices:
        # the callback that joins boxes and sliders wants one of each
        partner = dcc.Input(id=place, type="hidden")
        return html.Div(
            className="field",
            children=[
                html.Span(field.label, className="name"),
                dcc.RadioItems(
                    list(field.choices), field.text(value), id=box, className="choices", inline=True
                ),
                partner,
            ],
        )
    text = dcc.Input(
        id=box, type="text", value=field.text(value), className="box", debounce=0.3, inputMode="numeric",
        autoComplete="off",
    )  # fmt: skip
    slider = dcc.Input(
        id=place, type="range", min=field.low, max=field.high, step=field.step,
        value=value, className="slider",
    )  # fmt: skip
    top = html.Div([html.Label(field.label), text], className="top")
    marks = {"data-field": field.name}
    if field.selects is not None:
        marks["data-selects"] = "=".join(field.selects)
    return html.Div([top, slider], className="field", **marks)


def _buttons(view: View) -> Any:
    buttons = []
    if view.live:
        buttons += [
            html.Button("Run", id="run", className="action main"),
            html.Button("Split the neuron", id="split", className="action"),
            dcc.Interval(id="tick", interval=350, disabled=True),
        ]
    if view.report is not None:
        buttons.append(html.Button("Download report", id="report", className="action"))
    return html.Div(buttons, className="buttons")


def _stage(view: View, message: str) -> list[Any]:
    figures = [
        html.Figure(
            [
                dcc.Graph(
                    id={"type": "graph", "place": i}, config=GRAPH, figure=_empty(), style={"height": "auto"}
                ),
                html.Figcaption(caption),
            ]
        )
        for i, caption in enumerate(view.captions)
    ]
    return [
        html.Div(message, id="notice", className="message", role="status"),
        html.Div("", id="message", className="message", role="status", **{"aria-live": "polite"}),
        html.Div(id="facts", className="facts"),
        html.Div(figures, className="figures"),
        html.Div(id="table", className="scroll", tabIndex=0),
        html.Details([html.Summary("Open as Python"), html.Pre(id="code")], id="python"),
    ]


def _empty() -> dict[str, Any]:
    clear = "rgba(0,0,0,0)"
    hidden = {"visible": False}
    return {
        "data": [],
        "layout": {"paper_bgcolor": clear, "plot_bgcolor": clear, "xaxis": hidden, "yaxis": hidden},
    }
