"""Training: flows, descents and ensembles for any problem."""

from shallows.descent.descend import descend
from shallows.descent.ensemble import ensemble
from shallows.descent.flow import FlowOptions
from shallows.descent.matching import Match
from shallows.descent.minima import Minimum
from shallows.descent.outcome import Ensemble, load_ensemble
from shallows.descent.run import Run, Status, Trajectory
from shallows.descent.starts import starts
from shallows.descent.traps import escape_probability, flow_invariants, is_trapped, trap_probability

__all__ = [
    "Ensemble",
    "FlowOptions",
    "Match",
    "Minimum",
    "Run",
    "Status",
    "Trajectory",
    "descend",
    "ensemble",
    "escape_probability",
    "flow_invariants",
    "is_trapped",
    "load_ensemble",
    "starts",
    "trap_probability",
]
