"""The built-in quantities: what a sweep can compute in a cell by name. Each returns a flat dict, a column an entry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shallows.errors import InvalidProblem

if TYPE_CHECKING:
    from shallows.descent import Ensemble
    from shallows.problem import Problem

QUANTITIES = {
    "chart": "shallows.sweep.quantities:chart_counts",
    "ensemble": "shallows.sweep.quantities:ensemble_shares",
}
REFERENCES = ("lowest", "chart", "floor")


def chart_counts(
    problem: Problem, seed: int, method: str = "auto", certify: bool = True
) -> dict[str, float | int | str]:
    """The numbers of critical points: `real` and `complex` at rank = width, by rank, and by kind over all ranks."""
    from shallows.critical import chart

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


def ensemble_shares(
    problem: Problem,
    seed: int,
    runs: int = 100,
    method: str = "gd",
    init: str = "xavier",
    step: float | None = None,
    tolerance: float = 1e-12,
    global_loss: str | float = "lowest",
    distinct: bool = False,
    **options: Any,
) -> dict[str, float | int]:
    """Where training ends: how many of the runs reach the global minimum, and the losses.

    `global_loss` is what counts as global: "lowest" (the lowest loss found, an upper bound), "chart" (the chart's
    minimum), "floor" (the unconstrained optimum: least squares), or a number, 0 for a realisable teacher. A run is
    there when its loss is within 1e-7·E y² of it. `distinct` also counts the minima up to symmetry.
    """
    from shallows.descent import ensemble

    result = ensemble(problem, runs, method, init, step, tolerance, seed, cores=1, **options)
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
    from shallows.descent.outcome import GLOBAL

    return max(GLOBAL * result.scale, result.loss_tolerance or 0.0)


def _reference(problem: Problem, result: Ensemble, global_loss: str | float, seed: int) -> float:
    if not isinstance(global_loss, str):
        return float(global_loss)
    if global_loss == "lowest":
        return float(result.losses.min())
    if global_loss == "floor":
        return float(problem.floor)
    if global_loss == "chart":
        from shallows.critical import chart

        return float(chart(problem, rng=seed).losses[0])
    raise InvalidProblem(
        f"global_loss is {global_loss!r}; expected a number or one of {', '.join(REFERENCES)}."
    )
