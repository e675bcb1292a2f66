"""Trivial symmetries of polynomial networks: permutations of neurons, and scalings between the layers.

Paper 000, section 2.1: a′ = P D^(−d) a and W′ = P D W, with P a permutation and D diagonal and invertible, give the
same function. For d ≥ 3 and an identifiable (d, n, r) a generic network has no other (Prop. 4); for d = 2 see
`fibers.components`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from shallows.model.activations import Power
from shallows.model.network import Network
from shallows.support.checks import Array, describe, finite_number
from shallows.support.errors import InvalidProblem

#: Terms that differ by less, relatively to the largest, are one: given networks agree to about 1e-13.
SAME_TERM = 1e-9
#: The cost of a pair that may not be matched (the assignment cannot add infinities): others are of size 1.
FORBIDDEN = 1e6


@dataclass(frozen=True, eq=False)
class TrivialSymmetry:
    """Neuron i of the first network is neuron `permutation[i]` of the second: w′ = scales[i]·w, a′ = a/scales[i]^d."""

    permutation: tuple[int, ...]
    scales: Array

    def __repr__(self) -> str:
        scales = ", ".join(f"{scale:.4g}" for scale in self.scales)
        return f"TrivialSymmetry(permutation={self.permutation}, scales=({scales}))"


def trivial_symmetry(net0: Network, net1: Network, tolerance: float = SAME_TERM) -> TrivialSymmetry | None:
    """The trivial symmetry that carries net0 to net1, or None when there is none (paper 000, section 2.1).

    A permutation P and a diagonal D with W′ = PDW and a′ = PD^(−d)a; for d ≥ 3 a generic identifiable network has no
    other symmetry (Prop. 4).

    Terms aᵢ wᵢ^⊗d are compared up to `tolerance` of the largest one. Two neurons are related when they have the same
    term; idle ones (a = 0 or w = 0) only when both are idle in the same way: a = 0 with parallel w, w = 0 with a that a
    scaling can reach (the same sign when d is even).

    >>> net = sh.Network([[1.0, 0.0], [1.0, 1.0]], activation=sh.Power(3))
    >>> same = sh.Network([[2.0, 2.0], [1.0, 0.0]], a=[1 / 8, 1.0], activation=sh.Power(3))
    >>> sh.trivial_symmetry(net, same)          # W′ = PDW, a′ = PD⁻³a
    TrivialSymmetry(permutation=(1, 0), scales=(1, 2))
    """
    tolerance = finite_number("tolerance", tolerance, minimum=0.0)
    degree = _common_degree(net0, net1)
    if (net0.width, net0.n) != (net1.width, net1.n):
        return None
    scale = max(_terms(net0, degree).max(), _terms(net1, degree).max())
    costs = _distances(net0, net1, degree, scale)
    rows, columns = linear_sum_assignment(np.minimum(costs, FORBIDDEN))
    if np.any(costs[rows, columns] > tolerance):
        return None
    ratios = np.array([_ratio(net0, net1, i, j, degree) for i, j in zip(rows, columns, strict=True)])
    return TrivialSymmetry(tuple(int(j) for j in columns), ratios)


def _common_degree(net0: Network, net1: Network) -> int:
    for name, net in (("net0", net0), ("net1", net1)):
        if not isinstance(net, Network) or not isinstance(net.activation, Power) or net.a.ndim != 1:
            raise InvalidProblem(
                f"{name} is {describe(net)}; expected a one-output Network with a Power activation."
            )
    if net0.activation != net1.activation:
        raise InvalidProblem(
            f"The activations are {net0.activation!r} and {net1.activation!r}; trivial symmetries keep the activation."
        )
    assert isinstance(net0.activation, Power)
    return net0.activation.degree


def _terms(net: Network, degree: int) -> Array:
    """‖aᵢ wᵢ^⊗d‖ = |aᵢ|‖wᵢ‖^d."""
    return np.asarray(np.abs(net.a) * np.linalg.norm(net.W, axis=1) ** degree)


def _kinds(net: Network, degree: int) -> Array:
    """0: active; 1: a = 0, w ≠ 0; 2: both zero; 3 and 4: w = 0 with a > 0 and a < 0 (one kind when d is odd)."""
    asleep = ~np.any(net.W, axis=1)
    signed = np.where((net.a > 0) | (degree % 2 == 1), 3, 4)
    return np.select([asleep & (net.a != 0), asleep, net.a == 0], [signed, np.full(net.width, 2), 1], 0)


def _directions(net: Network) -> Array:
    lengths = np.linalg.norm(net.W, axis=1, keepdims=True)
    return np.asarray(net.W / np.where(lengths > 0, lengths, 1.0))


def _distances(net0: Network, net1: Network, degree: int, scale: float) -> Array:
    """How far neuron i of net0 is from being neuron j of net1, up to a scaling; infinite for different kinds.

    With unit directions u, u′ and coefficients c = a‖w‖^d, the better of the two signs of u′ (whose power is (±1)^d).
    """
    kinds0, kinds1 = _kinds(net0, degree), _kinds(net1, degree)
    U0, U1 = _directions(net0), _directions(net1)
    c0 = np.sign(net0.a) * _terms(net0, degree)
    c1 = np.sign(net1.a) * _terms(net1, degree)
    size = np.maximum(np.abs(c0)[:, None], np.abs(c1)[None]) / (scale or 1.0)
    weight = np.where((kinds0 == 1)[:, None], 1.0, size)
    best = np.full((net0.width, net1.width), np.inf)
    for sign in (1.0, -1.0):
        turn = np.linalg.norm(U0[:, None] - sign * U1[None], axis=2) * weight
        change = np.abs(c0[:, None] - sign**degree * c1[None]) / (scale or 1.0)
        best = np.minimum(best, turn + change)
    best[(kinds0[:, None] >= 2) & (kinds0[:, None] == kinds1[None])] = 0.0
    best[kinds0[:, None] != kinds1[None]] = np.inf
    return best


def _ratio(net0: Network, net1: Network, i: int, j: int, degree: int) -> float:
    """The scale D with w′ = D w, or with a′ = a/D^d where w = 0."""
    square = float(net0.W[i] @ net0.W[i])
    if square > 0:
        return float(net0.W[i] @ net1.W[j]) / square
    if net0.a[i] == 0:
        return 1.0
    ratio = float(net0.a[i] / net1.a[j])
    return float(np.sign(ratio) * abs(ratio) ** (1 / degree))
