"""Paper 003, introduction: one or two extra neurons, and how often gradient descent finds the global minimum.

For n > k the global minima are a continuum and descent is sublinear near it, so runs are told apart by their loss.
"""

from __future__ import annotations

import numpy as np

from shallows.questions.descent.ensemble import ensemble
from shallows.questions.relu.setting import relu_problem
from shallows.support.theme import BLUE, GREEN, ORANGE, styled
from shallows.uses.papers.experiments.experiment import (
    Comparison,
    Experiment,
    Plan,
    Presentation,
    Row,
    Settings,
)
from shallows.uses.papers.experiments.looks import curve, same_share
from shallows.uses.papers.experiments.published_minima import published_minima
from shallows.uses.papers.experiments.reference import EXTRA_NEURONS
from shallows.uses.report.page import Picture

#: Losses below this (E, not ½E) are the global minimum: the lowest other one published is 500 times higher.
GLOBAL = 2e-5
EXTRA = {0: ("n = k", ORANGE, "circle"), 1: ("n = k + 1", BLUE, "diamond"), 2: ("n = k + 2", GREEN, "square")}
REFERENCE_RUNS = 200


def cells(plan: Plan) -> list[Settings]:
    """k up to 20, as in Safran and Shamir's Table 2."""
    sizes = plan.pick([20, 15, 10, 7], list(range(20, 5, -1)))
    runs = plan.pick(60, 200)
    return [{"k": k, "n": k + extra, "runs": runs, "seed": plan.seed} for k in sizes for extra in EXTRA]


def shares(settings: Settings) -> list[Row]:
    """One row: the share of runs at the global minimum."""
    k, n, runs = settings["k"], settings["n"], settings["runs"]
    source = np.random.default_rng([settings["seed"], k, n])
    found = ensemble(relu_problem(k, n), runs, rng=source, cores=1, loss_tolerance=GLOBAL / 20)
    at_global = found.losses < GLOBAL
    others = found.losses[~at_global]
    return [
        {
            "k": k, "n": n, "runs": runs, "share_of_global": float(np.mean(at_global)),
            "largest_global_loss": float(found.losses[at_global].max()) if at_global.any() else None,
            "smallest_other_loss": float(others.min()) if len(others) else None,
            "not_ended": int(np.sum(~found.ended)),
        }
    ]  # fmt: skip


def present(rows: list[Row], plan: Plan) -> Presentation:
    """Shares by k, a curve a number of extra neurons."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for extra, (name, colour, symbol) in EXTRA.items():
        mine = sorted((row for row in rows if _extra(row) == extra), key=lambda row: int(row["k"] or 0))
        figure.add_scatter(
            x=[row["k"] for row in mine], y=[row["share_of_global"] for row in mine], name=name,
            **curve(colour, symbol),
        )  # fmt: skip
    styled(figure, height=400)
    figure.update_xaxes(title_text="k, neurons of the teacher")
    figure.update_yaxes(title_text="share at the global minimum", range=[-0.03, 1.05])
    caption = (
        f"Share of {rows[0]['runs']} gradient-descent runs from Xavier starts that end at the global minimum, with no, "
        "one and two neurons more than the teacher."
    )
    return Presentation(
        (
            "The paper's motivation: fewer runs end elsewhere with one extra neuron, and none with two, for n ≤ 20.",
        ),
        [Picture("Extra neurons", figure, caption)],
        [
            found
            for row in sorted(rows, key=lambda r: (int(r["k"] or 0), int(r["n"] or 0)))
            for found in _compare(row)
        ],
    )


def _extra(row: Row) -> int:
    return int(row["n"] or 0) - int(row["k"] or 0)


def _compare(row: Row) -> list[Comparison]:
    k, n, runs = int(row["k"] or 0), int(row["n"] or 0), int(row["runs"] or 0)
    share = float(row["share_of_global"] or 0)
    name, ours = f"k = {k}, n = {n}: share at the global minimum", f"{share:.3f} of {runs}"
    if n == k:
        known = published_minima(k)[0].count / 500
        return [
            Comparison(
                name,
                f"{known:.3f} of 500",
                ours,
                same_share(share, runs, known, 500),
                "the authors' repository",
            )
        ]
    if (k, n) in EXTRA_NEURONS:
        known = EXTRA_NEURONS[k, n]
        agrees = same_share(share, runs, known, REFERENCE_RUNS)
        return [Comparison(name, f"{known:.2f} of 200", ours, agrees, "an independent reproduction")]
    if n == k + 2 and n <= 20:
        return [Comparison(name, "1: no other minimum met", ours, share == 1.0, "paper, introduction")]
    return [Comparison(name, "", ours, None, "")]


EXPERIMENTS = (
    Experiment(
        "003-extra-neurons", "One or two extra neurons",
        "How often descent finds the global minimum for n = k, k+1, k+2.",
        cells, shares, present,
    ),
)  # fmt: skip
