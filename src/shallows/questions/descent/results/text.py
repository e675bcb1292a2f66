"""Ensembles as text and as rich tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shallows.support.checks import counted

if TYPE_CHECKING:
    from shallows.questions.descent.results.ensemble import Ensemble

LONGEST = 12


def ensemble_text(runs: Ensemble) -> str:
    """The counts, the distinct end points and the seed."""
    counts = ", ".join(f"{count} {name}" for name, count in runs.counts().items())
    lines = [
        f"Ensemble: {runs.problem!r}",
        f"  {len(runs)} of {runs.requested} runs by {runs.method}, seed {runs.seed}: {counts}",
        f"  {runs.share_of_global:.1%} at the lowest loss {runs.global_loss:.8g}"
        + ("" if runs.chart is None else " of the chart"),
    ]
    if runs.note:
        lines.append(f"  {runs.note}")
    lines.append("   count   share            loss  rank  (+, 0, −)        smallest eigenvalue")
    for minimum in runs.minima[:LONGEST]:
        rank = "" if minimum.rank is None else str(minimum.rank)
        lines.append(
            f"  {minimum.count:6d}  {minimum.share:6.1%}  {minimum.loss:14.8g}  {rank:>4}  {minimum.signature!s:15}  "
            f"{minimum.eigenvalues[0]:.4g}"
        )
    if len(runs.minima) > LONGEST:
        lines.append(f"  … and {len(runs.minima) - LONGEST} more")
    return "\n".join(lines)


def minima_table(runs: Ensemble) -> Any:
    """The distinct end points as a rich table, with the chart's points where there is a chart."""
    from rich.table import Table

    table = Table(
        title=f"{counted(len(runs), 'run')} by {runs.method}, seed {runs.seed}", title_justify="left"
    )
    headings = ["count", "share", "loss", "rank", "(+, 0, −)", "λ min"]
    matched = None if runs.chart is None else runs.match(strict=False)
    if matched is not None:
        headings.append("on the chart")
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    for minimum in runs.minima:
        rank = "" if minimum.rank is None else str(minimum.rank)
        row = [
            str(minimum.count),
            f"{minimum.share:.1%}",
            f"{minimum.loss:.8g}",
            rank,
            str(minimum.signature),
        ]
        row.append(f"{minimum.eigenvalues[0]:.3g}")
        if matched is not None and runs.chart is not None:
            place = int(matched.points[minimum.members[0]])
            row.append(_place(runs, place))
        table.add_row(*row)
    return table


def _place(runs: Ensemble, place: int) -> str:
    assert runs.chart is not None
    if place >= 0:
        return f"{place}: {runs.chart.critical[place].kind}"
    return "not on it" if place == -1 else f"family {-2 - place}"
