"""`shallows chart`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shallows.uses.commands._common import FileSeed, Json, Output, Quiet
from shallows.uses.commands.destinations import destinations, numbered

if TYPE_CHECKING:
    from shallows.questions.charts.result import Chart

EXAMPLES = (
    "shallows chart",
    "shallows chart problem.toml --out problem.html",
    "shallows chart problem.toml --out results",
    "shallows chart relu.toml --method descent --json",
    "shallows chart large.toml --scheduler tcp://10.0.0.1:8786 --keep batches",
)
#: The embedded example, and where its report goes.
EMBEDDED = ("gaussian", "heavy-tailed")
REPORT = Path("shallows-chart.html")
FILES = {".html": "report.html", ".json": "chart.json"}


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
    out: Annotated[
        Path | None,
        typer.Option(
            help="X.html: write the report; X.json: the chart (and X.npz, read by load_chart), of several problems "
            f"X-1.json, X-2.json; a folder: both. Without a file and without this, the report goes to {REPORT}."
        ),
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write the report, an HTML page, here.")] = None,
    train: Annotated[int, typer.Option(min=0, help="Training runs that the report shows.")] = 200,
    scheduler: Annotated[
        str | None,
        typer.Option(
            help="A Dask scheduler (tcp://host:8786) whose workers track the paths of a large chart."
        ),
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option(help="With --scheduler: the folder that keeps finished batches, to go on from."),
    ] = None,
    seed: FileSeed = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Chart a loss: every critical point with its loss and signature, and what is proved.

    Without a file, the embedded example with a report: one quadratic neuron under Gaussian and heavy-tailed data.
    """
    from shallows.model.problem_file import embedded_written, load_written
    from shallows.questions.charts.chart import chart as compute
    from shallows.uses.commands.show import chart_documents, problem_lines, tables

    output = Output(json, quiet)
    places = destinations(out, FILES, report)
    if not places and file is None and not (json or quiet):
        places = {".html": REPORT}
    written = (
        [load_written(file, seed)]
        if file is not None
        else [embedded_written(name, seed) for name in EMBEDDED]
    )
    options: dict[str, Any] = {"progress": output.progress, "client": scheduler, "keep": keep}
    charts = [(each.title, compute(each.problem, method, certify, each.seed, **options)) for each in written]
    output.document(chart_documents(charts))
    for each in written:
        output.show(*problem_lines(each.title, each.problem))
    output.show(*tables(charts))
    _write(output, charts, places, train)


def _write(output: Output, charts: list[tuple[str, Chart]], places: dict[str, Path], train: int) -> None:
    if ".json" in places:
        for i, (_, result) in enumerate(charts):
            output.wrote(result.save(numbered(places[".json"], i, len(charts))))
    if ".html" in places:
        from shallows.uses.report.build import charts_report

        with output.working("training and writing the report"):
            path = charts_report(charts, places[".html"], train=train)
        output.wrote(path)
        output.say(f"The report is at {path.resolve()}")
        output.say(_explorer_line())


def _explorer_line() -> str:
    """How to start the explorer from here, with the program that runs now and what it still needs."""
    import shutil
    import sys
    from importlib.util import find_spec

    called = Path(sys.argv[0])
    program = "shallows" if shutil.which("shallows") or called.name != "shallows" else str(called)
    needs = "" if find_spec("dash") else f"   (first: {sys.executable} -m pip install dash)"
    return f"To move the teacher and the data and see what changes: {program} explore{needs}"
