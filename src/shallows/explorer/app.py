"""The Dash application: one page a view, its state in the URL, every value checked before it is used."""

from __future__ import annotations

from importlib import resources
from time import perf_counter
from typing import Any
from urllib.parse import parse_qs

from shallows.errors import MissingExtra, ShallowsError

try:
    import dash
    from dash import ALL, MATCH, ClientsideFunction, Input, Output, State, no_update
except ImportError:
    raise MissingExtra("dash", "explore") from None

from shallows.explorer.answers import report_html, scene_json, sentence
from shallows.explorer.fields import State as Values
from shallows.explorer.fields import defaults, read_state
from shallows.explorer.layout import frame, page
from shallows.explorer.scene import View
from shallows.explorer.views import NAMES, view_of

#: The largest request: a page sends a few hundred bytes.
LARGEST_REQUEST = 256 * 1024
#: Only this server is asked for anything; Plotly's shaders and Dash's configuration need the two exceptions.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; worker-src 'self' blob:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'"
)
BOXES = {"type": "box", "name": ALL}


def make_app(hosts: tuple[str, ...] = ("127.0.0.1", "localhost")) -> Any:
    """The application; `hosts` are the names it answers to (a foreign name may be another site's trick)."""
    app = dash.Dash(
        "shallows", title="shallows explorer", update_title="", serve_locally=True, suppress_callback_exceptions=True,
        assets_folder="no-assets", include_assets_files=False,
    )  # fmt: skip
    index = _resource("index.html").replace("STYLE", _resource("explorer.css"))
    app.index_string = index.replace("SCRIPT", _resource("explorer.js"))
    app.layout = frame
    app.server.config.update(MAX_CONTENT_LENGTH=LARGEST_REQUEST, TRUSTED_HOSTS=list(hosts))
    _headers(app.server)
    _scenes(app.server)
    _page_callbacks(app)
    _report_callback(app)
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


def _scenes(server: Any) -> None:
    """POST /scene: a state goes in, its picture comes out. JSON alone, which no other site's form can send."""
    from flask import Response, request

    @server.post("/scene")
    def scene() -> Any:
        return Response(scene_json(request.get_json(silent=True)), mimetype="application/json")


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
    """The page of a URL; what it does by itself afterwards is in `page/explorer.js`."""

    @app.callback(Output("page", "children"), Input("url", "search"))
    def show_page(search: str | None) -> Any:
        return page(*state_of_url(search or ""))

    def by_itself(name: str, *wires: Any, **options: Any) -> None:
        app.clientside_callback(ClientsideFunction("shallows", name), *wires, **options)

    by_itself(
        "ask", Output("wanted", "data"), Input(BOXES, "value"), State(BOXES, "id"), State("view", "data")
    )
    by_itself("move", Output(BOXES, "value", allow_duplicate=True), Input("moved", "data"), State(BOXES, "id"),
              prevent_initial_call=True)  # fmt: skip
    box, slider = {"type": "box", "name": MATCH}, {"type": "slider", "name": MATCH}
    by_itself("join", Output(box, "value"), Output(slider, "value"), Input(slider, "value"), Input(box, "value"),
              prevent_initial_call=True)  # fmt: skip
    steps = {"type": "box", "name": "steps"}
    by_itself("press", Output("tick", "disabled"), Output("run", "children"), Input("run", "n_clicks"))
    by_itself("step", Output(steps, "value", allow_duplicate=True), Input("tick", "n_intervals"),
              State(steps, "value"), prevent_initial_call=True)  # fmt: skip
    by_itself("split", Output({"type": "box", "name": "split"}, "value", allow_duplicate=True),
              Input("split", "n_clicks"), State(steps, "value"), prevent_initial_call=True)  # fmt: skip


def _report_callback(app: Any) -> None:
    @app.callback(
        Output("download", "data"),
        Output("message", "children", allow_duplicate=True),
        Input("report", "n_clicks"),
        State(BOXES, "value"),
        State(BOXES, "id"),
        State("view", "data"),
        prevent_initial_call=True,
        running=[(Output("report", "disabled"), True, False)],
    )
    def report(clicks: int | None, boxes: list[Any], ids: list[dict[str, str]], name: str) -> Any:
        if not clicks:
            return no_update, no_update
        try:
            text = report_html(name, {i["name"]: value for i, value in zip(ids, boxes, strict=True)})
            return {"content": text, "filename": f"shallows-{name}.html", "type": "text/html"}, ""
        except Exception as error:
            return no_update, sentence(error)
