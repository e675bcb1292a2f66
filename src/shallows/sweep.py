"""Sweeps: many problems from one file, on one machine or a cluster; results that survive whatever happens."""

from shallows.uses.sweep.estimate import Estimate, estimate_sweep
from shallows.uses.sweep.faults import SweepStopped
from shallows.uses.sweep.plan import Plan
from shallows.uses.sweep.results import SweepStatus, load_sweep, sweep_status
from shallows.uses.sweep.run import SweepRun, run_sweep
from shallows.uses.sweep.store import StoreError

__all__ = [
    "Estimate",
    "Plan",
    "StoreError",
    "SweepRun",
    "SweepStatus",
    "SweepStopped",
    "estimate_sweep",
    "load_sweep",
    "run_sweep",
    "sweep_status",
]
