"""Data: one distribution (or metric) a file, each with its Gram matrices on Sym^d(R^n) and its samples."""

from shallows.data.base import Distribution, InnerProduct, as_inner_product
from shallows.data.gaussian import Gaussian
from shallows.data.iid import IID
from shallows.data.metric import Frobenius, Metric
from shallows.data.mixture import Mixture
from shallows.data.radial import Radial, Sphere
from shallows.data.samples import Samples

__all__ = [
    "IID",
    "Distribution",
    "Frobenius",
    "Gaussian",
    "InnerProduct",
    "Metric",
    "Mixture",
    "Radial",
    "Samples",
    "Sphere",
    "as_inner_product",
]
