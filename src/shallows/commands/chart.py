"""`shallows chart`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def chart(
    file: Annotated[
        Path | None, typer.Argument(help="A problem file (TOML); the embedded example if omitted.")
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help="auto, closed-form, homotopy, exact or descent; auto takes the strongest that applies."
        ),
    ] = "auto",
    seed: Annotated[int, typer.Option(help="Seed of every random choice; stored in the result.")] = 0,
    certify: Annotated[bool, typer.Option(help="Prove points and signatures in ball arithmetic.")] = True,
    out: Annotated[
        Path | None, typer.Option(help="Save the chart as OUT.json and OUT.npz (read by load_chart).")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the chart as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Chart a loss: every critical point with its loss and signature, and what is proved.

    Without a file, the embedded example: one quadratic neuron under Gaussian and under heavy-tailed data.

    Examples:  shallows chart   |   shallows chart examples/gaussian.toml --out gaussian
    """
    from shallows.commands.show import chart_json, show_charts, show_problem
    from shallows.critical import chart as compute
    from shallows.problem_file import embedded_problem, load_titled_problem

    if file is None:
        problems = [embedded_problem(name) for name in ("gaussian", "heavy-tailed")]
    else:
        problems = [load_titled_problem(file)]
    charts = [
        (title, compute(problem, method=method, certify=certify, rng=seed, progress=not quiet))
        for title, problem in problems
    ]
    if out is not None:
        for i, (_, result) in enumerate(charts):
            result.save(out if len(charts) == 1 else out.with_name(f"{out.name}-{i + 1}"))
    if json:
        typer.echo(chart_json(charts))
    elif not quiet:
        for title, problem in problems:
            show_problem(title, problem)
        show_charts(charts)
