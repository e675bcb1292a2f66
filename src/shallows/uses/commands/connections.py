"""`shallows connections`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shallows.support.checks import noun_for
from shallows.support.theme import untitled
from shallows.uses.commands._common import FileSeed, Json, ProblemFile, Quiet, begun
from shallows.uses.commands.destinations import as_text

if TYPE_CHECKING:
    from shallows.questions.connections.tree import MergeTree

EXAMPLES = (
    "shallows connections examples/heavy-tailed.toml",
    "shallows connections problem.toml --space parameters --json",
    "shallows connections problem.toml --out tree",
)
LEAD = "Which valleys of the loss meet, at which critical point, and how high: the merge tree of its sublevel sets."
FILES = {".html": "connections.html", ".json": "connections.json"}


def connections(
    file: ProblemFile,
    space: Annotated[
        str, typer.Option(help="function (each function once), or parameters (each component of a fiber).")
    ] = "function",
    out: Annotated[
        Path | None,
        typer.Option(
            help="X.html: write the disconnectivity graph; X.json: the tree (and X.npz, read by load_connections); a "
            "folder: both."
        ),
    ] = None,
    seed: FileSeed = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Chart a problem and show how its minima connect: which critical point joins which valleys, and at what loss."""
    from shallows.questions.charts.chart import chart

    output, places, written = begun(file, seed, (out, FILES), json, quiet)
    charted = chart(written.problem, rng=written.seed, progress=output.progress)
    tree = charted.connections(space, progress=output.progress)
    output.document(_document(tree))
    output.show(f"{tree!r}")
    page = as_text(lambda: _page(tree, written.title or file.stem, file))
    output.write(places, {".json": tree.save, ".html": page})


def _page(tree: MergeTree, title: str, file: Path) -> str:
    """The tree as a page: its picture, its leaves in words, and how to make it again."""
    from shlex import join

    from shallows.uses.report.connections import tree_caption
    from shallows.uses.report.page import Picture, Section, render

    section = Section(
        title=title,
        pictures=[Picture("How minima connect", untitled(tree.figure()), tree_caption(tree))],
        tiles=[
            (str(len(tree.leaves)), noun_for(len(tree.leaves), "valley")),
            (str(len(tree.edges)), noun_for(len(tree.edges), "join")),
            (tree.known, "the tree is"),
        ],
        notes=tree.notes,
        shell=join(
            ["shallows", "connections", file.name, "--space", tree.space, "--out", "connections.html"]
        ),
    )
    return render(title, LEAD, [section])


def _document(tree: MergeTree) -> dict[str, Any]:
    """What a script wants to know, in plain numbers."""
    return {
        "space": tree.space,
        "known": tree.known,
        "notes": list(tree.notes),
        "leaves": [
            {
                "loss": leaf.loss,
                "kind": "no minimum" if leaf.point is None else leaf.point.kind,
                "rank": None if leaf.point is None else leaf.point.rank,
                "copy": leaf.copy,
            }
            for leaf in tree.leaves
        ],
        "edges": [
            {
                "loss": edge.loss,
                "kind": edge.point.kind,
                "rank": edge.point.rank,
                "sides": [list(s) for s in edge.sides],
            }
            for edge in tree.edges
        ],
    }
