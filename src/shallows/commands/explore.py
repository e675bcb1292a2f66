"""`shallows explore`."""

from __future__ import annotations

from typing import Annotated

import typer

from shallows.commands._common import Json, Output, Quiet

EXAMPLES = ("shallows explore", "shallows explore --view relu --port 8123 --no-browser")


def explore(
    view: Annotated[
        str, typer.Option(help="The view to start with: cone, ellipse, quadratic, binary, relu, flow.")
    ] = "quadratic",
    host: Annotated[
        str, typer.Option(help="The address to listen on; the default is for this machine alone.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")] = 8050,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Start the explorer: a local web page to move the teacher and the data, and to watch the landscape change.

    Ctrl-C stops it. With --json the address is printed as a JSON document before serving.
    """
    from shallows.explorer import checked_view, make_server

    output = Output(json, quiet)
    start = checked_view(view)
    server = make_server(host, port)
    address = f"{server.address}/?view={start}"
    output.document({"address": address})
    output.show(f"The explorer is at {address}   (Ctrl-C stops it)")
    if browser:
        typer.launch(address)
    server.serve()
