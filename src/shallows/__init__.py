"""The loss landscapes of shallow neural networks."""

from shallows.activations import Polynomial, Power, ReLU, Smooth
from shallows.data import IID, Frobenius, Gaussian, Metric, Mixture, Radial, Samples, Sphere
from shallows.errors import (
    IncompleteChart,
    InvalidProblem,
    MissingExtra,
    NotConverged,
    NotDifferentiable,
    ShallowsError,
)
from shallows.network import Network
from shallows.tensors import SymmetricTensor

__all__ = [
    "IID",
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
    "Radial",
    "ReLU",
    "Samples",
    "ShallowsError",
    "Smooth",
    "Sphere",
    "SymmetricTensor",
]
