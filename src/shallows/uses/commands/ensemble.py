"""`shallows ensemble`."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shallows.uses.commands._common import INTERRUPTED, FileSeed, Json, ProblemFile, Quiet, begun

if TYPE_CHECKING:
    from shallows.questions.descent.results.ensemble import Ensemble

EXAMPLES = (
    "shallows ensemble examples/relu.toml --runs 1000",
    "shallows ensemble examples/gaussian.toml --chart --out runs.html",
    "shallows ensemble problem.toml --method adam --out runs.json",
    "shallows ensemble problem.toml --out results",
)
FILES = {".html": "report.html", ".json": "runs.json"}


def ensemble(
    file: ProblemFile,
    runs: Annotated[int, typer.Option(help="How many starts.")] = 500,
    method: Annotated[str, typer.Option(help="gd, perturbed, sgd, adam, flow, lbfgs, newton or lm.")] = "gd",
    init: Annotated[str, typer.Option(help="xavier, normal, large, orthogonal or barrier.")] = "xavier",
    step: Annotated[float | None, typer.Option(help="A fixed step; chosen automatically if omitted.")] = None,
    tolerance: Annotated[float | None, typer.Option(help="On the gradient norm; 1e-12 by default.")] = None,
    cores: Annotated[int | None, typer.Option(help="Threads; all cores if omitted.")] = None,
    chart: Annotated[bool, typer.Option(help="Chart the problem too and match the end points.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "--save",
            help="X.html: write the report; X.json: the runs (and X.npz, read by load_ensemble); a folder: both.",
        ),
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write the report, an HTML page, here.")] = None,
    seed: FileSeed = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train a problem's network from many starts and show where the runs end.

    Ctrl-C stops early and shows (and saves) what has finished; the exit status is then 130.
    """
    from shallows.questions.descent.ensemble import ensemble as train
    from shallows.questions.descent.results.live import LiveTable
    from shallows.support.progress import silent

    output, places, written = begun(file, seed, (out, FILES), json, quiet, report)
    problem, seed = written.problem, written.seed
    known = None
    if chart:
        from shallows.questions.charts.chart import chart as make_chart

        known = make_chart(problem, rng=seed, progress=output.progress)
    shown: Any = LiveTable() if output.progress else nullcontext()
    with shown as live, silent():  # the live table counts the runs; a bar would be drawn over it
        watch = None if live is None else live.watch
        result = train(
            problem, runs, method, init, step, tolerance, seed, chart=known, cores=cores, watch=watch
        )
    output.document(_document(result))
    output.show(result.table(), *_lines(result))
    output.write(places, {".json": result.save, ".html": result.report})
    if len(result) < result.requested:
        typer.echo(f"shallows: interrupted; {len(result)} of {result.requested} runs are kept", err=True)
        raise typer.Exit(INTERRUPTED)


def _lines(result: Ensemble) -> list[str]:
    ended = ", ".join(f"{count} {name}" for name, count in result.counts().items())
    lines = [
        f"{len(result)} of {result.requested} runs in {result.seconds:.1f} s: {ended}.",
        f"{result.share_of_global:.1%} at the lowest loss, {result.global_loss:.8g}.",
    ]
    return [*lines, result.note] if result.note else lines


def _document(result: Ensemble) -> dict[str, Any]:
    """What a script wants to know, in plain numbers."""
    return {
        "requested": result.requested,
        "finished": len(result),
        "ended": result.counts(),
        "method": result.method,
        "seed": result.seed,
        "tolerance": result.tolerance,
        "global_loss": result.global_loss,
        "share_of_global": result.share_of_global,
        "minima": [
            {
                "count": minimum.count,
                "loss": minimum.loss,
                "signature": minimum.signature and list(minimum.signature),
                "smallest_eigenvalue": float(minimum.eigenvalues[0]),
            }
            for minimum in result.minima
        ],
    }
