"""Off a singular or nearly defective pencil: a few moves of a quadratic network that lower the loss and keep W.

The lift of the segment from S to the minimiser S* (`escape.eigenpaths`) fails, or leads through large
networks, where the pencil (S, S*) is close to singular or defective. Moving a alone leads away from there: the loss is
convex on the line a + s·e, and for generic e the pencil (S′, S*) is neither singular nor defective once the rows of W
span Rⁿ (with a = diag(a), S′ = WᵀaW, the discriminant of the pencil is a polynomial in a that is not zero).

- Rows that do not span: the network goes to its spectral form, whose idle neurons are pointed into the null space.
- ∂L/∂aᵢ = wᵢᵀΓwᵢ may vanish for every i while Γ does not. Then wᵢᵀΓwⱼ ≠ 0 for a pair, and turning these two
  neurons, circularly for equal signs of a and hyperbolically for opposite ones, makes the diagonal non-zero.
"""

from __future__ import annotations

import numpy as np

from shallows.model.activations import Power
from shallows.model.network import Network
from shallows.questions.geometry.escape.convex_losses import Landscape
from shallows.questions.geometry.fibers.components import Spectrum, matrix_of
from shallows.questions.geometry.fibers.motions import PlaneMotion, Rescale, Rows
from shallows.questions.geometry.fibers.spectral_form import to_spectral_form
from shallows.questions.geometry.paths import State, Straight, Trail, quadratic_energy
from shallows.support.checks import Array

#: Unit rows span Rⁿ when no pivot of their QR factorisation is smaller: the pencil's condition grows with its inverse.
SPANNING = 1e-3
#: Slopes in a below this share of the largest coupling wᵢᵀΓwⱼ are too weak: two neurons are turned, by TURN or BOOST.
WEAK = 0.1
TURN, BOOST = np.pi / 4, 0.5
#: How much of a random direction is added to the steepest one, at the first line and more at every further one.
MIXING, LARGEST_MIXING = 0.2, 0.8
#: Of the way to the lowest point of a line: the loss still falls there.
SHORT = 0.9
LABEL = "lower the loss by a alone"


class OuterDescent:
    """The network prepared once (rows that span, slopes in a that do not vanish), then any number of lines in a."""

    def __init__(
        self, landscape: Landscape, state: State, value: float, size: float, rng: np.random.Generator
    ) -> None:
        self.landscape = landscape
        self.value = value
        self.size = size
        self.rng = rng
        self.trail = _spanning(state, rng)
        self.network, self.slopes = self._sloping()
        self.mixing = 0.0

    def line(self) -> Straight | None:
        """A line in a, in a random direction that lowers the loss, to nine tenths of its lowest point.

        It is close to the steepest one, which leads nearest to S*, and farther from it at every further call.
        """
        a, W = self.trail.state
        steep = float(np.linalg.norm(self.slopes))
        if steep == 0.0:
            return None
        unit = self.slopes / steep
        aside = self.rng.normal(size=len(a))
        aside -= (aside @ unit) * unit
        self.mixing = min(self.mixing + MIXING, LARGEST_MIXING)
        way = -unit + self.mixing * aside / np.linalg.norm(aside) if len(a) > 1 else -unit
        direction = self.size * way / np.sum(W * W, axis=1)
        slope = -self.size * steep  # Γ(wᵢ)·directionᵢ summed: what was put aside is orthogonal to the slopes
        step = SHORT * self.landscape.best_outer_step(self.network, direction, self.value, slope)
        return Straight(LABEL, (a, W), (a + step * direction, W)) if step > 0.0 else None

    def _sloping(self) -> tuple[Network, Array]:
        """The network and Γ(uᵢ), after turning two neurons if all are small beside uᵢᵀΓuⱼ; u the rows of length one."""
        net, slopes, couplings = self._gradient()
        i, j = divmod(int(np.argmax(np.abs(couplings))), len(couplings))
        if i != j and np.max(np.abs(slopes)) < WEAK * abs(couplings[i, j]):
            _turn(self.trail, i, j)
            net, slopes, _ = self._gradient()
        return net, slopes

    def _gradient(self) -> tuple[Network, Array, Array]:
        """The network, Γ(uᵢ), and uᵢᵀΓuⱼ for neurons with aᵢ, aⱼ ≠ 0 (zero for the others)."""
        a, W = self.trail.state
        net = Network(W, a, Power(2))
        da, dW = self.landscape.parameter_gradient(net)
        lengths = np.linalg.norm(W, axis=1)
        active = a != 0.0
        pulls = dW / np.where(active, 2 * a * lengths, 1.0)[:, None]
        couplings = np.where(active[:, None] & active[None], pulls @ (W / lengths[:, None]).T, 0.0)
        return net, da / lengths**2, couplings


def _spanning(state: State, rng: np.random.Generator) -> Trail:
    """A trail inside the fiber to a network without w = 0 whose rows of length one span Rⁿ."""
    lengths = np.linalg.norm(state[1], axis=1)
    if np.all(lengths > 0.0):
        triangle = np.linalg.qr(state[1] / lengths[:, None], mode="r")
        if np.min(np.abs(np.diag(triangle))) > SPANNING:
            return Trail(state)
    spectrum = Spectrum.of(matrix_of(*state), quadratic_energy(state))
    trail = to_spectral_form(state, spectrum)
    a, W = trail.state
    idle = np.flatnonzero(a == 0.0)
    if len(idle):
        trail.go("point idle neurons", W=_pointed(W, idle, spectrum, rng))
    return trail


def _pointed(W: Array, idle: Rows, spectrum: Spectrum, rng: np.random.Generator) -> Array:
    """Idle rows become a random orthonormal basis of the null space of S, further ones random unit vectors."""
    n = W.shape[1]
    used = np.hstack([spectrum.V_positive, spectrum.V_negative])
    fresh = rng.normal(size=(n, n - used.shape[1]))
    basis = np.linalg.qr(fresh - used @ (used.T @ fresh))[0].T
    more = rng.normal(size=(max(len(idle) - len(basis), 0), n))
    more /= np.linalg.norm(more, axis=1, keepdims=True)
    pointed = W.copy()
    pointed[idle] = np.vstack([basis, more])[: len(idle)]
    return pointed


def _turn(trail: Trail, i: int, j: int) -> None:
    """Turn neurons i and j against each other, inside the fiber."""
    if np.any(np.abs(trail.state[0][trail.state[0] != 0.0]) != 1.0):
        trail.add(Rescale.to_signs(trail.state))
    a = trail.state[0]
    hyperbolic = bool(a[i] != a[j])
    U, V = np.eye(len(a))[:, [i]], np.eye(len(a))[:, [j]]
    if a[i] < 0.0:
        U, V = V, U
    angle = np.array([BOOST if hyperbolic else TURN])
    trail.add(PlaneMotion.of("turn two neurons", trail.state, U, V, angle, hyperbolic))
