"""Paper 001 as experiments: the sample threshold of Theorem 2.9 and the initialisation of Theorem 2.5."""

from __future__ import annotations

import numpy as np

from shallows.questions.quadratic.initialisation import start_probability, sufficient_ratio
from shallows.questions.quadratic.sample_span import sample_threshold
from shallows.support.theme import BLUE, CYCLE, ORANGE, styled
from shallows.uses.papers.experiments.experiment import (
    Comparison,
    Experiment,
    Plan,
    Presentation,
    Row,
    Settings,
)
from shallows.uses.papers.experiments.generalisation import GENERALISES, generalisation_jump
from shallows.uses.papers.experiments.looks import curve, guide, panels, place
from shallows.uses.papers.experiments.reference import INITIALISATION
from shallows.uses.report.page import Picture

#: Empirical risks below this, of E y², are zero: training leaves less than 1e-16 (d = 3 to 8, measured).
ZERO_RISK = 1e-12
#: Where zero is drawn on the logarithmic axis.
DRAWN_ZERO = 1e-26
DEVIATIONS = 4.0
GAMMAS = {"m+4d": "dash", "m": "solid"}


def threshold_cells(plan: Plan) -> list[Settings]:
    """A cell a dimension."""
    dimensions, runs = plan.pick(([8, 6, 4, 3], 5), ([16, 12, 10, 8, 6, 4, 3], 20))
    return [{"d": d, "runs": runs, "seed": plan.seed} for d in dimensions]


def threshold(settings: Settings) -> list[Row]:
    """A row a number of samples: errors relative to E y²."""
    d = settings["d"]
    jump = generalisation_jump(d, runs=settings["runs"], rng=settings["seed"])
    return [
        {
            "d": d, "samples": int(count), "threshold": jump.threshold, "runs": settings["runs"],
            "largest_empirical_risk": float(risk), "trained_smallest": float(errors.min()),
            "trained_median": float(np.median(errors)), "trained_largest": float(errors.max()),
            "constructed": float(built),
        }
        for count, risk, errors, built in zip(jump.counts, jump.risks, jump.trained, jump.constructed, strict=True)
    ]  # fmt: skip


def present_threshold(rows: list[Row], plan: Plan) -> Presentation:
    """Generalisation errors against n − n*, a panel a dimension."""
    dimensions = sorted({int(row["d"] or 0) for row in rows})
    columns = min(4, len(dimensions))
    height = 380 if len(dimensions) <= 4 else 680
    titles = [f"d = {d}, n* = {sample_threshold(d)}" for d in dimensions]
    figure = panels(titles, columns, height, shared_yaxes=True)
    compared = []
    for number, d in enumerate(dimensions):
        mine = [row for row in rows if row["d"] == d]
        x = [int(row["samples"] or 0) for row in mine]
        for name, column, colour, symbol in (
            ("trained, median", "trained_median", BLUE, "circle"),
            ("constructed (Theorem 2.9(b))", "constructed", ORANGE, "diamond"),
        ):
            figure.add_scatter(
                x=x, y=[max(float(row[column] or 0.0), DRAWN_ZERO) for row in mine], name=name, legendgroup=name,
                showlegend=number == 0, **curve(colour, symbol), **place(number, columns),
            )  # fmt: skip
        guide(figure, "n*", place(number, columns), x=sample_threshold(d))
        compared += _jump(d, mine)
    figure.update_yaxes(type="log", range=[-27, 1], dtick=6)
    figure.update_yaxes(title_text="generalisation error / E y²", col=1)
    figure.update_xaxes(title_text="samples n", row=1 if height == 380 else 2)
    return Presentation(
        (
            "A network that fits its samples exactly generalises from n* = d(d+1)/2 samples on, and need not one "
            "sample earlier (Theorem 2.9): the error jumps from a constant to rounding.",
        ),
        [
            Picture("The jump at n* samples", figure, (
                "Population loss of networks of width d, trained on n Gaussian samples of a random teacher to zero "
                "empirical risk, and of the interpolator that the proof constructs below n* (from n* on there is none; "
                f"values below {DRAWN_ZERO:g} are drawn there)."
            ))
        ],
        compared,
    )  # fmt: skip


def _jump(d: int, mine: list[Row]) -> list[Comparison]:
    n_star = sample_threshold(d)
    good = [int(r["samples"] or 0) for r in mine if float(r["trained_largest"] or 0) < GENERALISES]
    before = next(row for row in mine if row["samples"] == n_star - 1)
    risk = max(float(row["largest_empirical_risk"] or 0) for row in mine)
    first = min(good) if good else None
    bad = float(before["constructed"] or 0)
    return [
        Comparison(f"d = {d}: all trained networks generalise from", f"n* = {n_star}", f"n = {first}", first == n_star),
        Comparison(
            f"d = {d}: a network that fits n* − 1 samples and is wrong", "exists", f"error {bad:.2g} of E y²",
            bad > GENERALISES,
        ),
        Comparison(f"d = {d}: empirical risk after training", "0", f"at most {risk:.1g} of E y²", risk < ZERO_RISK),
    ]  # fmt: skip


