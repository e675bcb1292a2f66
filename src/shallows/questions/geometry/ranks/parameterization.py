"""The parameterization τ_r(α, W) = Σᵢ αᵢ wᵢ^⊗d: its differential, rank, and critical parameters (paper 000, 2.1).

The image of dτ is spanned by sym(wᵢ^⊗(d−1) ⊗ u) for the active neurons (αᵢ ≠ 0; Euler puts wᵢ^⊗d among them) and
by wᵢ^⊗d for the idle ones (αᵢ = 0). It depends on directions only, so ranks are taken with unit neurons, in
coordinates that are orthonormal for Frobenius.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shallows.mathematics.exact.linear_algebra import integer_rank
from shallows.mathematics.numerical_rank import rank_of
from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Power
from shallows.model.network import Network
from shallows.questions.geometry.ranks.widths import space_dimension
from shallows.support.checks import Array, describe, finite_array, finite_number
from shallows.support.errors import InvalidProblem

#: Singular values of dτ at unit neurons below this share of the largest count as zero: they are exact to N ε.
RANK_TOLERANCE = 1e-10


def require_power_network(net: Network) -> int:
    """The degree d of a network with one output, a Power activation and no norm neuron."""
    if not isinstance(net, Network):
        raise InvalidProblem(f"Expected a Network; {describe(net)} was given.")
    if not isinstance(net.activation, Power):
        raise InvalidProblem(f"τ is defined for Power activations; this network has {net.activation!r}.")
    if net.outputs != 1 or net.a.ndim != 1:
        raise InvalidProblem(
            f"τ is defined for one output; this network has {net.outputs}. Use net.output(m) for one of them."
        )
    if np.any(net.norm):
        raise InvalidProblem(f"τ has no norm neuron; this network has one of weight {net.norm}. Set norm=0.")
    return net.activation.degree


def differential(net: Network, dW: ArrayLike, da: ArrayLike) -> SymmetricTensor:
    """dτ(α, W)(α̇, Ẇ) = Σ α̇ᵢ wᵢ^⊗d + Σ αᵢ sym(wᵢ^⊗(d−1) ⊗ ẇᵢ) (equation 6).

    >>> net = Network([[1.0, 0.0]], a=[2.0], activation=Power(3))
    >>> differential(net, [[0.0, 1.0]], [5.0]).polynomial()
    '5*x1^3 + 6*x1^2*x2'
    """
    d = require_power_network(net)
    directions, outer = finite_array("dW", dW, 2), finite_array("da", da, 1)
    if directions.shape != net.W.shape or outer.shape != net.a.shape:
        raise InvalidProblem(
            f"dW has shape {directions.shape} and da {outer.shape}; expected {net.W.shape} and {net.a.shape}."
        )
    slope = coordinates.monomials_jvp(net.W, directions, d)
    return SymmetricTensor(outer @ coordinates.monomials(net.W, d) + net.a @ slope, net.n, d)


def differential_matrix(net: Network) -> Array:
    """dτ as a matrix on entries, shape (N, rn + r); columns are W row by row, then a, as in `problem.pack`."""
    d = require_power_network(net)
    inner = net.a[:, None, None] * _slopes(net.W, d)
    return np.concatenate([inner.reshape(-1, inner.shape[-1]), coordinates.monomials(net.W, d)]).T


def _slopes(W: Array, degree: int) -> Array:
    """∂ w^I / ∂w_j for each neuron, shape (r, n, N)."""
    directions = np.broadcast_to(np.eye(W.shape[1]), (len(W), W.shape[1], W.shape[1]))
    return coordinates.monomials_jvp(W[:, None, :], directions, degree)


def _spanning_set(net: Network, degree: int) -> Array:
    """Rows that span the image of dτ, in Frobenius-orthonormal coordinates, from unit neurons."""
    norms = np.linalg.norm(net.W, axis=1, keepdims=True)
    units = net.W / np.where(norms > 0, norms, 1.0)
    active = net.a != 0
    tangents = _slopes(units[active], degree).reshape(-1, coordinates.dimension(net.n, degree))
    rows = np.concatenate([tangents, coordinates.monomials(units[~active], degree)])
    return rows * np.sqrt(coordinates.multiplicities(net.n, degree))


def _integer_spanning_set(net: Network, degree: int) -> NDArray[np.object_]:
    """The same span from the floats' exact values: each neuron is scaled to integers."""
    table = coordinates.exponents(net.n, degree)
    rows = []
    for weight, neuron in zip(net.a, net.W, strict=True):
        ratios = [float(x).as_integer_ratio() for x in neuron]
        scale = max(q for _, q in ratios)
        w = [p * (scale // q) for p, q in ratios]
        if weight == 0:
            rows.append([_power_product(w, e) for e in table])
        else:
            rows += [[_derivative(w, e, j) for e in table] for j in range(net.n)]
    return np.array(rows, dtype=object)


def _power_product(w: list[int], exponents: NDArray[np.intp]) -> int:
    product = 1
    for base, e in zip(w, exponents.tolist(), strict=True):
        product *= base**e
    return product


def _derivative(w: list[int], exponents: NDArray[np.intp], j: int) -> int:
    if exponents[j] == 0:
        return 0
    lowered = exponents.copy()
    lowered[j] -= 1
    return int(exponents[j]) * _power_product(w, lowered)


def parameterization_rank(net: Network, exact: bool = False, tolerance: float = RANK_TOLERANCE) -> int:
    """rk dτ(α, W), the rank of the differential of τ(α, W) = Σ αᵢ wᵢ^⊗d (paper 000, equation 6).

    By default singular values of the normalised spanning set above `tolerance` times the largest count. With
    `exact=True` the floats are taken as the rationals they are and the rank is computed over Q: a proof for this
    network, and a lower bound of the generic rank. A weight counts as idle only when it is exactly 0.

    >>> net = Network([[1.0, 0.0], [1.0, 1.0]], activation=Power(3))
    >>> parameterization_rank(net), parameterization_rank(net, exact=True)
    (4, 4)
    """
    d = require_power_network(net)
    if exact:
        return integer_rank(_integer_spanning_set(net, d))
    values = np.linalg.svd(_spanning_set(net, d), compute_uv=False)
    return rank_of(values, finite_number("tolerance", tolerance, minimum=0.0))


def is_critical_parameter(net: Network, exact: bool = False, tolerance: float = RANK_TOLERANCE) -> bool:
    """Whether a network is a critical parameter, (α, W) ∈ Crit(τ_r) = {rk dτ < dim F_r}.

    At width r ≥ r_thick a critical point of L = ℓ∘τ with ℓ convex that is *not* in Crit(τ_r) is a global minimum
    (paper 000, Lemma 5). For d = 2 and r ≥ n it takes rank n to stay outside (Prop. 6):

    >>> sh.is_critical_parameter(sh.Network([[1.0, 0.0], [1.0, 1.0]]))
    False
    >>> sh.is_critical_parameter(sh.Network([[1.0, 0.0], [2.0, 0.0]]))
    True
    """
    rank = parameterization_rank(net, exact, tolerance)
    return rank < space_dimension(require_power_network(net), net.n, net.width)


def branch_witness(net: Network, tolerance: float = RANK_TOLERANCE) -> SymmetricTensor | None:
    """A form P ≠ 0 of degree d orthogonal to the image of dτ, or None when dτ is onto Sym^d (paper 000, Lemma 8).

    P has ∇P(wᵢ) = 0 at every active neuron (αᵢ ≠ 0) and P(wᵢ) = 0 at every idle one; such a P exists if and only
    if rk dτ < dim Sym^d. (Lemma 8 states the first property; without the second its converse needs wᵢ = 0 at idle
    neurons.) P has Frobenius norm 1 and its largest entry is positive; when there are several, it is one of them.

    >>> net = Network([[1.0, 0.0], [0.0, 1.0]], activation=Power(4))     # n = 2, two neurons: P = x1²x2²
    >>> branch_witness(net).polynomial(digits=4)
    '2.449*x1^2*x2^2'
    """
    d = require_power_network(net)
    rows = _spanning_set(net, d)
    _, values, basis = np.linalg.svd(rows, full_matrices=True)
    rank = rank_of(values, finite_number("tolerance", tolerance, minimum=0.0))
    if rank == basis.shape[0]:
        return None
    entries = basis[-1] / np.sqrt(coordinates.multiplicities(net.n, d))
    largest = entries[np.argmax(np.abs(entries))]
    return SymmetricTensor(entries * np.sign(largest), net.n, d)
