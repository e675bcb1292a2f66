"""The Dash application: one page a view, its state in the URL, every value checked before it is used."""

from __future__ import annotations

import logging
from importlib import resources
from time import perf_counter
from typing import Any
from urllib.parse import parse_qs

from shallows.errors import MissingExtra, ShallowsError

try:
    import dash
    from dash import ALL, MATCH, Input, Output, State, no_update
except ImportError:
    raise MissingExtra("dash", "explore") from None

from shallows.explorer.fields import State as Values
from shallows.explorer.fields import defaults, query, read_state
from shallows.explorer.layout import facts_of, frame, page, painted, table_of
from shallows.explorer.scene import View
from shallows.explorer.views import NAMES, view_of
from shallows.explorer.workers import computed

#: The largest request: a page sends a few hundred bytes.
LARGEST_REQUEST = 256 * 1024
REPORT_RUNS = 100
#: Only this server is asked for anything; Plotly's shaders and Dash's configuration need the two exceptions.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; worker-src 'self' blob:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'"
)


def make_app(hosts: tuple[str, ...] = ("127.0.0.1", "localhost")) -> Any:
    """The application; `hosts` are the names it answers to (a foreign name may be another site's trick)."""
    app = dash.Dash(
        "shallows", title="shallows explorer", update_title="", serve_locally=True, suppress_callback_exceptions=True,
        assets_folder="no-assets", include_assets_files=False,
    )  # fmt: skip
    app.index_string = _resource("index.html").replace("STYLE", _resource("explorer.css"))
    app.layout = frame
    app.server.config.update(MAX_CONTENT_LENGTH=LARGEST_REQUEST, TRUSTED_HOSTS=list(hosts))
    _headers(app.server)
    _page_callbacks(app)
    _drawing_callbacks(app)
    _live_callbacks(app)
    return app


def _resource(name: str) -> str:
    return (resources.files("shallows.explorer") / "page" / name).read_text(encoding="utf-8")


def _headers(server: Any) -> None:
    """Every answer says how long it took, and that its page may load nothing from elsewhere."""
    from flask import g

    @server.before_request
    def begin() -> None:
        g.begin = perf_counter()

    @server.after_request
    def end(response: Any) -> Any:
        response.headers["Server-Timing"] = (
            f"app;dur={1e3 * (perf_counter() - g.get('begin', perf_counter())):.1f}"
        )
        response.headers["Content-Security-Policy"] = POLICY
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        return response


def state_of_url(search: str) -> tuple[View, Values, str]:
    """View and state of a URL's query; what is wrong with it comes as a sentence beside the defaults."""
    given = {
        name: values[-1] for name, values in parse_qs(search.lstrip("?"), keep_blank_values=True).items()
    }
    try:
        view = view_of(given.pop("view", NAMES[0]))
    except ShallowsError as error:
        view = view_of(NAMES[0])
        return view, defaults(view.fields), str(error)
    try:
        return view, read_state(view.fields, given), ""
    except ShallowsError as error:
        return view, defaults(view.fields), str(error)


def _page_callbacks(app: Any) -> None:
    @app.callback(Output("page", "children"), Input("url", "search"))
    def show_page(search: str | None) -> Any:
        return page(*state_of_url(search or ""))

    app.clientside_callback(
        "function(_) { return window.matchMedia('(prefers-color-scheme: dark)').matches; }",
        Output("dark", "data"), Input("view", "data"),
    )  # fmt: skip
    app.clientside_callback(
        "function(query) { if (query) history.replaceState(null, '', query); return dash_clientside.no_update; }",
        Output("root", "title"), Input("address", "data"),
    )  # fmt: skip
    app.clientside_callback(SYNCHRONISE, Output({"type": "box", "name": MATCH}, "value"),
                            Output({"type": "slider", "name": MATCH}, "value"),
                            Input({"type": "slider", "name": MATCH}, "value"),
                            Input({"type": "box", "name": MATCH}, "value"), prevent_initial_call=True)  # fmt: skip


#: A slider writes its box; a box that holds a number moves its slider.
SYNCHRONISE = """
function(slider, box) {
  const none = dash_clientside.no_update;
  const by = dash_clientside.callback_context.triggered_id;
  if (by && by.type === "slider") return String(slider) === String(box) ? [none, none] : [String(slider), none];
  const value = Number(box);
  return String(box).trim() === "" || Number.isNaN(value) || value === Number(slider) ? [none, none] : [none, value];
}
"""


def _values(view: View, ids: list[dict[str, str]], boxes: list[Any]) -> Values:
    return read_state(view.fields, {i["name"]: value for i, value in zip(ids, boxes, strict=True)})


