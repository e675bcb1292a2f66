"""Descent for two inputs in coordinates that stay finite when neurons merge: angles and divided differences.

Where the infimum of a valley lies in the closure of F_r only (paper 000, Remark 13 and Example 19), training drives
two or more neurons together while their weights ±a diverge. In (a, W) the loss is then flat and lost in rounding. With
wᵢ = ρᵢ u(θᵢ), u = (cos, sin), bᵢ = aᵢ ρᵢ^d and f = u^⊗d, Newton's formula writes the same tensor as

    τ = Σᵢ bᵢ f(θᵢ) = Σ_k c_k f[θ₁, …, θ_k],    c_k = Σᵢ bᵢ Π_{j<k} (θᵢ − θⱼ),

and τ(c, θ) is analytic with finite c also where angles coincide. At a finite point no angles coincide, (c, θ) are
coordinates, and by the proof of Theorem 11 dτ is onto Sym^d unless a neuron is idle: the loss falls along some line.
The divided differences of all orders are the first row of f(Z), Z the bidiagonal matrix of the angles with ones above
them, and f(Z) is a product of cos Z and sin Z: no difference is ever taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.questions.geometry.escape.convex_losses import Landscape
from shallows.questions.geometry.escape.straight_descent import damped_solutions
from shallows.questions.geometry.paths import Segment, State
from shallows.support.checks import Array
from shallows.support.tolerances import TINY

#: Lines at most, points looked at on each, and halvings after which one is given up.
ROUNDS, PROBES, HALVINGS = 12, 17, 30
#: Of the least-squares directions, relative to ‖dτ‖²: from nearly steepest descent to nearly Gauss-Newton.
DAMPINGS = (1e-1, 1e-3, 1e-6, 1e-10)
#: The share of itself that a gap between neighbouring angles may lose on one line: they never meet.
NARROWING = 0.75
#: How much Σ|b| may grow: above a minimum at infinity the loss falls with 1/b², so 1/64 of it is left.
GROWTH = 8.0
#: A line that gains less than this share of what all have gained is the last.
ENOUGH = 1e-3
#: Of the series for a norm of at most ½: the rest is below 1e-20.
TERMS = 16
LABEL = "descend in angles and divided differences"


def divided_powers(theta: Array, degree: int) -> Array:
    """f[θ₁], f[θ₁, θ₂], …, for f(θ) = (cos θ, sin θ)^⊗d: shape (…, m, d+1) from angles of shape (…, m)."""
    m = theta.shape[-1]
    Z = np.zeros((*theta.shape, m))
    Z[..., np.arange(m), np.arange(m)] = theta
    Z[..., np.arange(m - 1), np.arange(1, m)] = 1.0
    wave = _exponential(1j * Z)
    cosine, sine = wave.real, wave.imag
    rows = np.zeros((*theta.shape[:-1], 1, m))
    rows[..., 0] = 1.0
    for _ in range(degree):
        rows = np.concatenate([rows @ cosine, rows[..., -1:, :] @ sine], axis=-2)
    return np.swapaxes(rows, -1, -2)


def _exponential(A: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """exp of a stack of small matrices, by scaling, Taylor's series and squaring (SciPy's takes them one at a time)."""
    norm = float(np.abs(A).sum(axis=-1).max(initial=0.0))
    halvings = max(0, int(np.ceil(np.log2(max(norm, TINY)))) + 1)
    B = A / 2.0**halvings
    identity = np.eye(A.shape[-1])
    result = identity + B / TERMS
    for k in range(TERMS - 1, 0, -1):
        result = identity + (B @ result) / k
    for _ in range(halvings):
        result = result @ result
    return np.asarray(result)


@dataclass(frozen=True, eq=False)
class Merging:
    """Networks of two inputs in the coordinates (c, θ): neuron `order[k]` has angle θ_k and length `rho[k]`."""

    degree: int
    order: NDArray[np.intp]
    rho: Array

    @classmethod
    def of(cls, state: State, degree: int) -> tuple[Merging, Array]:
        """The coordinates of a network without idle neurons: angles ascend from the widest gap of the circle."""
        a, W = state
        theta, rho = np.arctan2(W[:, 1], W[:, 0]), np.linalg.norm(W, axis=1)
        back = theta < 0.0
        theta, rho = np.where(back, theta + np.pi, theta), np.where(back, -rho, rho)
        order = np.argsort(theta)
        gaps = np.diff(theta[order], append=theta[order[0]] + np.pi)
        first = int(np.argmax(gaps)) + 1
        turned = order[:first]
        theta[turned] += np.pi
        rho[turned] = -rho[turned]
        order = np.roll(order, -first)
        here = cls(degree, order, rho[order])
        b = (a * rho**degree)[order]
        return here, np.concatenate([newton_table(theta[order]) @ b, theta[order]])

    def state(self, point: Array) -> State:
        """(a, W) at (c, θ)."""
        c, theta = np.split(point, 2)
        W = np.empty((len(c), 2))
        a = np.empty(len(c))
        W[self.order] = self.rho[:, None] * np.stack([np.cos(theta), np.sin(theta)], axis=1)
        a[self.order] = weights(c, theta) / self.rho**self.degree
        return a, W

    def tensor(self, point: Array) -> SymmetricTensor:
        """τ = Σ c_k f[θ₁, …, θ_k], with no cancellation of large weights."""
        c, theta = np.split(point, 2)
        return SymmetricTensor(c @ divided_powers(theta, self.degree), 2, self.degree)

    def differential(self, point: Array) -> Array:
        """dτ, one column for each c_k, then for each θᵢ."""
        c, theta = np.split(point, 2)
        return np.vstack([divided_powers(theta, self.degree), self._angle_slopes(c, theta)]).T

    def rates(self, points: Array, way: Array) -> Array:
        """dτ(c′, θ′) for one direction at several points: a row of entries for each."""
        (c, theta), (dc, dtheta) = np.split(points, 2, axis=1), np.split(way, 2)
        return np.asarray(dc @ divided_powers(theta, self.degree) + dtheta @ self._angle_slopes(c, theta))

    def _angle_slopes(self, c: Array, theta: Array) -> Array:
        """∂τ/∂θᵢ = Σ_{k≥i} c_k f[θ₁, …, θᵢ, θᵢ, …, θ_k]: shape (…, m, d+1)."""
        m = c.shape[-1]
        doubled = np.array([np.insert(np.arange(m), i, i) for i in range(m)])
        tables = divided_powers(theta[..., doubled], self.degree)
        return np.asarray(np.einsum("...k,ik,...ike->...ie", c, np.triu(np.ones((m, m))), tables[..., 1:, :]))


def newton_table(theta: Array) -> Array:
    """M_ki = Π_{j<k} (θᵢ − θⱼ), upper triangular: c = M b."""
    gaps = theta[None, :] - theta[:, None]
    return np.asarray(np.cumprod(np.vstack([np.ones(len(theta)), gaps[:-1]]), axis=0), dtype=float)


def weights(c: Array, theta: Array) -> Array:
    """b with M b = c."""
    table = newton_table(theta)
    b = np.zeros(len(c))
    for k in reversed(range(len(c))):
        b[k] = (c[k] - table[k, k + 1 :] @ b[k + 1 :]) / table[k, k]
    return b


@dataclass(frozen=True, eq=False, repr=False)
class MergingLine(Segment):
    """A line in (c, θ)."""

    label: str
    start: State
    end: State
    coordinates: Merging
    first: Array
    last: Array

    def at(self, t: float) -> State:
        """The parameters (a, W) at t."""
        return self.coordinates.state((1 - t) * self.first + t * self.last)


def merging_descent(landscape: Landscape, state: State, tensor: SymmetricTensor) -> list[Segment]:
    """Lines in (c, θ) along which the loss falls; none when no line lowers it. `state` has no idle neuron.

    The energy Σ|b| grows at most eightfold: the loss above a minimum at infinity falls with 1/b², so that is where
    nearly all of it is gone, and rounding stays that of the start.
    """
    here, point = Merging.of(state, tensor.degree)
    goal = landscape.minimiser(tensor)
    limit = GROWTH * _energy(point)
    segments: list[Segment] = []
    value = first = landscape.value(here.tensor(point))
    for _ in range(ROUNDS):
        ways = _directions(landscape, here, point, goal)
        found = [line for way in ways if (line := _falling(landscape, here, point, way, value, limit))]
        if not found:
            break
        lowest, end = min(found, key=lambda pair: pair[0])
        stop = here.state(end)
        segments.append(MergingLine(LABEL, state, stop, here, point, end))
        gained = value - lowest
        state, point, value = stop, end, lowest
        if gained <= ENOUGH * (first - value):
            break
    return segments


def _energy(point: Array) -> float:
    """Σ|b|."""
    return float(np.sum(np.abs(weights(*np.split(point, 2)))))


def _directions(landscape: Landscape, here: Merging, point: Array, goal: SymmetricTensor) -> Iterator[Array]:
    """−∇L, its part along θ, and damped solutions of dτ(c′, θ′) = goal − τ."""
    tensor, matrix = here.tensor(point), here.differential(point)
    root = np.sqrt(coordinates.multiplicities(2, here.degree))
    slope = matrix.T @ landscape.gradient(tensor).coefficients
    turn = np.where(np.arange(len(slope)) < len(slope) // 2, 0.0, slope)
    for steep in (slope, turn):
        size = float(np.linalg.norm(steep))
        if size > 0.0:
            yield -steep * (1.0 + float(np.linalg.norm(point))) / size
    yield from damped_solutions(root[:, None] * matrix, root * (goal - tensor).entries, DAMPINGS)


def _falling(
    landscape: Landscape, here: Merging, point: Array, way: Array, value: float, limit: float
) -> tuple[float, Array] | None:
    """The end of the line along `way`, halved until the loss falls from probe to probe and its slope is negative at
    each (the loss may turn between the last two), and the loss there."""
    steps = np.linspace(0.0, 1.0, PROBES)[1:]
    reach = min(1.0, _room(np.split(point, 2)[1], np.split(way, 2)[1]))
    for _ in range(HALVINGS):
        end = point + reach * way
        if _energy(end) <= limit and landscape.value(here.tensor(end)) < value:
            points = point + reach * steps[:, None] * way
            c, theta = np.split(points, 2, axis=1)
            entries = np.einsum("tk,tke->te", c, divided_powers(theta, here.degree))
            tensors = [SymmetricTensor(e, 2, here.degree) for e in entries]
            losses = [value, *(landscape.value(tensor) for tensor in tensors)]
            if np.all(np.diff(losses) < 0.0):
                slopes = np.array([landscape.gradient(tensor).coefficients for tensor in tensors])
                if np.all(np.sum(slopes * here.rates(points, way), axis=1) < 0.0):
                    return float(losses[-1]), end
        reach /= 2
    return None


def _room(theta: Array, way: Array) -> float:
    """How far θ may move before a gap between neighbours on the circle loses three quarters of itself."""
    gaps = np.diff(theta, append=theta[0] + np.pi)
    closing = -np.diff(way, append=way[0])
    return float(np.min(NARROWING * gaps / np.maximum(closing, TINY)))
