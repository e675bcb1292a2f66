"""`shallows sweep`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shallows.support.errors import InvalidProblem
from shallows.uses.commands._common import ANSWER_IS_NO, INTERRUPTED, Json, Output, Quiet
from shallows.uses.commands.destinations import destinations, is_folder

if TYPE_CHECKING:
    from shallows.uses.sweep.plan import Plan

EXAMPLES = (
    "shallows sweep examples/sweeps/kurtosis.toml",
    "shallows sweep examples/sweeps/relu-width.toml --dry-run",
    "shallows sweep big.toml --out results --scheduler tcp://head-node:8786",
    "shallows sweep status kurtosis-results",
    "shallows sweep figures kurtosis-results",
)
ACTIONS = ("status", "figures")
FILES = {".html": "", ".json": ""}


def sweep(
    file: Annotated[str, typer.Argument(help="A sweep file (TOML); or the word status, or figures.")],
    path: Annotated[
        Path | None, typer.Argument(help="After status or figures: a folder of results.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The folder of the results; NAME-results for NAME.toml if omitted. X.html: the figures go here; "
            "X.json: the rows (results are then in NAME-results)."
        ),
    ] = None,
    engine: Annotated[str, typer.Option(help="local (all cores) or process (this one only).")] = "local",
    workers: Annotated[int | None, typer.Option(help="Local worker processes; all cores if omitted.")] = None,
    scheduler: Annotated[str | None, typer.Option(help="The address of a Dask scheduler.")] = None,
    tls_ca: Annotated[Path | None, typer.Option(help="TLS: the authority's certificate.")] = None,
    tls_cert: Annotated[Path | None, typer.Option(help="TLS: this client's certificate.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="TLS: this client's key.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count the cells and sample some.")] = False,
    retry: Annotated[bool, typer.Option("--retry", help="Compute rows with errors again.")] = False,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Instead of the file's seed; other seeds make other rows.")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run many problems: the missing cells of a sweep file, on all cores or a cluster, into a folder of Parquet files.

    The same command goes on where the last one was stopped, by Ctrl-C, a crash or a full disk. A sweep file can name
    any importable function: run only those you trust, as with a Makefile. Exit status 1: some rows have errors.
    """
    output = Output(json, quiet)
    if file in ACTIONS:
        _look(output, file, path, out)
        return
    if path is not None:
        raise InvalidProblem(f"{path} is one argument too many; results go to --out FOLDER.")
    asked = out is not None and is_folder(out)
    folder = out if out is not None and asked else Path(f"{Path(file).stem}-results")
    places = {} if asked else destinations(out, FILES)
    from shallows.uses.sweep.plan import Plan
    from shallows.uses.sweep.run import run_sweep

    plan = Plan.from_file(file) if seed is None else Plan.from_file(file).with_seed(seed)
    if dry_run:
        _estimate(output, plan, folder)
        return
    tls = {n: str(f) for n, f in (("ca", tls_ca), ("cert", tls_cert), ("key", tls_key)) if f is not None}
    where: dict[str, Any] = {"engine": engine, "workers": workers, "scheduler": scheduler, "tls": tls}
    result = run_sweep(plan, folder, **where, retry=retry, progress=output.progress)
    output.document(_document(result.status) | {"computed": result.computed, "deaths": result.deaths})
    output.show(repr(result))
    _draw(output, folder, places.get(".html"))
    if ".json" in places:
        _write_rows(output, folder, places[".json"])
    if result.interrupted:
        raise typer.Exit(INTERRUPTED)
    if not result.status.complete:
        raise typer.Exit(ANSWER_IS_NO)


def _look(output: Output, action: str, path: Path | None, out: Path | None) -> None:
    if path is None:
        raise InvalidProblem(f"shallows sweep {action} needs a folder of results.")
    from shallows.uses.sweep.results import sweep_status

    status = sweep_status(path)
    if action == "status":
        output.document(_document(status))
        output.show(repr(status))
        return
    from shallows.uses.sweep.figures import write_figures

    page = write_figures(path, destinations(out, {".html": "figures.html"}).get(".html"))
    output.document({"path": str(path), "figures": str(page)})
    output.wrote(page)


def _estimate(output: Output, plan: Plan, folder: Path) -> None:
    from shallows.uses.sweep.estimate import estimate_sweep

    with output.working("sampling cells"):
        estimate = estimate_sweep(plan, folder)
    output.document(
        {
            "cells": estimate.cells,
            "repeats": estimate.repeats,
            "missing": estimate.missing,
            "sampled_seconds": list(estimate.seconds),
            "core_seconds": estimate.total if estimate.seconds else None,
            "errors": list(estimate.errors),
        }
    )
    output.show(repr(estimate))


def _write_rows(output: Output, folder: Path, out: Path) -> None:
    """The rows as a list of JSON objects, dates as text, what is not known as null."""
    from shallows.uses.sweep.results import load_sweep

    out.write_text(
        load_sweep(folder).to_json(orient="records", date_format="iso", indent=1), encoding="utf-8"
    )
    output.wrote(out)


def _draw(output: Output, folder: Path, out: Path | None) -> None:
    """The figures of the file, as far as there are rows for them, in the folder or where OUT says."""
    from shallows.uses.sweep.figures import write_figures
    from shallows.uses.sweep.store import load_plan

    if not load_plan(folder).section.figures and out is None:
        return
    try:
        output.wrote(write_figures(folder, out))
    except InvalidProblem as error:
        output.show(f"no figures: {error}")


def _document(status: Any) -> dict[str, Any]:
    return {
        "path": str(status.path),
        "title": status.title,
        "rows": status.rows,
        "done": status.done,
        "errors": status.failed,
        "set_aside": status.set_aside,
        "missing": status.missing,
        "earlier": status.earlier,
        "seconds": status.seconds,
        "damaged": list(status.damaged),
        "troubles": [
            {"status": t.status, "message": t.message, "count": t.count, "example": t.example}
            for t in status.troubles
        ],
    }
