"""The frame of a view's page: menu, panel, places for figures, facts, table and code; `page/` fills them."""

from __future__ import annotations

import json
import re
from typing import Any

from dash import dcc
from dash import html as tags

from shallows.uses.explorer.fields import State
from shallows.uses.explorer.glossary import WORDS
from shallows.uses.explorer.scene import View
from shallows.uses.explorer.views import NAMES, view_of

html: Any = tags  # its stubs know no aria- and data- attributes


def frame() -> Any:
    """What is there before a view: the URL, and an empty page."""
    return html.Div(
        id="root",
        children=[
            dcc.Location(id="url", refresh=False),
            html.Div(id="page"),
        ],
    )


def page(view: View, state: State, message: str) -> list[Any]:
    """The whole page of a view at a state."""
    return [
        html.Header([html.Span("shallows explorer", className="brand"), _menu(view.name)]),
        html.H1(view.title),
        html.P(explained(view.lead), className="lead"),
        *_opening(view),
        html.Div(
            className="workbench",
            children=[
                html.Div(
                    id="panel",
                    className="panel",
                    children=[html.Div(className="controls"), _buttons(view)],
                    **{
                        "data-view": view.name,
                        "data-fields": _fields(view, state),
                        "data-words": json.dumps(WORDS),
                    },
                ),
                html.Div(_stage(view, message), className="stage"),
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


def _fields(view: View, state: State) -> str:
    """The controls as the page makes them (`page/controls.js`)."""
    shown = [
        {
            "name": f.name,
            "label": f.label,
            "value": f.text(state[f.name]),
            "initial": f.text(f.default),
            "low": f.low,
            "high": f.high,
            "step": f.step,
            "choices": f.choices,
            "selects": f.selects,
            "needs": f.needs,
        }
        for f in view.fields
    ]
    return json.dumps(shown)


def _buttons(view: View) -> Any:
    buttons = []
    if view.live:
        buttons += [
            html.Button("Run", id="run", className="action main"),
            html.Button("Split the neuron", id="split", className="action"),
        ]
    buttons.append(html.Button("Reset", id="reset", className="action"))
    buttons.append(html.Button("Download report", id="report", className="action"))
    return html.Div(buttons, className="buttons")


def _opening(view: View) -> list[Any]:
    """The guided opening and the presets, which `page/tour.js` brings to life."""
    if not view.tour and not view.presets:
        return []
    steps = [{"title": s.title, "text": s.text, "values": dict(s.values), "play": s.play} for s in view.tour]
    presets = [{"label": p.label, "values": dict(p.values), "view": p.view} for p in view.presets]
    data = {"data-tour": json.dumps(steps), "data-presets": json.dumps(presets)}
    return [html.Section(id="opening", **data, **{"aria-label": "Guided opening"})]


def explained(text: str) -> list[Any]:
    """The text, with a link from the first use of each word of the glossary to what explains it."""
    parts: list[Any] = [text]
    for word, sentence in WORDS.items():
        for place, part in enumerate(parts):
            found = re.search(rf"\b{word}\b", part) if isinstance(part, str) else None
            if found:
                link = html.A(found[0], href=f"/words#{word.replace(' ', '-')}", className="word", target="_blank",
                              **{"data-tip": sentence})  # fmt: skip
                parts[place : place + 1] = [part[: found.start()], link, part[found.end() :]]
                break
    return parts


def _stage(view: View, message: str) -> list[Any]:
    """What is empty here is filled by the page."""
    figures = [
        html.Figure([html.Div(className="plot"), html.Figcaption(explained(caption))])
        for caption in view.captions
    ]
    if view.pictured:
        picture = [html.Div(id="landscape"), html.Figcaption(explained(view.pictured))]
        figures.insert(0, html.Figure(picture, className="pictured"))
    return [
        html.Div(message, id="notice", className="message", role="status"),
        html.Div(id="message", className="message", role="status", **{"aria-live": "polite"}),
        html.Div(id="facts", className="facts"),
        html.Div(figures, className="figures"),
        html.Div(id="table", className="scroll", tabIndex=0),
        html.Details([html.Summary("Open as Python"), html.Pre(id="code")], id="python"),
    ]
