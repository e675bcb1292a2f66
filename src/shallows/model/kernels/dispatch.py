"""Which kernel belongs to a pair of activations and a kind of data."""

from __future__ import annotations

import numpy as np

from shallows.model.activations import Activation, PolynomialActivation, Power, ReLU
from shallows.model.data.base import InnerProduct
from shallows.model.data.gaussian import Gaussian
from shallows.model.data.iid import IID
from shallows.model.data.metric import Frobenius, Metric
from shallows.model.data.mixture import Mixture
from shallows.model.data.radial import Radial
from shallows.model.data.samples import Samples
from shallows.model.kernels.base import Kernel
from shallows.model.kernels.empirical import EmpiricalKernel
from shallows.model.kernels.frobenius import FrobeniusKernel
from shallows.model.kernels.gaussian import GaussianCumulants
from shallows.model.kernels.hermite import HermiteExpectations
from shallows.model.kernels.iid import IIDCumulants
from shallows.model.kernels.metric import MetricKernel
from shallows.model.kernels.mixture import MixtureKernel
from shallows.model.kernels.polynomial import PolynomialExpectations
from shallows.model.kernels.price import PriceKernel
from shallows.model.kernels.relu import ReLUKernel
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem

COMBINATIONS = """\
  Power, Polynomial   Gaussian (any mean and covariance), IID, Radial, Sphere, Mixture, Samples
  Power (one degree)  Frobenius, Metric
  ReLU                Gaussian with zero mean, Samples, and mixtures of these
  Smooth              Gaussian, Samples, and mixtures of these
  two different ones  Gaussian, Samples, and wherever both are polynomials"""


def kernel(left: Activation, right: Activation, data: InnerProduct) -> Kernel:
    """The kernel E[σ(w·x) τ(v·x)] of σ = left and τ = right, or an `InvalidProblem` that lists what exists."""
    polynomial = isinstance(left, PolynomialActivation) and isinstance(right, PolynomialActivation)
    if isinstance(data, Samples):
        return EmpiricalKernel(data.X, left, right)
    if isinstance(data, Mixture):
        return MixtureKernel(data.weights, [kernel(left, right, part) for part in data.parts])
    if isinstance(data, Frobenius | Metric):
        return _metric_kernel(left, right, data)
    if isinstance(data, Gaussian):
        return _gaussian_kernel(left, right, data)
    if polynomial and isinstance(data, IID):
        order = left.degree + right.degree  # type: ignore[attr-defined]
        law = IIDCumulants(data.cumulant_sequence(order))
        return PriceKernel(law, PolynomialExpectations(law, _mixing(left, right)))
    if polynomial and isinstance(data, Radial):
        return _radial_kernel(left, right, data)
    raise _no_kernel(left, right, data)


def _no_kernel(left: Activation, right: Activation, data: InnerProduct, why: str = "") -> InvalidProblem:
    pair = repr(left) if left == right else f"{left!r} with {right!r}"
    reason = f" ({why})" if why else ""
    return InvalidProblem(
        f"There is no kernel for {pair} under {data!r}{reason}. The combinations are:\n{COMBINATIONS}"
    )


def _mixing(left: Activation, right: Activation) -> Array:
    """M_ij = c_i c′_j."""
    assert isinstance(left, PolynomialActivation) and isinstance(right, PolynomialActivation)
    return np.outer(left.coefficients, right.coefficients)


def _gaussian_kernel(left: Activation, right: Activation, data: Gaussian) -> Kernel:
    law = GaussianCumulants(data)
    if isinstance(left, PolynomialActivation) and isinstance(right, PolynomialActivation):
        return PriceKernel(law, PolynomialExpectations(law, _mixing(left, right)))
    if isinstance(left, ReLU) and isinstance(right, ReLU):
        if not data.centred:
            raise _no_kernel(left, right, data, "ReLU has a closed form only for zero mean")
        return ReLUKernel(None if law.covariance is None else data.root())
    return PriceKernel(law, HermiteExpectations(law, left, right))


def _radial_kernel(left: Activation, right: Activation, data: Radial) -> Kernel:
    mixing = _mixing(left, right)
    for i, j in np.argwhere(mixing != 0):
        mixing[i, j] *= data.gaussian_ratio(int(i + j)) if (i + j) % 2 == 0 else 0.0
    law = GaussianCumulants(Gaussian(data.n))
    return PriceKernel(law, PolynomialExpectations(law, mixing))


def _metric_kernel(left: Activation, right: Activation, data: Frobenius | Metric) -> Kernel:
    if not isinstance(left, Power) or left != right:
        raise _no_kernel(left, right, data, "a metric on Sym^d(R^n) knows powers of that degree only")
    if isinstance(data, Frobenius):
        return FrobeniusKernel(left.degree)
    if data.degree != left.degree:
        raise _no_kernel(left, right, data, f"this metric is on tensors of degree {data.degree}")
    return MetricKernel(data.gram(data.degree), data.n, data.degree)
