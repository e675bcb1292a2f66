"""The tables and figures of a paper, as the project computes them: Markdown with figures in it.

What takes seconds is computed by the build. What takes minutes is read from docs/papers/experiments/NAME.json, the
output of `shallows reproduce NAME --json`; an experiment with the same trainings as a stored one (Figures 2 and 3 of
paper 002) uses its rows.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pictures
from markdown_text import plain

STORED = Path(__file__).resolve().parent.parent / "papers" / "experiments"


def experiments_of(paper: str) -> str:
    """A section an experiment: figures, captions, the command, and published numbers beside ours."""
    from shallows.uses.papers.experiments.library import experiments

    return "\n".join(_section(result_of(experiment)) for experiment in experiments(paper))


def result_of(experiment: Any) -> Any:
    """The experiment with its rows: stored ones, or computed here and now at the quick scale."""
    from shallows.uses.papers.experiments.experiment import Plan, Result

    stored = stored_result(experiment)
    if stored is None:
        plan = Plan()
        cells = experiment.cells(plan)
        rows, seconds = _computed(experiment, cells)
        count = len(cells)
    else:
        plan = Plan(stored["scale"], stored["seed"])
        rows, seconds, count = stored["rows"], stored["seconds"], stored["cells"]
    shown = experiment.present(rows, plan)
    return Result(experiment, plan, rows, shown, count, 0, seconds)


def stored_result(experiment: Any) -> dict[str, Any] | None:
    """The document of this experiment, or of one with the same cells; None where the build computes."""
    from shallows.uses.papers.experiments.library import experiments

    same = [other.name for other in experiments(experiment.paper) if other.task == experiment.task]
    for name in [experiment.name, *same]:
        path = STORED / f"{name}.json"
        if path.exists():
            found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            return found
    return None


def _computed(experiment: Any, cells: list[dict[str, Any]]) -> tuple[list[Any], float]:
    begin = time.process_time()
    rows = [row for settings in cells for row in experiment.compute(settings)]
    return rows, time.process_time() - begin


def _agreement(result: Any) -> str:
    decided = [c for c in result.presentation.comparisons if c.agrees is not None]
    return f"{sum(bool(c.agrees) for c in decided)} of {len(decided)}"


def _section(result: Any) -> str:
    """Labelled by the experiment's name; its place on the site is papers/002.html#figure-2."""
    shown = result.presentation
    lines = [f"({result.experiment.name})=", f"### {result.experiment.item}", ""]
    lines += [f"{plain(sentence)}\n" for sentence in shown.sentences]
    lines += [text for picture in shown.pictures for text in _picture(picture, len(shown.pictures) > 1)]
    lines += [_origin(result), ""]
    return "\n".join([*lines, *_comparisons(result)])


def _picture(picture: Any, titled: bool) -> Iterator[str]:
    """The heading is shown where an experiment has several pictures; the caption always."""
    heading = f"**{plain(picture.heading)}.** " if titled else ""
    figure = picture.figure.to_dict()
    if all(trace["type"] == "table" for trace in figure["data"]):
        yield from map(_table, figure["data"])
    else:
        yield f"```{{raw}} html\n{pictures.fragment(figure, picture.heading)}\n```\n"
    yield f"{{.caption}}\n{heading}{plain(picture.caption)}\n"


def _table(trace: dict[str, Any]) -> str:
    """A table that a report draws as a figure is a table on the site."""
    rows = [trace["header"]["values"], *zip(*trace["cells"]["values"], strict=True)]
    lines = [_cells(row) for row in rows]
    return "\n".join([lines[0], "| --- " * len(rows[0]) + "|", *lines[1:], ""])


def _cells(row: Any) -> str:
    return "| " + " | ".join(plain(str(cell)).replace("|", "\\|") for cell in row) + " |"


def _origin(result: Any) -> str:
    """One line: at which scale, at what cost, and the command that computes it again."""
    scale = " --scale paper" if result.plan.scale == "paper" else ""
    words = "the paper's scale" if scale else "quick scale"
    kept = "" if stored_result(result.experiment) is None else ", kept with the source"
    seconds = f"{result.seconds:.1f}" if result.seconds < 10 else f"{result.seconds:.0f}"
    command = f"`shallows reproduce {result.experiment.name}{scale}`"
    return f"{command}: {words}, seed {result.plan.seed}, {seconds} s in one process{kept}."


def _comparisons(result: Any) -> list[str]:
    """The published numbers beside ours, folded away."""
    compared = result.presentation.comparisons
    if not compared:
        return []
    rows = [_cells((c.quantity, c.published, c.ours, c.source, c.mark)) for c in compared]
    title = f"Compared with ours: {_agreement(result)} comparisons agree"
    head = ["| quantity | compared with | ours | source | |", "| --- | --- | --- | --- | --- |"]
    return [f":::{{folded}} {title}", *head, *rows, ":::", ""]
