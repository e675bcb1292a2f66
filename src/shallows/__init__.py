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
    from shallows import certify, discriminants, homotopy
    from shallows.discriminants import focal_cloud, focal_slice, follow, landscape_regions
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
    from shallows.problem_file import load_problem

#: Where the names that are loaded on first use live.
_LATER = {
    "BadMinimum": "geometry.bad_minima",
    "DifferentComponents": "geometry.fibers",
    "Escape": "geometry.escape",
    "FiberInvariant": "geometry.fibers",
    "FocalPoint": "geometry.focal",
    "Path": "geometry.paths",
    "Regime": "geometry.widths",
    "bad_minimum": "geometry.bad_minima",
    "branch_witness": "geometry.parameterization",
    "diverging_sequence": "geometry.diverging",
    "escape_path": "geometry.escape",
    "explain_escape": "geometry.escape",
    "fiber_components": "geometry.fibers",
    "fiber_invariant": "geometry.fibers",
    "fiber_path": "geometry.fiber_path",
    "filling_bounds": "geometry.widths",
    "filling_width": "geometry.widths",
    "focal_cloud": "discriminants",
    "focal_points": "geometry.focal",
    "focal_slice": "discriminants",
    "follow": "discriminants",
    "is_critical_parameter": "geometry.parameterization",
    "is_identifiable": "geometry.identifiability",
    "landscape_regions": "discriminants",
    "load_problem": "problem_file",
    "parameterization_rank": "geometry.parameterization",
    "real_rank": "geometry.real_rank",
    "regime": "geometry.widths",
    "thick_width": "geometry.widths",
    "trivial_symmetry": "geometry.symmetries",
}
_MODULES = ("certify", "discriminants", "homotopy")

__all__ = [
    "IID",
    "BadMinimum",
    "Certificate",
    "Chart",
    "CriticalFamily",
    "CriticalPoint",
    "DerivativeCheck",
    "DifferentComponents",
    "Escape",
    "FiberInvariant",
    "FocalPoint",
    "Frobenius",
    "Gaussian",
    "IncompleteChart",
    "InvalidProblem",
    "Metric",
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
    "Samples",
    "ShallowsError",
    "Smooth",
    "Sphere",
    "SymmetricTensor",
    "bad_minimum",
    "branch_witness",
    "certify",
    "chart",
    "check_derivatives",
    "discriminants",
    "diverging_sequence",
    "escape_path",
    "explain_escape",
    "fiber_components",
    "fiber_invariant",
    "fiber_path",
    "filling_bounds",
    "filling_width",
    "focal_cloud",
    "focal_points",
    "focal_slice",
    "follow",
    "homotopy",
    "is_critical_parameter",
    "is_identifiable",
    "landscape_regions",
    "load_chart",
    "load_problem",
    "parameterization_rank",
    "real_rank",
    "regime",
    "thick_width",
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