def start_cells(plan: Plan) -> list[Settings]:
    """A cell a point of the curves."""
    trials = plan.pick(2_000, 20_000)
    ratios: list[float] = plan.pick([1.0, 2, 3, 4, 6, 8], [1.0, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 10, 12])
    dimensions = plan.pick([20, 10, 5], [40, 20, 10, 5])
    return [
        {"d": d, "m": round(ratio * d * d), "gamma": gamma, "trials": trials, "seed": plan.seed}
        for d in dimensions for ratio in ratios for gamma in GAMMAS
    ]  # fmt: skip


def start(settings: Settings) -> list[Row]:
    """One row: how often the start is below the barrier."""
    d, m, gamma = settings["d"], settings["m"], settings["gamma"]
    source = np.random.default_rng([settings["seed"], d, m, list(GAMMAS).index(gamma)])
    found = start_probability(d, m, gamma, trials=settings["trials"], rng=source)
    return [
        {
            "d": d, "m": m, "ratio": m / d**2, "gamma": gamma, "trials": found.trials,
            "probability": found.probability, "error": found.error,
        }
    ]  # fmt: skip


def present_start(rows: list[Row], plan: Plan) -> Presentation:
    """Probability by m/d², a colour a dimension."""
    import plotly.graph_objects as go

    figure = go.Figure()
    dimensions = sorted({int(row["d"] or 0) for row in rows})
    for colour, d in zip(CYCLE, dimensions, strict=False):
        for gamma, dash in GAMMAS.items():
            mine = sorted(
                (row for row in rows if row["d"] == d and row["gamma"] == gamma),
                key=lambda r: float(r["ratio"] or 0),
            )
            figure.add_scatter(
                x=[row["ratio"] for row in mine], y=[row["probability"] for row in mine],
                name=f"d = {d}, γ = {gamma}", **curve(colour, "circle" if gamma == "m" else "circle-open", dash),
            )  # fmt: skip
    styled(figure, height=420)
    figure.update_xaxes(title_text="m / d²")
    figure.update_yaxes(title_text="probability below the barrier", range=[-0.03, 1.05])
    return Presentation(
        (
            "The start W₀ᵀW₀ = γI is below the barrier 2σ⁴ of rank-deficient networks with a probability that tends to "
            "one when m is a large multiple of d² (Theorem 2.5); from there descent ends at the global minimum.",
            f"The proof asks for m > {sufficient_ratio():.0f}·d²; a few d² are enough, and fewer with γ = m = E λ than "
            "with the paper's γ = m + 4d.",
        ),
        [
            Picture("Starting below the barrier", figure, (
                f"Probability over {int(rows[0]['trials'] or 0):,} random teachers of m×d Gaussian weights. Solid: "
                "γ = m; dashed: γ = m + 4d, the paper's."
            ))
        ],
        _known_starts(rows),
    )  # fmt: skip


def _known_starts(rows: list[Row]) -> list[Comparison]:
    """The reference has two digits of some 2,000 trials: half a digit and four deviations are allowed."""
    found = []
    for (d, ratio), pair in INITIALISATION.items():
        for gamma, known in zip(GAMMAS, pair, strict=True):
            for row in rows:
                if (
                    row["d"] == d
                    and row["m"] == ratio * d * d
                    and row["gamma"] == gamma
                    and known is not None
                ):
                    ours, trials = float(row["probability"] or 0), int(row["trials"] or 1)
                    spread = np.sqrt(
                        max(ours * (1 - ours), known * (1 - known), 1e-3) * (1 / trials + 1 / 2000)
                    )
                    found.append(
                        Comparison(
                            f"d = {d}, m = {ratio}·d², γ = {gamma}", f"{known:g}", f"{ours:.3f}",
                            bool(abs(ours - known) <= 0.005 + DEVIATIONS * spread), "an independent reproduction",
                        )
                    )  # fmt: skip
    return found


EXPERIMENTS = (
    Experiment(
        "001-sample-threshold", "The sample threshold (Theorem 2.9)",
        "The generalisation error jumps to zero at n* = d(d+1)/2 samples.", threshold_cells, threshold,
        present_threshold,
    ),
    Experiment(
        "001-initialisation", "The initialisation (Theorem 2.5)",
        "How often a scaled orthogonal start is below the energy barrier, by width.", start_cells, start, present_start,
    ),
)  # fmt: skip
