"""The loss landscapes of shallow neural networks.

Everything public is here; the parts that need more than NumPy are loaded when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Polynomial, Power, ReLU, Smooth
from shallows.model.data.gaussian import Gaussian
from shallows.model.data.iid import IID
from shallows.model.data.metric import Frobenius, Metric
from shallows.model.data.mixture import Mixture
from shallows.model.data.radial import Radial, Sphere
from shallows.model.data.samples import Samples
from shallows.model.derivatives import DerivativeCheck, check_derivatives
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.chart import chart
from shallows.questions.charts.points.family import CriticalFamily
from shallows.questions.charts.points.point import Certificate, CriticalPoint
from shallows.questions.charts.result import Chart, load_chart
from shallows.support.errors import (
    IncompleteChart,
    InvalidProblem,
    MissingExtra,
    NotConverged,
    NotDifferentiable,
    ShallowsError,
)

if TYPE_CHECKING:
    from shallows import certify, discriminants, geometry, homotopy, learn, quadratic, relu, sweep
    from shallows.model.problem_file import load_problem
    from shallows.questions.descent.descend import descend
    from shallows.questions.descent.ensemble import ensemble
    from shallows.questions.descent.methods.flow import FlowOptions
    from shallows.questions.descent.results.ensemble import Ensemble, load_ensemble
    from shallows.questions.descent.results.matching import Match
    from shallows.questions.descent.results.minima import Minimum
    from shallows.questions.descent.results.run import Run, Trajectory
    from shallows.questions.descent.starts import starts
    from shallows.questions.descent.traps import (
        escape_probability,
        flow_invariants,
        is_trapped,
        trap_probability,
    )
    from shallows.questions.discriminants.focal_slices import focal_slice
    from shallows.questions.discriminants.following.follow import follow
    from shallows.questions.discriminants.loci import focal_cloud
    from shallows.questions.discriminants.regions import landscape_regions
    from shallows.questions.geometry.escape.bad_minima import BadMinimum, bad_minimum
    from shallows.questions.geometry.escape.escape import Escape, escape_path, explain_escape
    from shallows.questions.geometry.fibers.components import (
        DifferentComponents,
        FiberInvariant,
        fiber_components,
        fiber_invariant,
    )
    from shallows.questions.geometry.fibers.path import fiber_path
    from shallows.questions.geometry.fibers.symmetries import trivial_symmetry
    from shallows.questions.geometry.manifolds.focal import FocalPoint, focal_points
    from shallows.questions.geometry.paths import Path
    from shallows.questions.geometry.ranks.diverging import diverging_sequence
    from shallows.questions.geometry.ranks.identifiability import is_identifiable
    from shallows.questions.geometry.ranks.parameterization import (
        branch_witness,
        is_critical_parameter,
        parameterization_rank,
    )
    from shallows.questions.geometry.ranks.real_rank import real_rank
    from shallows.questions.geometry.ranks.widths import (
        Regime,
        filling_bounds,
        filling_width,
        regime,
        thick_width,
    )
    from shallows.questions.quadratic.barrier import energy_barrier
    from shallows.questions.quadratic.closed_form_barrier import Barrier
    from shallows.questions.quadratic.sample_span import Span, spans_symmetric
    from shallows.questions.relu.certificate import CertifiedMinimum, certify_minimum
    from shallows.questions.relu.setting import relu_problem
    from shallows.questions.relu.symmetric import SymmetricMinimum, symmetric_minimum
    from shallows.uses.citation import citation
    from shallows.uses.papers.claim import Claim, Evidence
    from shallows.uses.papers.library import claims
    from shallows.uses.sweep.faults import SweepStopped
    from shallows.uses.sweep.results import SweepStatus, load_sweep, sweep_status
    from shallows.uses.sweep.run import SweepRun, run_sweep

#: Where the names that are loaded on first use live.
_LATER = {
    "BadMinimum": "questions.geometry.escape.bad_minima",
    "Barrier": "questions.quadratic.closed_form_barrier",
    "CertifiedMinimum": "questions.relu.certificate",
    "Claim": "uses.papers.claim",
    "DifferentComponents": "questions.geometry.fibers.components",
    "Ensemble": "questions.descent.results.ensemble",
    "Escape": "questions.geometry.escape.escape",
    "Evidence": "uses.papers.claim",
    "FiberInvariant": "questions.geometry.fibers.components",
    "FlowOptions": "questions.descent.methods.flow",
    "FocalPoint": "questions.geometry.manifolds.focal",
    "Match": "questions.descent.results.matching",
    "Minimum": "questions.descent.results.minima",
    "Path": "questions.geometry.paths",
    "Regime": "questions.geometry.ranks.widths",
    "Run": "questions.descent.results.run",
    "Span": "questions.quadratic.sample_span",
    "SweepRun": "uses.sweep.run",
    "SweepStatus": "uses.sweep.results",
    "SweepStopped": "uses.sweep.faults",
    "SymmetricMinimum": "questions.relu.symmetric",
    "Trajectory": "questions.descent.results.run",
    "bad_minimum": "questions.geometry.escape.bad_minima",
    "branch_witness": "questions.geometry.ranks.parameterization",
    "certify_minimum": "questions.relu.certificate",
    "citation": "uses.citation",
    "claims": "uses.papers.library",
    "descend": "questions.descent.descend",
    "diverging_sequence": "questions.geometry.ranks.diverging",
    "energy_barrier": "questions.quadratic.barrier",
    "ensemble": "questions.descent.ensemble",
    "escape_path": "questions.geometry.escape.escape",
    "escape_probability": "questions.descent.traps",
    "explain_escape": "questions.geometry.escape.escape",
    "fiber_components": "questions.geometry.fibers.components",
    "fiber_invariant": "questions.geometry.fibers.components",
    "fiber_path": "questions.geometry.fibers.path",
    "filling_bounds": "questions.geometry.ranks.widths",
    "filling_width": "questions.geometry.ranks.widths",
    "flow_invariants": "questions.descent.traps",
    "focal_cloud": "questions.discriminants.loci",
    "focal_points": "questions.geometry.manifolds.focal",
    "focal_slice": "questions.discriminants.focal_slices",
    "follow": "questions.discriminants.following.follow",
    "is_critical_parameter": "questions.geometry.ranks.parameterization",
    "is_identifiable": "questions.geometry.ranks.identifiability",
    "is_trapped": "questions.descent.traps",
    "landscape_regions": "questions.discriminants.regions",
    "load_ensemble": "questions.descent.results.ensemble",
    "load_problem": "model.problem_file",
    "load_sweep": "uses.sweep.results",
    "parameterization_rank": "questions.geometry.ranks.parameterization",
    "real_rank": "questions.geometry.ranks.real_rank",
    "regime": "questions.geometry.ranks.widths",
    "relu_problem": "questions.relu.setting",
    "run_sweep": "uses.sweep.run",
    "spans_symmetric": "questions.quadratic.sample_span",
    "starts": "questions.descent.starts",
    "sweep_status": "uses.sweep.results",
    "symmetric_minimum": "questions.relu.symmetric",
    "thick_width": "questions.geometry.ranks.widths",
    "trap_probability": "questions.descent.traps",
    "trivial_symmetry": "questions.geometry.fibers.symmetries",
}
_MODULES = ("certify", "discriminants", "geometry", "homotopy", "learn", "quadratic", "relu", "sweep")

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
    "geometry",
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
