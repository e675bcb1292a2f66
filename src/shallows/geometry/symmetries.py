"""Trivial symmetries: permutations of neurons and rescalings between layers (paper 000, before Prop. 4).

(α, W) and (PD^{−d}α, PDW) are the same function for an invertible diagonal D and a permutation P. For d ≥ 3 and
identifiable (d, n, r) a generic network has no others; for d = 2 fibers are larger (Theorem 37).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from shallows._checks import Array, finite_number
from shallows.errors import InvalidProblem
from shallows.geometry.parameterization import require_power_network
from shallows.network import Network

TOLERANCE = 1e-8


@dataclass(frozen=True, eq=False)
class TrivialSymmetry:
    """Neuron i of the image is neuron permutation[i] of the source: w ↦ scales[i]·w, α ↦ scales[i]^{−d}·α."""

    permutation: tuple[int, ...]
    scales: Array

    def __call__(self, net: Network) -> Network:
        """The image of a network: the same function."""
        d = require_power_network(net)
        if net.width != len(self.permutation):
            raise InvalidProblem(
                f"This symmetry moves {len(self.permutation)} neurons; the network has {net.width}."
            )
        order = list(self.permutation)
        return Network(
            self.scales[:, None] * net.W[order], self.scales ** (-d) * net.a[order], net.activation
        )

    def __repr__(self) -> str:
        scales = ", ".join(f"{s:.6g}" for s in self.scales)
        return f"TrivialSymmetry(permutation={self.permutation}, scales=({scales}))"


def trivial_symmetry(
    source: Network, target: Network, tolerance: float = TOLERANCE
) -> TrivialSymmetry | None:
    """The permutation and scales that take `source` to `target`, or None when no trivial symmetry does.

    Neurons match when their directions (up to sign) and their sizes α‖w‖^d agree to `tolerance`, relative to each
    neuron; idle neurons (α = 0 or w = 0) match only idle ones of the same kind.

    >>> from shallows.activations import Power
    >>> net = Network([[1.0, 2.0], [3.0, 1.0]], [1.0, 2.0], Power(3))
    >>> trivial_symmetry(net, Network([[-3.0, -1.0], [2.0, 4.0]], [-2.0, 0.125], Power(3)))
    TrivialSymmetry(permutation=(1, 0), scales=(-1, 2))
    """
    d = require_power_network(source)
    if require_power_network(target) != d or (source.width, source.n) != (target.width, target.n):
        raise InvalidProblem(
            f"{source!r} and {target!r} cannot be compared: degree, width and inputs must agree."
        )
    limit = finite_number("tolerance", tolerance, minimum=0.0)
    distance, scales = _compare(source, target, d)
    rows, columns = linear_sum_assignment(distance > limit)
    if np.any(distance[rows, columns] > limit):
        return None
    return TrivialSymmetry(tuple(int(j) for j in columns), scales[rows, columns])


def related_by_symmetry(net0: Network, net1: Network, tolerance: float = TOLERANCE) -> bool:
    """Whether two networks are equal up to permutations and rescalings."""
    return trivial_symmetry(net0, net1, tolerance) is not None


def _compare(source: Network, target: Network, d: int) -> tuple[Array, Array]:
    """For each neuron i of the target and j of the source: how far apart, and the scale that takes j to i."""
    pairs = [[_match(target, i, source, j, d) for j in range(source.width)] for i in range(target.width)]
    table = np.array(pairs)
    return table[..., 0], table[..., 1]


def _match(target: Network, i: int, source: Network, j: int, d: int) -> tuple[float, float]:
    alpha, beta = float(target.a[i]), float(source.a[j])
    w, v = target.W[i], source.W[j]
    length, other = float(np.linalg.norm(w)), float(np.linalg.norm(v))
    if (alpha == 0) != (beta == 0) or (length == 0) != (other == 0):
        return np.inf, 1.0
    if length == 0:
        return _match_outer(alpha, beta, d)
    sign = 1.0 if w @ v >= 0 else -1.0
    scale = sign * length / other
    angle = float(np.linalg.norm(w / length - sign * v / other))
    if alpha == 0:
        return angle, scale
    size = float(np.log(abs(alpha)) - np.log(abs(beta)) + d * np.log(length / other))
    opposite = (alpha > 0) != (beta * sign**d > 0)
    return (np.inf if opposite else max(angle, abs(size))), scale


def _match_outer(alpha: float, beta: float, d: int) -> tuple[float, float]:
    """Neurons with w = 0: any two outer weights of one sign are related, of any signs when d is odd."""
    if alpha == 0:
        return 0.0, 1.0
    if alpha * beta < 0 and d % 2 == 0:
        return np.inf, 1.0
    return 0.0, float(np.sign(alpha * beta) * abs(beta / alpha) ** (1 / d))
