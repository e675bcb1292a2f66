"""The command line: `shallows chart`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from shallows.errors import ShallowsError

app = typer.Typer(
    help="The loss landscapes of shallow neural networks.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)


@app.callback()
def _shallows() -> None:
    """The loss landscapes of shallow neural networks."""


@app.command(
    epilog="Examples:  shallows chart   |   shallows chart examples/gaussian.toml",
)
def chart(
    file: Annotated[
        Path | None, typer.Argument(help="A problem file (TOML); the embedded example if omitted.")
    ] = None,
) -> None:
    """Describe a problem: its function space and the loss of some students.

    Without a file, the embedded example: one quadratic neuron under Gaussian and under heavy-tailed data.
    """
    from shallows.describe import describe_embedded, describe_problem
    from shallows.problem_file import load_problem

    if file is None:
        describe_embedded()
    else:
        describe_problem(str(file), load_problem(file))


def main() -> None:
    """Run the command line; an error of ours is one sentence on stderr and exit status 2."""
    try:
        app()
    except ShallowsError as error:
        print(f"shallows: {error}", file=sys.stderr)
        sys.exit(2)
