"""How minima connect, in a report: the disconnectivity graph, where there is more than one valley."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from shallows.questions.charts.result import Chart
from shallows.questions.connections.tree import MergeTree
from shallows.support.errors import ShallowsError
from shallows.support.theme import untitled
from shallows.uses.report.page import Picture

#: Larger charts are left out: a path down takes milliseconds, and a tree of hundreds of leaves is not read.
LARGEST = 300


def connection_pictures(chart: Chart, shares: Mapping[int, float] | None) -> list[Picture]:
    """The tree's picture; none for one valley, and where no tree is known (sampled or degenerate charts)."""
    if len(chart.critical) > LARGEST:
        return []
    try:
        tree = chart.connections()
    except ShallowsError:
        return []
    if len(tree.leaves) < 2:
        return []
    if shares is not None:
        rows = [
            replace(leaf, share=shares.get(-1 if leaf.row is None else leaf.row, 0.0)) for leaf in tree.leaves
        ]
        tree = replace(tree, leaves=tuple(rows))
    wide = "; a trunk is the wider the more training runs end there" if shares is not None else ""
    return [Picture("How minima connect", untitled(tree.figure()), tree_caption(tree, wide))]


def tree_caption(tree: MergeTree, more: str = "") -> str:
    """What the picture of a tree shows."""
    return (
        f"Each trunk is a minimum, up to the loss at which its valley meets another ({tree.known}){more}. Diamonds are "
        "the critical points at which valleys meet."
    )
