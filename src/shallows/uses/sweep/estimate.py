"""What a sweep would cost: a few of its missing rows are computed and thrown away."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from shallows.support.arguments import typed
from shallows.support.budget import duration
from shallows.support.checks import counted
from shallows.uses.sweep.cell import compute_rows
from shallows.uses.sweep.plan import Plan
from shallows.uses.sweep.run import missing_rows
from shallows.uses.sweep.store import PLAN

SAMPLED = 3
#: Stop sampling when it has taken so long, in seconds.
LONG = 10.0


@dataclass(frozen=True)
class Estimate:
    """How many rows there are and are missing, and how long the sampled ones took.

    >>> sh.sweep.Estimate(cells=10, repeats=2, missing=18, seconds=(1.0, 3.0), errors=())
    10 cells × 2 repeats = 20 rows, 18 to compute
    sampled 2 rows: 1 to 3 s each; about 36 s on one core, divided by the number of workers
    """

    cells: int
    repeats: int
    missing: int
    seconds: tuple[float, ...]
    errors: tuple[str, ...]

    @property
    def total(self) -> float:
        """Seconds on one core for all missing rows; NaN when nothing was sampled."""
        return float(np.mean(self.seconds)) * self.missing if self.seconds else float("nan")

    def __repr__(self) -> str:
        lines = [
            f"{counted(self.cells, 'cell')} × {counted(self.repeats, 'repeat')} = "
            f"{counted(self.cells * self.repeats, 'row')}, {self.missing} to compute"
        ]
        if self.seconds:
            low, high = min(self.seconds), max(self.seconds)
            lines.append(
                f"sampled {counted(len(self.seconds), 'row')}: {low:.3g} to {high:.3g} s each; about "
                f"{duration(self.total)} on one core, divided by the number of workers"
            )
        lines += [f"a sampled row has an error: {error}" for error in self.errors]
        return "\n".join(lines)


@typed
def estimate_sweep(sweep: str | Path | Plan, out: str | Path | None = None) -> Estimate:
    """The number of rows, those missing in `out`, and the time of up to three random ones; nothing is written.

    >>> axes = [{"path": "compute.ratio", "values": [1, 4, 8]}]
    >>> compute = {"what": "barrier-start-probability", "d": 5, "gamma": "m", "trials": 500}
    >>> plan = sh.sweep.Plan.from_document({"repeats": 2, "axes": axes, "compute": compute})
    >>> plan
    Plan(ratio: 3 cells × 2 repeats, seed 0)
    >>> cost = sh.sweep.estimate_sweep(plan)
    >>> cost.missing, len(cost.seconds), cost.errors
    (6, 3, ())
    """
    plan = sweep if isinstance(sweep, Plan) else Plan.from_file(sweep)
    there = out is not None and (Path(out) / PLAN).exists()
    rows = missing_rows(plan, Path(out), retry=False) if there and out is not None else None
    chosen = _chosen(plan, rows)
    seconds, errors = [], []
    if chosen:
        compute_rows(plan, chosen[:1])  # compiles what has to be compiled, once
    begin = time.perf_counter()
    for row in chosen:
        if time.perf_counter() - begin > LONG:
            break
        (result,) = compute_rows(plan, [row])
        seconds.append(float(result["seconds"]))
        if result["error"]:
            errors.append(str(result["error"]))
    missing = len(plan) if rows is None else len(rows)
    return Estimate(plan.cells, plan.section.repeats, missing, tuple(seconds), tuple(errors))


def _chosen(plan: Plan, rows: list[int] | None) -> list[int]:
    if rows is not None:
        return rows[:SAMPLED]  # they are shuffled
    rng = np.random.default_rng(plan.section.seed)
    return [int(i) for i in rng.choice(len(plan), min(SAMPLED, len(plan)), replace=False)]
