"""`shallows chart`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def chart(
    file: Annotated[
        Path | None, typer.Argument(help="A problem file (TOML); the embedded example if omitted.")
    ] = None,
) -> None:
    """Describe a problem: its function space and the loss of some students.

    Without a file, the embedded example: one quadratic neuron under Gaussian and under heavy-tailed data.

    Examples:  shallows chart   |   shallows chart examples/gaussian.toml
    """
    from shallows.describe import describe_embedded, describe_problem
    from shallows.problem_file import load_problem

    if file is None:
        describe_embedded()
    else:
        describe_problem(str(file), load_problem(file))
