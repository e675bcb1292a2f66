"""`shallows chart`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shallows.commands._common import Json, Output, Quiet, Seed, beside

EXAMPLES = (
    "shallows chart",
    "shallows chart problem.toml --report problem.html --out problem",
    "shallows chart relu.toml --method descent --json",
)
#: Where the report of the embedded example goes.
REPORT = Path("shallows-chart.html")


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
    certify: Annotated[bool, typer.Option(help="Prove points and signatures in ball arithmetic.")] = True,
    report: Annotated[
        Path | None,
        typer.Option(help=f"Write the report, an HTML page; without a file it goes to {REPORT}."),
    ] = None,
    train: Annotated[int, typer.Option(min=0, help="Training runs that the report shows.")] = 200,
    out: Annotated[
        Path | None, typer.Option(help="Save the chart as OUT.json and OUT.npz (read by load_chart).")
    ] = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Chart a loss: every critical point with its loss and signature, and what is proved.

    Without a file, the embedded example with a report: one quadratic neuron under Gaussian and heavy-tailed data.
    """
    from shallows.commands.show import chart_documents, problem_lines, tables
    from shallows.critical import chart as compute
    from shallows.problem_file import embedded_problem, load_titled_problem

    output = Output(json, quiet)
    if file is None:
        problems = [embedded_problem(name) for name in ("gaussian", "heavy-tailed")]
    else:
        problems = [load_titled_problem(file)]
    charts = [
        (title, compute(problem, method=method, certify=certify, rng=seed, progress=output.progress))
        for title, problem in problems
    ]
    output.document(chart_documents(charts))
    for title, problem in problems:
        output.show(*problem_lines(title, problem))
    output.show(*tables(charts))
    if out is not None:
        for i, (_, result) in enumerate(charts):
            output.wrote(result.save(beside(out, i, len(charts))))
    page = report if report is not None or file is not None or json or quiet else REPORT
    if page is not None:
        from shallows.report import charts_report

        with output.working("training and writing the report"):
            output.wrote(charts_report(charts, page, train=train))
        output.show(f"The report is at {page.resolve()}", _explorer_line())


def _explorer_line() -> str:
    """How to start the explorer from here, with the program that runs now and what it still needs."""
    import shutil
    import sys
    from importlib.util import find_spec

    called = Path(sys.argv[0])
    program = "shallows" if shutil.which("shallows") or called.name != "shallows" else str(called)
    needs = "" if find_spec("dash") else f"   (first: {sys.executable} -m pip install dash)"
    return f"To move the teacher and the data and see what changes: {program} explore{needs}"
