"""Merge trees on disk: the chart they are of, its points, and which rows of it are leaves and joins."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from shallows.questions.charts.file import chart_contents, chart_fields
from shallows.questions.connections.text import KNOWN
from shallows.support.files import Format

if TYPE_CHECKING:
    from shallows.model.problem import Problem
    from shallows.questions.connections.tree import MergeTree

FORMAT = Format("shallows-connections", 1)


def save_tree(tree: MergeTree, path: str | Path) -> Path:
    """Write the tree with its chart: `path`.json and `path`.npz; the path of the first."""
    document, arrays = chart_contents(tree.chart)
    return FORMAT.save(path, document | {"tree": tree_document(tree)}, arrays)


def tree_document(tree: MergeTree) -> dict[str, Any]:
    """What a file keeps of a tree beside its chart."""
    return {
        "space": tree.space,
        "known": tree.known,
        "notes": list(tree.notes),
        "traps": list(tree.traps),
        "leaves": [
            {
                "number": leaf.number,
                "loss": leaf.loss,
                "row": leaf.row,
                "copy": leaf.copy,
                "share": leaf.share,
            }
            for leaf in tree.leaves
        ],
        "edges": [
            {"loss": edge.loss, "row": edge.row, "leaves": edge.leaves, "sides": edge.sides}
            for edge in tree.edges
        ],
    }


def read_tree(path: str | Path, problem: Problem | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields of the chart, and of the tree, that `save_tree` wrote; rows that are not there are damage."""
    contents = FORMAT.load(path)
    fields = chart_fields(contents, problem)
    with contents.reading():
        return fields, tree_fields(contents.document["tree"], len(fields["critical"]))


def tree_fields(document: dict[str, Any], count: int) -> dict[str, Any]:
    """The fields of a tree of a chart with so many points."""
    tree = dict(document)
    leaves = len(tree["leaves"])
    rows = [leaf["row"] for leaf in tree["leaves"]] + [edge["row"] for edge in tree["edges"]]
    named = [i for edge in tree["edges"] for side in (edge["leaves"], *edge["sides"]) for i in side]
    if not all(row is None or 0 <= row < count for row in rows) or not all(0 <= i < leaves for i in named):
        raise ValueError("its tree names points or leaves that are not there")
    if tree["known"] not in KNOWN or [leaf["number"] for leaf in tree["leaves"]] != list(range(leaves)):
        raise ValueError(f"its tree is {tree['known']!r}, or its leaves are out of order")
    tree["edges"] = [
        edge | {"leaves": tuple(edge["leaves"]), "sides": tuple(tuple(side) for side in edge["sides"])}
        for edge in tree["edges"]
    ]
    return tree
