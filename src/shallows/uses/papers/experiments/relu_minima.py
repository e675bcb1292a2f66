"""Paper 003, section 4.2: 500 Xavier and 100 large starts for each n = k; every minimum, and what it is like.

Numbers of minima are for ½E, as in the paper. Its counts for k = 6 to 20 are published with the code.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shallows.support.theme import BLUE, CYCLE, GREEN, ORANGE, VERMILLION, styled
from shallows.uses.papers.experiments.experiment import (
    Comparison,
    Experiment,
    Plan,
    Presentation,
    Row,
    Settings,
)
from shallows.uses.papers.experiments.looks import curve, panels, place, same_share
from shallows.uses.papers.experiments.published_minima import published_minima
from shallows.uses.papers.experiments.relu_training import SAME_NORM_SUM, experiment, homogeneity
from shallows.uses.report.page import Picture

PUBLISHED = range(6, 21)
PUBLISHED_RUNS = 500
#: Counts are called the same when such a difference is not as rare as this: one of a thousand true comparisons fails.
LEAST_P = 1e-3
#: Norm sums and eigenvalues at end points (gradient norm 1e-12) are right to this: measured 1e-15, 6e-15 (k ≤ 30).
ROUNDING = 1e-9
#: Published eigenvalues agree with ours to 5e-10 (measured, all minima of k = 6 to 20).
PUBLISHED_DIGITS = 1e-7


#: Xavier and large starts for k above 30, where every end point is a minimum of its own: what fits in minutes.
FEWER = {100: (10, 2), 90: (10, 2), 80: (15, 3), 70: (20, 4), 60: (25, 5), 50: (40, 8), 40: (60, 12)}


def cells(plan: Plan) -> list[Settings]:
    """k = 6, …, 30 with the paper's 600 starts, k = 40, …, 100 with `FEWER`; the slowest first."""
    starts = plan.pick(
        dict.fromkeys([15, 12, 10, 8, 7, 6], (200, 40)), FEWER | dict.fromkeys(range(30, 5, -1), (500, 100))
    )
    return [{"k": k, "runs": runs, "large": large, "seed": plan.seed} for k, (runs, large) in starts.items()]


def minima(settings: Settings) -> list[Row]:
    """A row a minimum."""
    k, runs, large = settings["k"], settings["runs"], settings["large"]
    found = experiment(k, runs, large, rng=settings["seed"], cores=1)
    return [
        {
            "k": k, "runs": runs, "large_runs": large, "blocks": each.blocks, "xavier": each.xavier,
            "large": each.large, "published": None if each.published is None else each.published.count,
            "half_loss": each.half_loss, "norm_sum": each.norm_sum,
            "half_smallest_eigenvalue": each.half_smallest_eigenvalue,
            "published_smallest_eigenvalue":
                None if each.published is None else each.published.half_smallest_eigenvalue,
            "half_split_eigenvalue": each.half_split_eigenvalue, "global": each.is_global,
            "unfinished": found.unfinished,
        }
        for each in found.minima
    ]  # fmt: skip


def present(rows: list[Row], plan: Plan) -> Presentation:
    """Shares by k, eigenvalues, and the tests against the published counts."""
    sizes = sorted({int(row["k"] or 0) for row in rows})
    others = [row for row in rows if not row["global"]]
    gap = max(int(row["k"] or 0) - float(row["norm_sum"] or 0) for row in rows)
    saddles = sum(float(row["half_split_eigenvalue"] or 0) < 0 for row in others)
    return Presentation(
        (
            f"{len(rows)} minima up to permutations of neurons and coordinates, {len(others)} of them not global, for "
            f"n = k from {sizes[0]} to {sizes[-1]}. Theorem 8 assumes norm sums of at most k; the smallest is "
            f"{gap:.3f} below it.",
            f"At {saddles} of the {len(others)} minima that are not global, H′ᵢᵢ has a negative eigenvalue for every "
            "neuron, so that splitting any of them turns the minimum into a saddle (Theorem 9).",
        ),
        [
            Picture("How often the global minimum is found", _shares(rows, sizes), (
                "Share of Xavier starts that end at the global minimum, by k, beside the published counts of 500 runs."
            )),
            Picture("Curvature at the minima", _eigenvalues(others), (
                "Each point is a minimum that is not global. Left: the smallest eigenvalue of the Hessian, positive: "
                "it is a minimum. Right: the largest over the neurons of the smallest eigenvalue of H′ᵢᵢ, negative: "
                "every split of every neuron is a saddle. Both for ½E; the size of a point grows with its count."
            )),
        ],
        [*_assumptions(rows, others), *_shares_compared(rows, sizes), *_counts_compared(rows, sizes)],
    )  # fmt: skip


def _global_share(rows: list[Row], k: int) -> tuple[float, int]:
    mine = [row for row in rows if row["k"] == k]
    runs = int(mine[0]["runs"] or 0)
    return sum(int(row["xavier"] or 0) for row in mine if row["global"]) / runs, runs


def _published_share(k: int) -> float:
    return published_minima(k)[0].count / PUBLISHED_RUNS


