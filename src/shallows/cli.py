"""The command line: `shallows COMMAND`, one file a command in `shallows.commands`."""

from __future__ import annotations

import sys

import typer

from shallows.commands.chart import chart
from shallows.commands.discriminant import discriminant
from shallows.commands.ensemble import ensemble
from shallows.errors import ShallowsError

app = typer.Typer(
    help="The loss landscapes of shallow neural networks.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.callback()
def _shallows() -> None:
    """The loss landscapes of shallow neural networks."""


app.command()(chart)
app.command()(discriminant)
app.command()(ensemble)


def main() -> None:
    """Run the command line; an error of ours is one sentence on stderr and exit status 2."""
    try:
        app()
    except ShallowsError as error:
        print(f"shallows: {error}", file=sys.stderr)
        sys.exit(2)
