"""The files of an experiment: its rows as CSV, and one self-contained HTML page with figures and comparisons."""

from __future__ import annotations

import csv
from datetime import UTC, datetime
from pathlib import Path

from shallows.support.files import whole
from shallows.support.plotly_script import plotly_script
from shallows.uses.papers.experiments.experiment import Result
from shallows.uses.papers.library import PAPERS
from shallows.uses.report.templating import rendered


def write_csv(result: Result, out: Path) -> Path:
    """All rows, one column a name; numbers in full precision."""
    path = out / f"{result.experiment.name}.csv"
    columns = list(dict.fromkeys(name for row in result.rows for name in row))
    out.mkdir(parents=True, exist_ok=True)
    with whole(path) as beside, beside.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        writer.writerows(result.rows)
    return path


def write_page(result: Result, out: Path) -> Path:
    """The page: figures with captions, published numbers beside ours, how to make it again."""
    path = out / f"{result.experiment.name}.html"
    out.mkdir(parents=True, exist_ok=True)
    with whole(path) as beside:
        beside.write_text(page(result), encoding="utf-8")
    return path


def page(result: Result) -> str:
    """The page as text; plotly is inlined once, nothing is loaded from anywhere."""
    (paper,) = (p for p in PAPERS if p.number == result.experiment.paper)
    return rendered(
        "shallows.uses.papers.experiments",
        "experiment.html",
        result=result,
        experiment=result.experiment,
        shown=result.presentation,
        paper=paper,
        decided=any(c.agrees is not None for c in result.presentation.comparisons),
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        plotly=plotly_script(),
    )
