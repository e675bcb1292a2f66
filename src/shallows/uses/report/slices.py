"""A slice of landscapes as a page of its own: its picture, its regions in a table, and how to make it again."""

from __future__ import annotations

from shallows.questions.discriminants.regions import LandscapeRegions
from shallows.support.checks import counted
from shallows.support.theme import untitled
from shallows.uses.report.page import Cell, Picture, Section, render

LEAD = (
    "Two entries of the teacher vary and everything else stays. The discriminant divides their plane into regions in "
    "which every teacher has the same landscape."
)
CAPTION = (
    "Colours are regions: how many real critical points a teacher there has, and how many of them are local minima. On "
    "the solid curve, the discriminant, two critical points meet and vanish; on a dashed one, a point goes through "
    "zero."
)


def slice_html(regions: LandscapeRegions, command: str) -> str:
    """The page as text; `command` draws it again."""
    figure = untitled(regions.figure()).update_layout(height=560)
    title = f"Landscapes: {regions.discriminant.curve.title}"
    kinds = {(region.real_count, region.local_minima) for region in regions.regions}
    section = Section(
        title=title,
        pictures=[Picture("The slice", figure, CAPTION)],
        tiles=[
            (str(len(regions.regions)), "regions"),
            (str(len(kinds)), "kinds of landscape"),
            (f"{len(regions.x)} × {len(regions.y)}", "grid"),
            (str(regions.exact), "grid points decided exactly"),
        ],
        table=_table(regions),
        table_caption=f"A region a row; around its point ({regions.horizontal}, {regions.vertical}) it is widest. "
        "Click a heading to sort.",
        shell=command,
    )
    return render(title, LEAD, [section])


def _table(regions: LandscapeRegions) -> tuple[list[str], list[list[Cell]]]:
    headings = ["region", "landscape", "share of the slice", regions.horizontal, regions.vertical]
    rows = [
        [
            Cell(str(each.label), each.label),
            Cell(
                f"{counted(each.real_count, 'real critical point')}, {counted(each.local_minima, 'local minimum')}",
                f"{each.real_count:03d} {each.local_minima:03d}",
                numeric=False,
            ),
            Cell(f"{each.share:.1%}", each.share),
            *(Cell(f"{value:.4g}", value) for value in each.point),
        ]
        for each in regions.regions
    ]
    return headings, rows
