"""The Dash application: one page a view, its state in the URL, every value checked before it is used."""

from __future__ import annotations

import gzip
import socket
from collections.abc import Callable
from functools import lru_cache
from importlib import resources
from importlib.metadata import version
from time import perf_counter
from typing import Any
from urllib.parse import parse_qs

from shallows.support.errors import MissingExtra, ShallowsError
from shallows.support.plotly_script import plotly_script

try:
    import dash
    from dash import Input, Output
except ImportError:
    raise MissingExtra("dash", "explore") from None

from shallows.uses.explorer.answers import asked_report, scene_json
from shallows.uses.explorer.fields import State as Values
from shallows.uses.explorer.fields import defaults, read_state
from shallows.uses.explorer.glossary import glossary_html
from shallows.uses.explorer.layout import frame, page
from shallows.uses.explorer.reports import ReportLine
from shallows.uses.explorer.scene import View
from shallows.uses.explorer.views import NAMES, view_of
from shallows.uses.landscape.picture import script as landscape_script
from shallows.uses.landscape.picture import style as landscape_style

#: The largest request: a page sends a few hundred bytes.
LARGEST_REQUEST = 256 * 1024
#: Only this server is asked for anything; Plotly's shaders and Dash's configuration need the two exceptions.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; worker-src 'self' blob:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'"
)
#: What the page does by itself: these files, one after the other, in one scope.
SCRIPTS = ("words", "controls", "live", "figures", "handles", "linking", "tour", "memory", "asking")
#: Where Dash asks for the page of a URL, and what it says has changed.
CALLBACK = "/_dash-update-component"
CHANGED: tuple[list[str] | None, ...] = ([], ["url.search"], None)
OUTPUTS = {"id": "page", "property": "children"}
PLOTLY = f"/plotly-{version('plotly')}.js"


def make_app(hosts: tuple[str, ...] = ("127.0.0.1", "localhost")) -> Any:
    """The application; `hosts` are the names it answers to (a foreign name may be another site's trick)."""
    app = dash.Dash(
        "shallows", title="shallows explorer", update_title="", serve_locally=True, suppress_callback_exceptions=True,
        assets_folder="no-assets", include_assets_files=False,
    )  # fmt: skip
    index = _resource("index.html").replace("STYLE", landscape_style() + _resource("explorer.css"))
    script = landscape_script() + "".join(_resource(f"{name}.js") for name in SCRIPTS)
    app.index_string = index.replace("PLOTLY", PLOTLY).replace("SCRIPT", script)
    app.layout = frame
    app.server.config.update(MAX_CONTENT_LENGTH=LARGEST_REQUEST, TRUSTED_HOSTS=list(hosts))
    _headers(app.server)
    _refusals(app.server)
    _answers(app.server)
    _drawing(app.server)
    _words(app.server)
    _pages(app)
    return app


def _resource(name: str) -> str:
    return (resources.files("shallows.uses.explorer") / "page" / name).read_text(encoding="utf-8")


def _headers(server: Any) -> None:
    """Every answer says how long it took, and that its page may load nothing from elsewhere."""
    from flask import g

    def begin() -> None:
        g.begin = perf_counter()

    def end(response: Any) -> Any:
        response.headers["Server-Timing"] = (
            f"app;dur={1e3 * (perf_counter() - g.get('begin', perf_counter())):.1f}"
        )
        response.headers["Content-Security-Policy"] = POLICY
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        return response

    server.before_request(begin)
    server.after_request(end)


def _answers(server: Any) -> None:
    """POST /scene and /report: a state goes in, its picture or its report comes out.

    JSON alone, which no other site's form can send.
    """
    from flask import Response, request

    def answering(answer: Callable[[object], str]) -> Callable[[], Any]:
        return lambda: Response(answer(request.get_json(silent=True)), mimetype="application/json")

    line = ReportLine()

    def report(question: object) -> str:
        return asked_report(question, line, lambda: _connected(request.environ.get("werkzeug.socket")))

    for name, answer in (("scene", scene_json), ("report", report)):
        server.add_url_rule(f"/{name}", name, answering(answer), methods=["POST"])


def _connected(line: Any) -> bool:
    """Whether whoever asked is still there; a closed connection has an end to read."""
    if line is None:  # no socket, as in tests of the application alone
        return True
    try:
        return bool(line.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
    except BlockingIOError:
        return True
    except OSError:
        return False


def _refusals(server: Any) -> None:
    """Status 400, without further words, for what no page sends: no Host, or another callback than the one there is."""
    from flask import abort, request

    def refuse() -> None:
        if not request.headers.get("Host"):
            abort(400)
        if request.path == CALLBACK and not _is_callback(request.get_json(silent=True)):
            abort(400)

    server.before_request(refuse)


def _is_callback(given: object) -> bool:
    """Whether this is the question that Dash asks: the page of a URL."""
    if not isinstance(given, dict) or given.get("output") != "page.children":
        return False
    inputs = given.get("inputs")
    if not isinstance(inputs, list) or len(inputs) != 1 or not isinstance(inputs[0], dict):
        return False
    (only,) = inputs
    named = (only.get("id"), only.get("property"), given.get("outputs")) == ("url", "search", OUTPUTS)
    return named and isinstance(only.get("value"), str | None) and given.get("changedPropIds") in CHANGED


def _drawing(server: Any) -> None:
    """Plotly's JavaScript, once for all pages; its address has its version, so a browser keeps it."""
    from flask import Response, request

    def plotly() -> Any:
        squeezed = "gzip" in request.headers.get("Accept-Encoding", "")
        answer = Response(_squeezed() if squeezed else plotly_script(), mimetype="text/javascript")
        if squeezed:
            answer.headers["Content-Encoding"] = "gzip"
        answer.headers["Vary"] = "Accept-Encoding"
        answer.cache_control.max_age = 86_400
        answer.add_etag()
        return answer.make_conditional(request)

    server.add_url_rule(PLOTLY, "plotly", plotly)


@lru_cache(maxsize=1)
def _squeezed() -> bytes:
    """Plotly's JavaScript at a third of its size: a page weighs 3 MB with it, and 6 without."""
    return gzip.compress(plotly_script().encode("utf-8"), mtime=0)


def _words(server: Any) -> None:
    """The page that explains the words, at /words."""
    from flask import Response

    page = glossary_html(_resource("explorer.css"))
    server.add_url_rule("/words", "words", lambda: Response(page, mimetype="text/html"))


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


def _pages(app: Any) -> None:
    """The page of a URL; what it does by itself afterwards is in `page/`."""

    def show_page(search: str | None) -> Any:
        return page(*state_of_url(search or ""))

    app.callback(Output("page", "children"), Input("url", "search"))(show_page)
