"""`shallows reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shallows.support.errors import InvalidProblem
from shallows.uses.commands._common import ANSWER_IS_NO, Json, Output, Quiet, Seed, interruptible
from shallows.uses.commands.destinations import as_document, as_text, destinations, is_folder, write_parts

if TYPE_CHECKING:
    from shallows.uses.papers.experiments.experiment import Experiment, Result

EXAMPLES = (
    "shallows reproduce",
    "shallows reproduce 003-table-1 --out figures",
    "shallows reproduce 000-figure-2 --out figure.html",
    "shallows reproduce 002-figure-2 --scale paper",
    "shallows reproduce 002-figure-5 --data mnist/",
    "shallows reproduce all",
)
#: Where finished cells are kept, and everything else when no other folder is given.
FOLDER = Path("reproduced")
FILES = {".html": "", ".json": ""}


def reproduce(
    name: Annotated[
        str | None, typer.Argument(help="An experiment, a paper (000 to 003), or all; without it, the list.")
    ] = None,
    scale: Annotated[str, typer.Option(help="quick, or paper: as many runs as the paper has.")] = "quick",
    out: Annotated[
        Path,
        typer.Option(
            help="Folder of CSV files, HTML pages and finished cells; give it again to go on. X.html: only the page of "
            f"one experiment; X.json: only its data (cells are then kept in {FOLDER})."
        ),
    ] = FOLDER,
    data: Annotated[
        str,
        typer.Option(
            help="Images of 002-figure-5: digits, openml, or a folder with MNIST's IDX files or mnist_pca_47.npz."
        ),
    ] = "digits",
    jobs: Annotated[int | None, typer.Option(help="Processes; all cores by default.")] = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compute the tables and figures of the four papers again; exit status 1 if a comparison disagrees."""
    from shallows.uses.papers.experiments.experiment import Plan
    from shallows.uses.papers.experiments.library import experiments, find_experiments
    from shallows.uses.papers.experiments.run import reproduce as run

    output = Output(json, quiet)
    if name is None:
        output.show(_list(experiments()))
        output.document([_entry(experiment) for experiment in experiments()])
        return
    chosen = find_experiments(name)
    plan = Plan(_scale(scale), seed, _source(data))
    folder, places = _places(out, len(chosen))
    if jobs is not None and jobs < 1:
        raise InvalidProblem(f"--jobs is {jobs}; expected at least 1.")

    def tell(result: Result) -> None:
        output.show(result.table() if len(chosen) == 1 else result.summary())
        for path in _written(result, places):
            output.wrote(path)

    with interruptible(lambda: _kept(folder)):
        results = run(chosen, plan, folder, jobs, tell)
    documents = [result.to_dict() for result in results]
    output.document(documents[0] if len(documents) == 1 else documents)
    if any(result.disagreements for result in results):
        raise typer.Exit(ANSWER_IS_NO)


def _places(out: Path, experiments: int) -> tuple[Path, dict[str, Path]]:
    """The folder of the cells, and the one file that was asked for, if it was one."""
    if is_folder(out):
        if out.is_file():
            raise InvalidProblem(
                f"--out is {out}, a file; expected a folder, or a name that ends in .html or .json."
            )
        return out, {}
    places = destinations(out, FILES)
    if experiments > 1:
        raise InvalidProblem(
            f"--out is {out}, one file for {experiments} experiments. Fix: --out {out.with_suffix('')}, a folder"
        )
    return FOLDER, places


def _written(result: Result, places: dict[str, Path]) -> list[Path]:
    """The files of a result: those in its folder, or the one that was asked for."""
    from shallows.uses.papers.experiments.write import page

    makers = {".json": as_document(result.to_dict()), ".html": as_text(lambda: page(result))}
    return list(write_parts(places, makers)) or list(result.files)


def _kept(out: Path) -> str:
    """What an interrupted run leaves for the next one."""
    cells = out / "cells"
    if not any(cells.rglob("*.parquet")):
        return "nothing was finished"
    return f"finished cells are in {cells}: the same command goes on"


def _scale(text: str) -> Any:
    from shallows.uses.papers.experiments.experiment import SCALES

    if text not in SCALES:
        raise InvalidProblem(f"--scale is {text!r}; expected {' or '.join(SCALES)}.")
    return text


def _source(data: str) -> str:
    """Named sources as they are, a folder by its full path: cells are kept under it."""
    if data in ("digits", "openml"):
        return data
    folder = Path(data).resolve()
    if not folder.is_dir():
        raise InvalidProblem(
            f"--data is {data!r}; expected digits, openml, or the folder of MNIST's IDX files or of mnist_pca_47.npz."
        )
    return str(folder)


def _list(all_of_them: list[Experiment]) -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("name", "what", "shows"):
        table.add_column(heading)
    for experiment in all_of_them:
        table.add_row(experiment.name, experiment.item, experiment.shows)
    return table


def _entry(experiment: Experiment) -> dict[str, str]:
    return {
        "name": experiment.name,
        "paper": experiment.paper,
        "item": experiment.item,
        "shows": experiment.shows,
    }
