"""A merge tree as text a person wants to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shallows.support.checks import counted

if TYPE_CHECKING:
    from shallows.questions.connections.tree import Edge, Leaf, MergeTree

#: What is known about a tree, in words.
KNOWN = {
    "proved": "no critical point is missing, all are non-degenerate, and every path down is verified in balls",
    "numerical": "paths down were followed in floating point",
    "sampled": "from the minima given and the saddles found between them: others, and lower ways, may exist",
}
#: Leaves that are written out; more are counted.
SHOWN = 40


def tree_text(tree: MergeTree) -> str:
    """What it is of, what is known, and the tree itself, joins above what they join."""
    space = {"function": "function space", "parameters": "parameter space"}[tree.space]
    lines = [f"Connections of {tree.chart.title or 'a chart'}"]
    lines.append(f"  {space}, {tree.known}: {KNOWN[tree.known]}")
    leaves = counted(len(tree.leaves), "leaf")
    lines.append(f"  {leaves}, {counted(len(tree.edges), 'join')}")
    lines += [f"  note: {note}" for note in tree.notes]
    if len(tree.leaves) > SHOWN:
        return "\n".join(
            [*lines, f"  more than {SHOWN} leaves: tree.leaves, tree.edges, tree.to_dataframe()"]
        )
    below: dict[tuple[int, ...], Edge] = {
        tuple(sorted(leaf for side in edge.sides for leaf in side)): edge for edge in tree.edges
    }
    inner = {side for edge in tree.edges for side in edge.sides}
    roots = [key for key in below if key not in inner]
    roots += [(leaf.number,) for leaf in tree.leaves if not any(leaf.number in root for root in roots)]
    for root in sorted(roots):
        lines += [f"  {line}" for line in _branch(tree, below, root)]
    return "\n".join(lines)


def _branch(tree: MergeTree, below: dict[tuple[int, ...], Edge], key: tuple[int, ...]) -> list[str]:
    """The lines of one node and of all below it."""
    edge = below.get(key)
    if edge is None:
        return [_leaf(tree.leaves[key[0]])]
    point = edge.point
    size = f", a family of dimension {point.dimension}" if point.dimension else ""
    lines = [f"{edge.loss:<10.8g} {point.kind}, rank {point.rank}{size}"]
    sides = [tuple(sorted(side)) for side in edge.sides]
    for i, side in enumerate(sides):
        last = i == len(sides) - 1
        inner = _branch(tree, below, side)
        lines.append(("└─ " if last else "├─ ") + inner[0])
        lines += [("   " if last else "│  ") + line for line in inner[1:]]
    return lines


def _leaf(leaf: Leaf) -> str:
    if leaf.point is None:
        return f"at most {leaf.loss:.8g}  leaf {leaf.number}: no minimum"
    size = f", a family of dimension {leaf.point.dimension}" if leaf.point.dimension else ""
    copy = f", copy {leaf.copy}" if leaf.copy else ""
    share = "" if leaf.share is None else f", {leaf.share:.1%} of runs"
    return (
        f"{leaf.loss:<10.8g} leaf {leaf.number}: {leaf.point.kind}, rank {leaf.point.rank}{size}{copy}{share}"
    )