def _shares(rows: list[Row], sizes: list[int]) -> Any:
    import plotly.graph_objects as go

    figure = go.Figure()
    figure.add_scatter(x=sizes, y=[_global_share(rows, k)[0] for k in sizes], name="ours", **curve(BLUE))
    figure.add_scatter(
        x=list(PUBLISHED), y=[_published_share(k) for k in PUBLISHED], name="published, 500 runs", mode="markers",
        marker={"color": ORANGE, "symbol": "diamond-open", "size": 11, "line": {"width": 2}},
    )  # fmt: skip
    styled(figure, height=360)
    figure.update_xaxes(title_text="k = n", range=[5.5, max(sizes) + 0.5])
    figure.update_yaxes(title_text="share at the global minimum", range=[-0.03, 1.05])
    return figure


def _eigenvalues(others: list[Row]) -> Any:
    figure = panels(["smallest Hessian eigenvalue", "smallest eigenvalue of H′ᵢᵢ, largest over i"], 2, 400)
    for number, (column, colour) in enumerate(
        (("half_smallest_eigenvalue", GREEN), ("half_split_eigenvalue", VERMILLION))
    ):
        figure.add_scatter(
            x=[row["k"] for row in others], y=[row[column] for row in others], mode="markers", showlegend=False,
            marker={
                "color": colour, "opacity": 0.75,
                "size": [5 + 12 * (int(row["xavier"] or 0) / int(row["runs"] or 1)) ** 0.5 for row in others],
            },
            text=[f"blocks {row['blocks']}: {row['xavier']} runs" for row in others], **place(number, 2),
        )  # fmt: skip
    figure.add_hline(y=0, line={"color": CYCLE[6], "dash": "dot", "width": 1.5})
    figure.update_xaxes(title_text="k = n")
    figure.update_layout(margin={"b": 56})
    return figure


def _assumptions(rows: list[Row], others: list[Row]) -> list[Comparison]:
    excess = max(float(row["norm_sum"] or 0) - int(row["k"] or 0) for row in rows)
    lowest = min(float(row["half_smallest_eigenvalue"] or 0) for row in rows)
    split = max(float(row["half_split_eigenvalue"] or 0) for row in others)
    exact = 0.25 - 1 / (2 * np.pi)
    at_global = max(abs(float(row["half_smallest_eigenvalue"] or 0) - exact) for row in rows if row["global"])
    known = [row for row in rows if row["published_smallest_eigenvalue"] is not None]
    error = max(
        abs(float(row["half_smallest_eigenvalue"] or 0) - float(row["published_smallest_eigenvalue"] or 0))
        for row in known
    )
    return [
        Comparison("norm sum of every minimum", "at most k", f"at most k + {max(excess, 0):.1g}", excess < ROUNDING),
        Comparison("smallest Hessian eigenvalue of every minimum", "positive", f"at least {lowest:.3g}", lowest > 0),
        Comparison("smallest eigenvalue of H′ᵢᵢ, every neuron", "negative", f"at most {split:.3g}", split < 0),
        Comparison(
            "smallest eigenvalue at the global minimum", "¼ − 1/(2π) (Theorem 2)", f"within {at_global:.1g}",
            at_global < ROUNDING,
        ),
        Comparison(
            f"smallest eigenvalues of {len(known)} minima", "published with the code", f"within {error:.1g}",
            error < PUBLISHED_DIGITS, "the authors' repository",
        ),
    ]  # fmt: skip


def _shares_compared(rows: list[Row], sizes: list[int]) -> list[Comparison]:
    found = []
    for k in sizes:
        if k in PUBLISHED:
            share, runs = _global_share(rows, k)
            known = _published_share(k)
            found.append(
                Comparison(
                    f"share at the global minimum, k = {k}", f"{known:.3f} of 500", f"{share:.3f} of {runs}",
                    same_share(share, runs, known, PUBLISHED_RUNS), "the authors' repository",
                )
            )  # fmt: skip
    return found


def _counts_compared(rows: list[Row], sizes: list[int]) -> list[Comparison]:
    """χ² that our counts and the published ones are of one distribution; minima they did not meet are one class."""
    found = []
    for k in sizes:
        if k not in PUBLISHED:
            continue
        mine = [row for row in rows if row["k"] == k]
        known = published_minima(k)
        counts = [[0, each.count] for each in known] + [[int(mine[0]["unfinished"] or 0), 0]]
        for row in mine:
            places = [
                i
                for i, each in enumerate(known)
                if row["published"] is not None and _same(row, each.norm_sum)
            ]
            counts[places[0] if places else -1][0] += int(row["xavier"] or 0)
        test = homogeneity(np.array(counts))
        new = sum(row["published"] is None for row in mine)
        found.append(
            Comparison(
                f"counts of all minima, k = {k}", f"{len(known)} minima",
                f"{len(mine)} minima, {new} new; χ² test p = {test.p_value:.2g}", test.p_value > LEAST_P,
                "the authors' repository",
            )
        )  # fmt: skip
    return found


def _same(row: Row, norm_sum: float) -> bool:
    return abs(float(row["norm_sum"] or 0) - norm_sum) < SAME_NORM_SUM


EXPERIMENTS = (
    Experiment(
        "003-minima", "The experiment of section 4.2",
        "Where gradient descent ends for n = k, norm sums, Hessian and block eigenvalues of every minimum.", cells,
        minima, present,
    ),
)  # fmt: skip
