"""The built-in quantities: what a sweep can compute in a cell by name. Each returns a flat dict, a column an entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shallows.questions.quadratic.initialisation import start_probability
from shallows.support.errors import InvalidProblem

if TYPE_CHECKING:
    from shallows.model.problem import Problem
    from shallows.questions.descent.results.ensemble import Ensemble

QUANTITIES = {
    "chart": "shallows.uses.sweep.quantities:chart_counts",
    "connections": "shallows.uses.sweep.quantities:connection_counts",
    "ensemble": "shallows.uses.sweep.quantities:ensemble_shares",
    "barrier": "shallows.uses.sweep.quantities:barrier",
    "generalisation-error": "shallows.uses.sweep.quantities:generalisation_error",
    "barrier-start-probability": "shallows.uses.sweep.quantities:barrier_start_probability",
    "variant-success": "shallows.uses.sweep.quantities:variant_success",
}
REFERENCES = ("lowest", "chart", "floor")
#: Gradient norms, in units of E y², to which descents of a sweep are taken: losses are then known to rounding wherever
#: curvatures are above 1e-8 of E y², and runs that end at one minimum are counted as one.
SETTLED = 1e-12


def chart_counts(
    problem: Problem, seed: int, method: str = "auto", certify: bool = True
) -> dict[str, float | int | str]:
    """The numbers of critical points: `real` and `complex` at rank = width, by rank, and by kind over all ranks."""
    from shallows.questions.charts.chart import chart

    found = chart(problem, method=method, certify=certify, rng=seed)
    rank = max(found.real_count, default=0)
    columns: dict[str, float | int | str] = {
        "real": found.real_count.get(rank, 0),
        "points": len(found.points),
        "global_minima": found.count("global minimum"),
        "local_minima": found.count("local minimum"),
        "saddles": found.count("saddle"),
        "families": len(found.families),
        "lowest_loss": float(found.losses[0]),
        "completeness": found.completeness,
        "method": found.method,
    }
    if rank in found.complex_count:
        columns["complex"] = found.complex_count[rank]
    return columns | {f"real_rank_{r}": count for r, count in sorted(found.real_count.items())}


def connection_counts(problem: Problem, seed: int, space: str = "function") -> dict[str, float | int | str]:
    """How minima connect: `leaves`, `joins`, the loss at the lowest join, and the least height of one above a minimum.

    Where there is one valley, and no join, the last two are not a number.
    """
    from shallows.questions.charts.chart import chart

    tree = chart(problem, rng=seed).connections(space)
    heights = [escape.height for leaf in tree.leaves if (escape := tree.easiest_escape(leaf)) is not None]
    return {
        "leaves": len(tree.leaves),
        "joins": len(tree.edges),
        "lowest_join": tree.edges[0].loss if tree.edges else float("nan"),
        "lowest_barrier": min(heights, default=float("nan")),
        "known": tree.known,
    }


def ensemble_shares(
    problem: Problem,
    seed: int,
    runs: int = 100,
    method: str = "gd",
    init: str = "xavier",
    step: float | None = None,
    tolerance: float = SETTLED,
    global_loss: str | float = "lowest",
    distinct: bool = False,
    iterations: int | None = None,
    polish: bool = True,
    loss_tolerance: float | None = None,
    noise: float = 0.01,
    per_neuron: bool = False,
    batch_size: int = 32,
    decay: float = 0.5,
) -> dict[str, float | int]:
    """Where training ends: how many of the runs reach the global minimum, and the losses.

    `global_loss` is what counts as global: "lowest" (the lowest loss found, an upper bound), "chart" (the chart's
    minimum), "floor" (the unconstrained optimum: least squares), or a number, 0 for a realisable teacher. A run is
    there when its loss is within 1e-7·E y² (or `loss_tolerance`) of it. `distinct` counts the minima up to symmetry.
    """
    from shallows.questions.descent.ensemble import ensemble

    result = ensemble(
        problem, runs, method, init, step, tolerance, seed, cores=1, iterations=iterations, polish=polish,
        loss_tolerance=loss_tolerance, noise=noise, per_neuron=per_neuron, batch_size=batch_size, decay=decay,
    )  # fmt: skip
    reference = _reference(problem, result, global_loss, seed)
    at_global = int(np.count_nonzero(result.losses <= reference + _room(result)))
    columns: dict[str, float | int] = {
        "runs": len(result),
        "at_global": at_global,
        "share_of_global": at_global / len(result),
        "global_loss": reference,
        "lowest_loss": float(result.losses.min()),
        "median_loss": float(np.median(result.losses)),
        "converged": int(np.count_nonzero(result.converged)),
        "iterations": float(np.mean(result.iterations)),
    }
    if distinct:
        columns["minima"] = len(result.minima)
    return columns


def _room(result: Ensemble) -> float:
    from shallows.questions.descent.results.ensemble import GLOBAL

    return max(GLOBAL * result.scale, result.loss_tolerance or 0.0)


def _reference(problem: Problem, result: Ensemble, global_loss: str | float, seed: int) -> float:
    if not isinstance(global_loss, str):
        return float(global_loss)
    if global_loss == "lowest":
        return float(result.losses.min())
    if global_loss == "floor":
        return float(problem.floor)
    if global_loss == "chart":
        from shallows.questions.charts.chart import chart

        return float(chart(problem, rng=seed).losses[0])
    raise InvalidProblem(
        f"global_loss is {global_loss!r}; expected a number or one of {', '.join(REFERENCES)}."
    )


def barrier(problem: Problem, seed: int, rank: int | None = None) -> dict[str, float | str]:
    """The least loss over networks of rank at most `rank`, n − 1 by default (paper 001, Theorem 2.1)."""
    from shallows.questions.quadratic.barrier import energy_barrier

    if problem.target is None:
        raise InvalidProblem(
            "A barrier needs a teacher; this problem has labelled samples. Fix: give a target."
        )
    found = energy_barrier(problem.target, rank, data=problem.data, rng=seed)
    return {
        "lower": found.lower,
        "exact": found.exact,
        "example": found.example,
        "rank": found.rank,
        "method": found.method,
    }


def generalisation_error(
    d: int, samples: int, seed: int, runs: int = 5, width: int | None = None, tolerance: float = SETTLED
) -> dict[str, float | int]:
    """Students trained on `samples` points of a random teacher: what they miss on the whole distribution.

    Errors are in units of E y². From d(d+1)/2 samples on every interpolator generalises; below, there is one with an
    error of at least 2σ⁴ (paper 001, Theorems 2.6 and 2.9): `constructed` and `bound`.
    """
    from shallows.uses.papers.experiments.generalisation import GENERALISES, generalisation_jump

    jump = generalisation_jump(d, [samples], runs=runs, width=width, tolerance=tolerance, rng=seed)
    trained = jump.trained[0]
    generalised = int(np.count_nonzero(trained < GENERALISES))
    return {
        "threshold": d * (d + 1) // 2,
        "median_error": float(np.median(trained)),
        "largest_error": float(trained.max()),
        "risk": float(jump.risks[0]),
        "constructed": float(jump.constructed[0]),
        "bound": jump.bound,
        "students": runs,
        "generalised": generalised / runs,
    }


def barrier_start_probability(
    d: int, ratio: float, seed: int, gamma: float | str = "m", barrier: str = "paper", trials: int = 2000
) -> dict[str, float | int]:
    """How often WᵀW = γI starts below the barrier of a random teacher with m = ratio·d² rows (paper 001, Th. 2.5)."""
    found = start_probability(d, round(ratio * d**2), gamma, barrier=barrier, trials=trials, rng=seed)
    return {"m": found.m, "teachers": found.trials, "probability": found.probability}


def variant_success(
    variant: str,
    data: str,
    width: int,
    seed: int,
    d: int = 10,
    samples: int = 1500,
    runs: int = 20,
    epochs: int = 30_000,
) -> dict[str, float | int]:
    """One data set of Figure 2 of paper 002: the share of runs of a variant that reach the least-squares optimum.

    `variant` is "plain", "norm" or "orthogonality" (which has one run: nothing in it is random), `data` is "diag",
    "gauss" or "indep"; `share` has the paper's tolerance of 0.005, `strict_share` a relative excess below 1e-3.
    """
    from shallows.uses.papers.experiments.success_rates import success_rate

    found = success_rate(
        variant, data, width, d=d, samples=samples, sets=1, runs=runs, epochs=epochs, rng=seed
    )
    return {"runs": found.runs, "share": found.share, "strict_share": found.strict_share}
