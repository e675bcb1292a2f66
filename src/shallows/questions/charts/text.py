"""A chart as text a person wants to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shallows.questions.charts.completeness import COMPLETENESS
from shallows.support.checks import counted

if TYPE_CHECKING:
    from shallows.questions.charts.points.point import CriticalFamily
    from shallows.questions.charts.result import Chart

SHOWN = 20


def chart_text(chart: Chart) -> str:
    """Counts by rank, completeness, families, and the first points."""
    lines = [
        f"Chart: {chart.title}" if chart.title else "Chart",
        f"  method {chart.method}, seed {chart.seed}",
    ]
    lines.append(f"  {chart.completeness}: {COMPLETENESS[chart.completeness]}")
    if chart.scope:
        lines.append(f"  scope: {chart.scope}")
    lines.append("  " + ", ".join(_kinds(chart)))
    lines += _closure(chart)
    lines += _counts(chart)
    lines += [f"  {family_line(family)}" for family in chart.families]
    lines += [f"  note: {note}" for note in chart.notes]
    lines += _points(chart)
    return "\n".join(lines)


def _kinds(chart: Chart) -> list[str]:
    """ "1 global minimum", "2 saddles", …; "degenerate" is short for a point."""
    nouns = {"degenerate": "degenerate point"}
    return [counted(count, nouns.get(kind, kind)) for kind, count in chart.kinds().items()]


def _closure(chart: Chart) -> list[str]:
    """Whether the infimum is attained, where networks are not closed."""
    lines = []
    if chart.attained is False:
        lines.append(
            f"  infimum {chart.infimum:.8g} is not attained: it is a limit of networks with growing weights"
        )
    return lines


def _counts(chart: Chart) -> list[str]:
    lines = [
        "  rank  complex  expected  real"
        + ("   isolated ones, beside the families" if chart.families else "")
    ]
    for rank in sorted(chart.real_count):
        expected = chart.expected_count.get(rank)
        shown = "?" if expected is None else str(expected)
        row = f"  {rank:>4}{chart.complex_count.get(rank, '–'):>9}{shown:>10}{chart.real_count[rank]:>6}"
        source = chart.expected_source.get(rank, "")
        lines.append(f"{row}   {source}" if source else row)
    return lines


def family_line(family: CriticalFamily) -> str:
    """A family in one line, and whether it is proved."""
    proof = "numerical" if family.certificate is None else "proved"
    size = f"dimension {family.dimension}, loss {family.loss:.8g} ({proof})"
    return f"family of rank {family.rank}, {size}: {family.description}"


def _points(chart: Chart) -> list[str]:
    table = chart.critical.table
    lines = [f"  {'loss':>14}  rank  (+, 0, −)       kind"]
    for i in range(min(len(table), SHOWN)):
        signature = "({}, {}, {})".format(*table.signature[i])
        size = f", a family of dimension {table.dimension[i]}" if table.dimension[i] else ""
        size += ", a limit" if table.limit[i] else ""
        lines.append(f"  {table.loss[i]:>14.8g}  {table.rank[i]:>4}  {signature:<14}  {table.kind[i]}{size}")
    if len(table) > SHOWN:
        lines.append(f"  … and {len(table) - SHOWN} more: chart.critical, chart.to_dataframe()")
    return lines