def _drawing_callbacks(app: Any) -> None:
    @app.callback(
        Output({"type": "graph", "place": ALL}, "figure"),
        Output("facts", "children"),
        Output("table", "children"),
        Output("code", "children"),
        Output("address", "data"),
        Output("message", "children"),
        Input({"type": "box", "name": ALL}, "value"),
        Input("dark", "data"),
        State({"type": "box", "name": ALL}, "id"),
        State("view", "data"),
    )
    def show(boxes: list[Any], dark: bool | None, ids: list[dict[str, str]], name: str) -> Any:
        view = view_of(name)
        try:
            state = _values(view, ids, boxes)
            scene = computed(view.draw, state)
        except Exception as error:
            return (
                [no_update] * len(view.captions),
                no_update,
                no_update,
                no_update,
                no_update,
                sentence(error),
            )
        return (
            [painted(figure, bool(dark)) for figure in scene.figures],
            facts_of(scene),
            table_of(scene.headings, scene.rows),
            scene.code,
            query(view.name, view.fields, state),
            "",
        )

    @app.callback(
        Output({"type": "box", "name": ALL}, "value", allow_duplicate=True),
        Input({"type": "graph", "place": ALL}, "relayoutData"),
        State({"type": "box", "name": ALL}, "id"),
        State("view", "data"),
        prevent_initial_call=True,
    )
    def drag(moves: list[Any], ids: list[dict[str, str]], name: str) -> Any:
        view = view_of(name)
        place = dropped(moves[0] if moves else None) if view.drag else None
        if place is None:
            return [no_update] * len(ids)
        assert view.drag is not None
        moved = dict(zip(view.drag, place, strict=True))
        bounds = {field.name: field for field in view.fields}
        return [
            bounds[i["name"]].text(min(max(moved[i["name"]], bounds[i["name"]].low), bounds[i["name"]].high))
            if i["name"] in moved
            else no_update
            for i in ids
        ]

    @app.callback(
        Output("download", "data"),
        Output("message", "children", allow_duplicate=True),
        Input("report", "n_clicks"),
        State({"type": "box", "name": ALL}, "value"),
        State({"type": "box", "name": ALL}, "id"),
        State("view", "data"),
        prevent_initial_call=True,
    )
    def report(clicks: int | None, boxes: list[Any], ids: list[dict[str, str]], name: str) -> Any:
        if not clicks:
            return no_update, no_update
        try:
            view = view_of(name)
            text = computed(report_html, view, _values(view, ids, boxes))
            return {"content": text, "filename": f"shallows-{name}.html", "type": "text/html"}, ""
        except Exception as error:
            return no_update, sentence(error)


def sentence(error: Exception) -> str:
    """An error for the page: our own as they are, a bug as one, with its traceback in the terminal."""
    if isinstance(error, ShallowsError):
        return str(error)
    logging.getLogger("shallows.explorer").error("a bug in the explorer", exc_info=error)
    return f"A bug: {type(error).__name__}: {error}. The terminal that runs the explorer shows where."


def dropped(move: Any) -> tuple[float, float] | None:
    """Where the teacher was dropped, to two digits; None when something else was moved."""
    if not isinstance(move, dict):
        return None
    try:
        corners = [float(move[f"shapes[0].{name}"]) for name in ("x0", "x1", "y0", "y1")]
    except (KeyError, TypeError, ValueError):
        return None
    x0, x1, y0, y1 = corners
    return round((x0 + x1) / 2, 2), round((y0 + y1) / 2, 2)


def report_html(view: View, state: Values) -> str:
    """The report of the problem that a state shows."""
    from shallows.activations import Power
    from shallows.critical import chart
    from shallows.errors import InvalidProblem
    from shallows.report.build import charts_html, ensemble_html

    problem = view.draw(state).problem
    if problem is None:
        raise InvalidProblem("This view has no training problem behind it, so there is no report of it.")
    if isinstance(problem.activation, Power):
        return charts_html([(view.title, chart(problem))], train=REPORT_RUNS)
    from shallows.descent.ensemble import ensemble

    return ensemble_html(ensemble(problem, runs=REPORT_RUNS), title=view.title)


def _live_callbacks(app: Any) -> None:
    """Run counts the steps up as long as its button is pressed; Split notes the present step."""
    app.clientside_callback(
        "function(clicks) { const on = (clicks || 0) % 2 === 1; return [!on, on ? 'Pause' : 'Run']; }",
        Output("tick", "disabled"), Output("run", "children"), Input("run", "n_clicks"),
    )  # fmt: skip
    app.clientside_callback(
        "function(tick, steps) { return tick ? String(Number(steps) + 20) : dash_clientside.no_update; }",
        Output({"type": "box", "name": "steps"}, "value", allow_duplicate=True), Input("tick", "n_intervals"),
        State({"type": "box", "name": "steps"}, "value"), prevent_initial_call=True,
    )  # fmt: skip
    app.clientside_callback(
        "function(clicks, steps) { return clicks ? String(Math.max(1, Number(steps))) : dash_clientside.no_update; }",
        Output({"type": "box", "name": "split"}, "value", allow_duplicate=True), Input("split", "n_clicks"),
        State({"type": "box", "name": "steps"}, "value"), prevent_initial_call=True,
    )  # fmt: skip
