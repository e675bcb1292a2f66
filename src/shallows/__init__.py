"""The loss landscapes of shallow neural networks."""

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

__all__ = [
    "IID",
    "Certificate",
    "Chart",
    "CriticalFamily",
    "CriticalPoint",
    "DerivativeCheck",
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
    "Polynomial",
    "Power",
    "Problem",
    "Radial",
    "ReLU",
    "Samples",
    "ShallowsError",
    "Smooth",
    "Sphere",
    "SymmetricTensor",
    "chart",
    "check_derivatives",
    "load_chart",
]
