"""Paper 003, appendix D.1, Table 1: curvature along random and adversarial directions (Conjecture 1)."""

from __future__ import annotations

import numpy as np

from shallows.questions.relu.most_directions import TABLE_1, conjecture_row
from shallows.support.theme import CYCLE
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

#: A minimum of 1,000 samples varies; two of them are called the same within this factor.
FACTOR = 1.5
FULL = 1000


def cells(plan: Plan) -> list[Settings]:
    """The nine pairs (k, m), the largest first."""
    samples = plan.pick(50, FULL)
    return [{"k": k, "m": m, "samples": samples, "seed": plan.seed} for k, m in sorted(TABLE_1, reverse=True)]


def curvatures(settings: Settings) -> list[Row]:
    """One row of the table."""
    k, m = settings["k"], settings["m"]
    row = conjecture_row(k, m, settings["samples"], np.random.default_rng([settings["seed"], k, m]))
    printed = TABLE_1[k, m]
    return [
        {
            "k": k, "m": m, "samples": row.samples, "smallest_excess": row.smallest_excess,
            "published_excess": printed[0], "smallest_adversarial": row.smallest_adversarial,
            "published_adversarial": printed[1],
        }
    ]  # fmt: skip


def present(rows: list[Row], plan: Plan) -> Presentation:
    """Two panels by m, a colour a k, printed numbers as open symbols."""
    titles = ["Gaussian gᵢⱼ: min (left − right)/σ²", "Σⱼ gᵢⱼ = 0: min left/σ²"]
    figure = panels(titles, 2, 420)
    rows = sorted(rows, key=lambda row: (int(row["k"] or 0), int(row["m"] or 0)))
    for colour, k in zip(CYCLE, sorted({int(row["k"] or 0) for row in rows}), strict=False):
        mine = [row for row in rows if row["k"] == k]
        for number, kind in enumerate(("excess", "adversarial")):
            m = [row["m"] for row in mine]
            figure.add_scatter(
                x=m, y=[row[f"smallest_{kind}"] for row in mine], mode="lines+markers", name=f"k = {k}",
                line={"color": colour}, marker={"size": 8}, legendgroup=str(k), showlegend=number == 0,
                **place(number, 2),
            )  # fmt: skip
            figure.add_scatter(
                x=m, y=[row[f"published_{kind}"] for row in mine], mode="markers", name="printed",
                marker={"color": colour, "symbol": "circle-open", "size": 14, "line": {"width": 2}},
                legendgroup=str(k), showlegend=False, **place(number, 2),
            )  # fmt: skip
    figure.update_yaxes(type="log")
    figure.update_xaxes(title_text="m, neurons a teacher neuron", tickvals=[2, 5, 10])
    samples = int(rows[0]["samples"] or 0)
    caption = (
        f"Smallest of {samples:,} samples, for ½E, σ = 1e-5; open circles: printed, of 1,000 samples. It is "
        "reproduced with standard deviation 1e-5, where the paper says variance."
    )
    return Presentation(
        (
            "Conjecture 1: the difference of the two sides is positive. The paper finds it so in random directions, "
            "and growing with m. The conjecture is false all the same: a turn of two neurons has a negative "
            "difference, for every k and m (`shallows verify --claim conj-1`), which random steps do not meet.",
        ),
        [Picture("Smallest curvature", figure, caption)],
        [found for row in rows for found in _compare(row)],
    )


def _compare(row: Row) -> list[Comparison]:
    """Values within a factor; of fewer samples than the paper's the minimum is larger, and nothing is decided."""
    found = []
    for kind in ("excess", "adversarial"):
        ours, printed = float(row[f"smallest_{kind}"] or 0), float(row[f"published_{kind}"] or 0)
        close = 1 / FACTOR < ours / printed < FACTOR
        agrees = close if int(row["samples"] or 0) >= FULL else None
        name = "Gaussian" if kind == "excess" else "adversarial"
        found.append(
            Comparison(f"k = {row['k']}, m = {row['m']}, {name}", f"{printed:g}", f"{ours:.3g}", agrees)
        )
    return found


EXPERIMENTS = (
    Experiment(
        "003-table-1", "Table 1", "The smallest curvature near a global minimum in sampled directions (Conjecture 1).",
        cells, curvatures, present,
    ),
)  # fmt: skip
