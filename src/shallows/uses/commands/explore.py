"""`shallows explore`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import parse_qs, urlsplit

import typer

from shallows.support.errors import InvalidProblem
from shallows.uses.commands._common import Json, Output, Quiet
from shallows.uses.commands.destinations import as_document, as_text, destinations, write_parts

if TYPE_CHECKING:
    from shallows.uses.explorer.fields import State
    from shallows.uses.explorer.scene import View

EXAMPLES = (
    "shallows explore",
    "shallows explore --view relu --seed 7 --port 8123 --no-browser",
    "shallows explore --view ellipse --set x=0.4 --set y=1 --out ellipse.html",
    'shallows explore --view "?view=quadratic&kurtosis=9&train=50" --out quadratic.html --json',
)
FILES = {".html": "report.html", ".json": "facts.json"}


def explore(
    view: Annotated[
        str,
        typer.Option(
            help="The view to start with: quadratic (the landscape), affine, tree, path, slices, relu, cone, ellipse, "
            "binary, flow; or the address of a shared one."
        ),
    ] = "quadratic",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A control of the view, such as x=0.4; may be repeated."),
    ] = None,
    host: Annotated[
        str, typer.Option(help="The address to listen on; the default is for this machine alone.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")] = 8050,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Start nothing. X.html: write the view's report; X.json: its facts; a folder: both."
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, help="Seed of what the view draws: ReLU starts, and the report's homotopy and descents."
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Start the explorer: a local web page to move the teacher and the data, and to watch the landscape change.

    Ctrl-C stops it. With --json the address is printed as a JSON document before serving. With --out it writes what
    "Download report" gives (for the ellipse, which has no training problem: the picture and its table) and ends.
    """
    output = Output(json, quiet)
    shown, state = asked_for(view, settings or [], seed)
    if out is not None:
        _write(output, shown, state, destinations(out, FILES))
        return
    from shallows.uses.explorer.fields import query
    from shallows.uses.explorer.server import make_server

    server = make_server(host, port)
    address = f"{server.address}/{query(shown.name, shown.fields, state)}"
    output.document({"address": address})
    output.say(f"The explorer is at {address}   (Ctrl-C stops it)")
    if browser:
        typer.launch(address)
    server.serve()


def asked_for(view: str, settings: list[str], seed: int | None) -> tuple[View, State]:
    """The view and its state: of a name or a shared address, then --set and --seed, all checked as a page's are."""
    from shallows.uses.explorer.fields import read_state
    from shallows.uses.explorer.views import view_of

    name, values = _shared(view) if "?" in view else (view, {})
    for text in settings:
        control, found, value = text.partition("=")
        if not found or not control.strip():
            raise InvalidProblem(f"--set is {text!r}; expected control=value, such as x=0.4.")
        values[control.strip()] = value.strip()
    shown = view_of(name)
    if seed is not None:
        if all(field.name != "seed" for field in shown.fields):
            raise InvalidProblem(f"The view {name} draws nothing at random. Fix: leave --seed out.")
        values["seed"] = str(seed)
    return shown, read_state(shown.fields, values)


def _shared(address: str) -> tuple[str, dict[str, object]]:
    """Name and values of an address such as http://127.0.0.1:8050/?view=ellipse&x=0.4, or of what follows its ?."""
    pairs = parse_qs(urlsplit(address).query, keep_blank_values=True)
    values: dict[str, object] = {name: found[-1] for name, found in pairs.items()}
    if "view" not in values:
        raise InvalidProblem(
            f"--view is {address!r}, an address without view=...; expected one that a page showed."
        )
    return str(values.pop("view")), values


def _write(output: Output, view: View, state: State, places: dict[str, Path]) -> None:
    """The report and the facts of a state; there is no limit of time here, as there is on the page."""
    with output.working(f"drawing {view.name} and writing its report"):
        document = _facts(view, state) if output.json or ".json" in places else {}
        if ".html" in places:
            document["report"] = str(places[".html"])
        page = as_text(lambda: _report(view, state))
        written = list(write_parts(places, {".json": as_document(document), ".html": page}))
    output.document(document)
    for path in written:
        output.wrote(path)


def _report(view: View, state: State) -> str:
    from shallows.uses.explorer.stills import still_html

    return still_html(view, state) if view.report is None else view.report.write(state)


def _facts(view: View, state: State) -> dict[str, Any]:
    """What the page shows beside its figures."""
    from shallows.uses.explorer.fields import query

    scene = view.draw(state)
    return {
        "view": view.name,
        "query": query(view.name, view.fields, state),
        "state": {field.name: field.text(state[field.name]) for field in view.fields},
        "facts": {label: value for value, label in scene.facts},
        "headings": list(scene.headings),
        "rows": [list(row) for row in scene.rows],
        "code": scene.code,
    }
