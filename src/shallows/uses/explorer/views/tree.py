"""The merge tree of one quadratic neuron: which valleys meet, and at which loss, beside the landscape itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from shallows.questions.charts.chart import chart as make_chart
from shallows.questions.connections.figure import draw_tree
from shallows.questions.connections.tree import MergeTree
from shallows.uses.explorer.costs import SEED, TRAIN, constant, quick_descent, report_of
from shallows.uses.explorer.fields import State
from shallows.uses.explorer.scene import Preset, Scene, Step, View
from shallows.uses.explorer.sketch import Sketch
from shallows.uses.explorer.views.quadratic import FIELDS, TEACHER, problem_of
from shallows.uses.landscape.picture import landscape
from shallows.uses.report.recipe import python_of

#: A teacher without symmetry, so that valleys have depths of their own.
DEFAULTS = {"kurtosis": 30.0, "t12": 0.3, "t13": 0.15, "t23": -0.1}


def draw(state: State) -> Scene:
    """The tree of the certified chart, and its joins on the landscape."""
    problem = problem_of(state)
    chart = make_chart(problem)
    tree = chart.connections()
    joins = {edge.row: edge for edge in tree.edges}
    leaves = {leaf.row: leaf for leaf in tree.leaves}
    escape = tree.easiest_escape(0) if len(tree.leaves) > 1 else None
    return Scene(
        figures=[_figure(tree)],
        facts=[
            (str(len(tree.leaves)), "valley" if len(tree.leaves) == 1 else "valleys"),
            (str(len(tree.edges)), "joins"),
            (
                f"{escape.height:.4g}" if escape else "–",
                "lowest way out of the deepest valley, above its floor",
            ),
            (tree.known, "tree"),
        ],
        headings=("loss", "kind", "index", "in the merge tree"),
        rows=[
            [f"{p.loss:.6g}", p.kind, str(p.index), _role(leaves.get(row), joins.get(row))]
            for row, p in enumerate(chart.critical)
        ],
        code=python_of(problem, "chart = sh.chart(problem)\ntree = chart.connections()\nprint(tree)"),
        problem=problem,
        landscape=landscape(chart, runs=0, shaded=False),
    )


def _role(leaf: Any, join: Any) -> str:
    if leaf is not None:
        return f"leaf {leaf.number}"
    if join is not None:
        return "joins " + " and ".join(",".join(map(str, side)) for side in join.sides)
    return "–"


def _figure(tree: MergeTree) -> Any:
    figure = draw_tree(Sketch(), tree)
    figure.update_layout(height=440)
    return figure


VIEW = View(
    name="tree",
    title="Merge tree",
    lead="Let water rise in the landscape: every minimum is a lake, and lakes flow together over passes. The merge "
    "tree says which meet at which loss; what a run has to climb to get from one minimum to another is read off it.",
    fields=(*(replace(f, default=DEFAULTS.get(f.name, f.default)) for f in FIELDS), TRAIN, SEED),
    pictured="The landscape; bold lines lead over the passes at which valleys first meet.",
    captions=(
        "The merge tree: a trunk is a valley from its floor up to where it meets another; a diamond is the saddle "
        "there. Point at one to find it on the landscape.",
    ),
    tour=(
        Step(
            "Valleys that flow together",
            "Heavy-tailed data: several valleys. In the tree, follow a trunk up from a star to the first diamond: "
            "that is the lowest pass out of this valley, the bold line on the landscape.",
            {**TEACHER, "kurtosis": "30", "t12": "0.3", "t13": "0.15", "t23": "-0.1"},
        ),
        Step(
            "The tree loses its branches",
            "Play makes the tails lighter: passes sink to the floors beside them, trunks shrink, and valleys are gone "
            "one after the other, until Gaussian data leaves one.",
            {**TEACHER, "kurtosis": "30", "t12": "0.3", "t13": "0.15", "t23": "-0.1"},
            ("kurtosis", 30, 3),
        ),
    ),
    presets=(
        Preset("four equal valleys", {**TEACHER, "kurtosis": "30"}),
        Preset("both signs", {**TEACHER, "t33": "-2", "kurtosis": "12"}),
        Preset("random teacher", {}),
    ),
    draw=draw,
    seconds=constant(0.045),
    report=report_of("One quadratic neuron, n = 3", problem_of, 0.25, quick_descent),
)
