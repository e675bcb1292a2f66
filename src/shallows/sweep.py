"""Sweeps: many problems from one file, on one machine or a cluster; results that survive whatever happens."""

from shallows.uses.sweep.estimate import Estimate, estimate_sweep
from shallows.uses.sweep.faults import StoreError
from shallows.uses.sweep.faults import SweepStopped as SweepStopped
from shallows.uses.sweep.figures import heat_map, line, phase_diagram
from shallows.uses.sweep.plan import Plan
from shallows.uses.sweep.results import SweepStatus as SweepStatus
from shallows.uses.sweep.results import load_sweep as load_sweep
from shallows.uses.sweep.results import sweep_status as sweep_status
from shallows.uses.sweep.run import SweepRun as SweepRun
from shallows.uses.sweep.run import run_sweep as run_sweep
from shallows.uses.sweep.store import load_plan

# `name as name`: a name of `shallows` itself; older scripts have it from here.
__all__ = [
    "Estimate",
    "Plan",
    "StoreError",
    "estimate_sweep",
    "heat_map",
    "line",
    "load_plan",
    "phase_diagram",
]
