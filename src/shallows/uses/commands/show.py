"""Problems and charts for the terminal."""

from __future__ import annotations

from typing import Any

from shallows.model.activations import Power
from shallows.model.problem import Problem
from shallows.questions.charts.completeness import COMPLETENESS
from shallows.questions.charts.result import Chart
from shallows.questions.charts.text import family_line
from shallows.questions.geometry.ranks.widths import regime
from shallows.support.tolerances import SAME_LOSS
from shallows.uses.commands._common import table as empty_table

SHOWN = 15


def problem_lines(title: str, problem: Problem) -> list[str]:
    """What is charted, and where its width stands in the function space."""
    lines = [f"[bold]{title or 'problem'}[/bold]", f"  {problem!r}"]
    if not isinstance(problem.activation, Power):
        return [*lines, f"  function space: infinite-dimensional ({problem.activation!r})"]
    place = regime(problem.degree, problem.n, problem.width)
    low, high = place.filling
    filling = str(low) if low == high else f"between {low} and {high}"
    return [
        *lines,
        f"  function space: width {problem.width} is {place.name}; dimension {place.dimension} of {place.ambient} "
        f"(thick from width {place.thick}, filling from {filling})",
    ]


def tables(charts: list[tuple[str, Chart]]) -> list[Any]:
    """Counts of all charts side by side, then the points of each."""
    shown: list[Any] = [_summary(charts)]
    for title, chart in charts:
        shown.append(_points(title, chart))
        shown += [f"  {family_line(family)}" for family in chart.families]
        shown += [f"  {note}" for note in chart.notes]
    return shown


def _summary(charts: list[tuple[str, Chart]]) -> Any:
    table = empty_table("Critical points")
    for heading in ("problem", "rank", "complex", "expected", "real", "complete"):
        text = heading in ("problem", "complete")
        table.add_column(heading, justify="left" if text else "right", no_wrap=not text, overflow="fold")
    for title, chart in charts:
        for rank in sorted(chart.real_count):
            expected = chart.expected_count.get(rank)
            table.add_row(
                title if rank == min(chart.real_count) else "",
                str(rank),
                str(chart.complex_count.get(rank, "")),
                "?" if expected is None else str(expected),
                str(chart.real_count[rank]),
                chart.completeness if rank == min(chart.real_count) else "",
            )
    table.caption = "; ".join(f"{name}: {COMPLETENESS[name]}" for name in {c.completeness for _, c in charts})
    return table


def _points(title: str, chart: Chart) -> Any:
    table = empty_table(title)
    for heading in ("loss", "rank", "index", "(+, 0, −)", "kind", "certified"):
        number = heading in ("loss", "rank", "index")
        table.add_column(heading, justify="right" if number else "left", no_wrap=heading != "kind")
    rows = chart.critical.table
    start = 0
    shown = 0
    while start < len(rows) and shown < SHOWN:
        stop = start + 1
        while stop < len(rows) and _alike(rows, start, stop):
            stop += 1
        count = f" × {stop - start}" if stop - start > 1 else ""
        if rows.dimension[start]:
            count = f", a family of dimension {rows.dimension[start]}{count}"
        certificate = chart.critical[start].certificate
        proved = "yes" if certificate is not None and certificate.signature_certified else "no"
        table.add_row(
            f"{rows.loss[start]:.8g}",
            str(rows.rank[start]),
            str(rows.signature[start][2]),
            "({}, {}, {})".format(*rows.signature[start]),
            f"{rows.kind[start]}{count}",
            proved,
        )
        start, shown = stop, shown + 1
    if start < len(rows):
        table.caption = f"and {len(rows) - start} more; --out saves them all"
    return table


def _alike(rows: Any, i: int, j: int) -> bool:
    """Points that a symmetry makes equal in all that is shown."""
    same_loss = abs(rows.loss[i] - rows.loss[j]) <= SAME_LOSS * abs(rows.loss[i])
    same_place = rows.rank[i] == rows.rank[j] and rows.dimension[i] == rows.dimension[j]
    return bool(same_loss and same_place and (rows.signature[i] == rows.signature[j]).all())


def chart_documents(charts: list[tuple[str, Chart]]) -> list[dict[str, Any]]:
    """The charts as JSON values."""
    return [_document(title, chart) for title, chart in charts]


def _document(title: str, chart: Chart) -> dict[str, Any]:
    rows = chart.critical.table
    return {
        "title": title,
        "completeness": chart.completeness,
        "method": chart.method,
        "seed": chart.seed,
        "real": {str(rank): count for rank, count in chart.real_count.items()},
        "complex": {str(rank): count for rank, count in chart.complex_count.items()},
        "expected": {str(rank): count for rank, count in chart.expected_count.items()},
        "critical": [
            {
                "loss": float(rows.loss[i]),
                "rank": int(rows.rank[i]),
                "signature": [int(x) for x in rows.signature[i]],
                "kind": str(rows.kind[i]),
                "dimension": int(rows.dimension[i]),
            }
            for i in range(len(rows))
        ],
        "families": [
            {"rank": f.rank, "dimension": f.dimension, "loss": f.loss, "description": f.description}
            for f in chart.families
        ],
        "notes": list(chart.notes),
    }
