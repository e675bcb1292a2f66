"""The loss landscapes of shallow neural networks.

Everything public is here; the parts that need more than NumPy are loaded when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shallows.activations import Polynomial, Power, ReLU, Smooth
from shallows.charts import Certificate, Chart, CriticalFamily, CriticalPoint, load_chart
from shallows.critical import chart
from shallows.data import IID, Frobenius, Gaussian, Metric, Mixture, Radial, Samples, Sphere
from shallows.diagnostics import DerivativeCheck, check_derivatives
from shallows.errors import (
    IncompleteChart,
    InvalidProblem,
    MissingExtra,
    NotConverged,
    NotDifferentiable,
    ShallowsError,
)
from shallows.network import Network
from shallows.problem import Problem
from shallows.tensors import SymmetricTensor

if TYPE_CHECKING:
    from shallows import certify, discriminants, homotopy, learn, quadratic, relu, sweep
    from shallows.citation import citation
    from shallows.descent import (
        Ensemble,
        FlowOptions,
        Match,
        Minimum,
        Run,
        Trajectory,
        escape_probability,
        flow_invariants,
        is_trapped,
        load_ensemble,
        trap_probability,
    )
    from shallows.descent.descend import descend
    from shallows.descent.ensemble import ensemble
    from shallows.descent.starts import starts
    from shallows.discriminants import focal_cloud, focal_slice, landscape_regions
    from shallows.discriminants.follow import follow
    from shallows.geometry.bad_minima import BadMinimum, bad_minimum
    from shallows.geometry.diverging import diverging_sequence
    from shallows.geometry.escape import Escape, escape_path, explain_escape
    from shallows.geometry.fiber_path import fiber_path
    from shallows.geometry.fibers import (
        DifferentComponents,
        FiberInvariant,
        fiber_components,
        fiber_invariant,
    )
    from shallows.geometry.focal import FocalPoint, focal_points
    from shallows.geometry.identifiability import is_identifiable
    from shallows.geometry.parameterization import (
        branch_witness,
        is_critical_parameter,
        parameterization_rank,
    )
    from shallows.geometry.paths import Path
    from shallows.geometry.real_rank import real_rank
    from shallows.geometry.symmetries import trivial_symmetry
    from shallows.geometry.widths import Regime, filling_bounds, filling_width, regime, thick_width
    from shallows.papers import Claim, Evidence, claims
    from shallows.problem_file import load_problem
    from shallows.quadratic import Barrier, Span, energy_barrier, spans_symmetric
    from shallows.relu.certificate import CertifiedMinimum, certify_minimum
    from shallows.relu.setting import relu_problem
    from shallows.relu.symmetric import SymmetricMinimum, symmetric_minimum
    from shallows.sweep import SweepRun, SweepStatus, SweepStopped, load_sweep, run_sweep, sweep_status

#: Where the names that are loaded on first use live.
_LATER = {
    "BadMinimum": "geometry.bad_minima",
    "Barrier": "quadratic",
    "CertifiedMinimum": "relu.certificate",
    "Claim": "papers",
    "DifferentComponents": "geometry.fibers",
    "Ensemble": "descent",
    "Escape": "geometry.escape",
    "Evidence": "papers",
    "FiberInvariant": "geometry.fibers",
    "FlowOptions": "descent",
    "FocalPoint": "geometry.focal",
    "Match": "descent",
    "Minimum": "descent",
    "Path": "geometry.paths",
    "Regime": "geometry.widths",
    "Run": "descent",
    "Span": "quadratic",
    "SweepRun": "sweep",
    "SweepStatus": "sweep",
    "SweepStopped": "sweep",
    "SymmetricMinimum": "relu.symmetric",
    "Trajectory": "descent",
    "bad_minimum": "geometry.bad_minima",
    "branch_witness": "geometry.parameterization",
    "certify_minimum": "relu.certificate",
    "citation": "citation",
    "claims": "papers",
    "descend": "descent",
    "diverging_sequence": "geometry.diverging",
    "energy_barrier": "quadratic",
    "ensemble": "descent",
    "escape_path": "geometry.escape",
    "escape_probability": "descent",
    "explain_escape": "geometry.escape",
    "fiber_components": "geometry.fibers",
    "fiber_invariant": "geometry.fibers",
    "fiber_path": "geometry.fiber_path",
    "filling_bounds": "geometry.widths",
    "filling_width": "geometry.widths",
    "flow_invariants": "descent",
    "focal_cloud": "discriminants",
    "focal_points": "geometry.focal",
    "focal_slice": "discriminants",
    "follow": "discriminants",
    "is_critical_parameter": "geometry.parameterization",
    "is_identifiable": "geometry.identifiability",
    "is_trapped": "descent",
    "landscape_regions": "discriminants",
    "load_ensemble": "descent",
    "load_problem": "problem_file",
    "load_sweep": "sweep",
    "parameterization_rank": "geometry.parameterization",
    "real_rank": "geometry.real_rank",
    "regime": "geometry.widths",
    "relu_problem": "relu.setting",
    "run_sweep": "sweep",
    "spans_symmetric": "quadratic",
    "starts": "descent",
    "sweep_status": "sweep",
    "symmetric_minimum": "relu.symmetric",
    "thick_width": "geometry.widths",
    "trap_probability": "descent",
    "trivial_symmetry": "geometry.symmetries",
}
_MODULES = ("certify", "discriminants", "homotopy", "learn", "quadratic", "relu", "sweep")

__all__ = [
    "IID",
    "BadMinimum",
    "Barrier",
    "Certificate",
    "CertifiedMinimum",
    "Chart",
    "Claim",
    "CriticalFamily",
    "CriticalPoint",
    "DerivativeCheck",
    "DifferentComponents",
    "Ensemble",
    "Escape",
    "Evidence",
    "FiberInvariant",
    "FlowOptions",
    "FocalPoint",
    "Frobenius",
    "Gaussian",
    "IncompleteChart",
    "InvalidProblem",
    "Match",
    "Metric",
    "Minimum",
    "MissingExtra",
    "Mixture",
    "Network",
    "NotConverged",
    "NotDifferentiable",
    "Path",
    "Polynomial",
    "Power",
    "Problem",
    "Radial",
    "ReLU",
    "Regime",
    "Run",
    "Samples",
    "ShallowsError",
    "Smooth",
    "Span",
    "Sphere",
    "SweepRun",
    "SweepStatus",
    "SweepStopped",
    "SymmetricMinimum",
    "SymmetricTensor",
    "Trajectory",
    "bad_minimum",
    "branch_witness",
    "certify",
    "certify_minimum",
    "chart",
    "check_derivatives",
    "citation",
    "claims",
    "descend",
    "discriminants",
    "diverging_sequence",
    "energy_barrier",
    "ensemble",
    "escape_path",
    "escape_probability",
    "explain_escape",
    "fiber_components",
    "fiber_invariant",
    "fiber_path",
    "filling_bounds",
    "filling_width",
    "flow_invariants",
    "focal_cloud",
    "focal_points",
    "focal_slice",
    "follow",
    "homotopy",
    "is_critical_parameter",
    "is_identifiable",
    "is_trapped",
    "landscape_regions",
    "learn",
    "load_chart",
    "load_ensemble",
    "load_problem",
    "load_sweep",
    "parameterization_rank",
    "quadratic",
    "real_rank",
    "regime",
    "relu",
    "relu_problem",
    "run_sweep",
    "spans_symmetric",
    "starts",
    "sweep",
    "sweep_status",
    "symmetric_minimum",
    "thick_width",
    "trap_probability",
    "trivial_symmetry",
]


def __getattr__(name: str) -> Any:
    """Load a later part of the package when one of its names is first asked for."""
    if name in _MODULES:
        value: Any = import_module(f"shallows.{name}")
    elif name in _LATER:
        value = getattr(import_module(f"shallows.{_LATER[name]}"), name)
    else:
        raise AttributeError(f"module 'shallows' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
