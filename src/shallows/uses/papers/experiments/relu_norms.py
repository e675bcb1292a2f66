"""Paper 003, Figure 1: the norm sums Σ‖wᵢ‖ where gradient descent ends, for k = 20, 50 and 100."""

from __future__ import annotations

import numpy as np

from shallows.questions.descent.ensemble import ensemble
from shallows.questions.relu.setting import relu_problem
from shallows.support.theme import BLUE, VERMILLION
from shallows.uses.papers.experiments.experiment import (
    Comparison,
    Experiment,
    Plan,
    Presentation,
    Row,
    Settings,
)
from shallows.uses.papers.experiments.looks import panels, place
from shallows.uses.report.page import Picture

SIZES = (100, 50, 20)
#: Norm sums at end points (gradient norm 1e-12) are right to this: they exceed k by 1e-14 at most (kept rows).
ROUNDING = 1e-7
#: Runs a cell, so that a cell takes a minute or so.
CHUNKS = {20: 100, 50: 50, 100: 10}


def cells(plan: Plan) -> list[Settings]:
    """500 runs a k at the paper's scale, the slowest first."""
    runs = plan.pick({20: 100, 50: 20, 100: 4}, dict.fromkeys(SIZES, 500))
    return [
        {"k": k, "runs": min(CHUNKS[k], runs[k] - begin), "part": part, "seed": plan.seed}
        for k in SIZES
        for part, begin in enumerate(range(0, runs[k], CHUNKS[k]))
    ]


def norm_sums(settings: Settings) -> list[Row]:
    """A row a run."""
    k, part = settings["k"], settings["part"]
    found = ensemble(
        relu_problem(k), settings["runs"], rng=np.random.default_rng([settings["seed"], k, part]), cores=1
    )
    sums = np.linalg.norm(found.thetas.reshape(len(found), k, k), axis=2).sum(axis=1)
    return [
        {
            "k": k,
            "part": part,
            "run": number,
            "norm_sum": float(total),
            "loss": float(loss),
            "ended": bool(ended),
        }
        for number, (total, loss, ended) in enumerate(zip(sums, found.losses, found.ended, strict=True))
    ]


def present(rows: list[Row], plan: Plan) -> Presentation:
    """Histograms of k − Σ‖wᵢ‖."""
    sizes = sorted(SIZES)
    groups = {k: [row for row in rows if row["k"] == k and row["ended"]] for k in sizes}
    figure = panels([f"k = {k}: {len(groups[k])} runs" for k in sizes], 3, 380)
    compared = []
    for number, k in enumerate(sizes):
        sums = np.array([float(row["norm_sum"] or 0) for row in groups[k]])
        figure.add_histogram(
            x=sums, marker={"color": BLUE, "line": {"width": 0.5, "color": "white"}}, showlegend=False,
            nbinsx=24, **place(number, 3),
        )  # fmt: skip
        figure.add_vline(
            x=k, line={"color": VERMILLION, "dash": "dot", "width": 1.5}, annotation_text="k",
            annotation_position="top left", **place(number, 3),
        )  # fmt: skip
        excess, below = float(sums.max()) - k, k - float(sums.min())
        compared.append(
            Comparison(
                f"k = {k}: norm sums", "at most k", f"at most k + {max(excess, 0):.1g}", excess < ROUNDING
            )
        )
        compared.append(
            Comparison(
                f"k = {k}: concentration", "slightly below k", f"all within {below:.2g} below k",
                below < 0.01 * k,
            )
        )  # fmt: skip
        unfinished = sum(row["k"] == k and not row["ended"] for row in rows)
        compared.append(Comparison(f"k = {k}: runs that did not end", "", str(unfinished), None, ""))
    figure.update_xaxes(title_text="Σ‖wᵢ‖", nticks=5)
    figure.update_yaxes(title_text="runs", col=1)
    figure.update_layout(margin={"b": 64}, bargap=0.02)
    caption = (
        "Histograms of the sum of neuron norms where gradient descent from Xavier starts ends (gradient norm 1e-12), "
        "as in the paper; dotted: k, the bound that Theorem 8 assumes."
    )
    return Presentation(
        ("Theorem 8 assumes Σ‖wᵢ‖ ≤ k; the paper finds the sums tightly concentrated just below k.",),
        [Picture("Sum of neuron norms at the end points", figure, caption)],
        compared,
    )


EXPERIMENTS = (
    Experiment(
        "003-figure-1", "Figure 1", "Histograms of the sum of neuron norms at the end points, k = 20, 50, 100.",
        cells, norm_sums, present,
    ),
)  # fmt: skip
