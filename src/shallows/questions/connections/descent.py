"""Paths down in the space of neurons: polygons along which the loss stays below a level, to a critical point.

Any path below the level will do, so steps are Newton's, with curvatures by their absolute values and a length that is
limited; each is shortened until the bound on the loss over the whole of it (`segments`) is below the level.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.mathematics.newton import saddle_free_step, shortened
from shallows.questions.connections.lower_link import LowerLink, Way
from shallows.questions.connections.neuron_loss import NeuronLoss, Neurons
from shallows.questions.connections.segments import coefficients
from shallows.support.checks import Array, counted
from shallows.support.tolerances import EPSILON, TINY

#: Steps at most: from index-one points of random problems 10 to 60 are taken.
STEPS = 500
#: The longest step, as a share of the neurons' size.
REACH = 0.3
#: How often a step is cut to a third: to rounding.
SHORTER = 40
#: A step must win this share of what its slope promises (Armijo's rule; the usual value).
ARMIJO = 1e-4
#: The least curvature Newton's step assumes, as a share of the largest: fibers are flat directions without gradient.
FLATTEST = 1e-8
#: A gradient, times the neurons' size, below this share of ‖t‖² is none: losses are then known to rounding.
STILL = 1e-13
#: Neurons that grew beyond this multiple of the target's size run away: their sum, of the target's size, is then a
#: millionth of them at degree 3, and the loss has no minimum there.
RUNAWAY = 100.0
#: Newton's steps once no gain can be measured: each doubles the digits. A path has converged when the gain left by
#: then is below this share of ‖t‖²: rounding, a few thousand ε.
LAST_STEPS, LEFT = 3, 1e-12
#: Roundings of ‖t‖² that a loss is off by: a quadratic form in the few entries of charts whose trees are made.
ROUNDINGS = 64
#: How far off a critical point a path may begin, in sizes of its neurons or of the target; the largest that descends.
FIRST_STEPS = tuple(0.3 * 0.5**k for k in range(24))


@dataclass(frozen=True, eq=False)
class Descent:
    """A polygon (m, r, n) of neurons with fixed signs, below a level; it begins a step off a critical point."""

    places: Array
    signs: Array
    converged: bool
    runaway: bool = False

    @property
    def end(self) -> Neurons:
        """Where it ends."""
        return Neurons(self.places[-1], self.signs)

    def __repr__(self) -> str:
        state = "runs away" if self.runaway else "converged" if self.converged else "not converged"
        return f"Descent({counted(len(self.places), 'place')}, {state})"


def first_step(loss: NeuronLoss, link: LowerLink, way: Way) -> Neurons | None:
    """A place a step down the way, the loss below the critical point's on all of the step; None if there is none."""
    level = loss.value(link.neurons)
    size = _size(loss, link.neurons)
    for share in FIRST_STEPS:
        if way.tangent is not None:
            place = link.neurons.at(link.neurons.vectors + share * size * way.tangent)
            begin = link.neurons
        else:
            assert way.neuron is not None
            place = link.neurons.with_neuron(share * size * way.neuron, way.sign)
            begin = link.neurons.with_neuron(np.zeros_like(way.neuron), way.sign)
        # up to the order of contact the coefficients are the level itself
        order = 2 if way.tangent is not None else loss.degree
        if np.max(coefficients(loss, begin, place)[order:]) < level - _noise(loss):
            return place
    return None


def descend(loss: NeuronLoss, begin: Neurons, level: float) -> Descent:
    """From a place below the level to a critical point, below it all the way."""
    here, value = begin, loss.value(begin)
    places, size = [begin.vectors], _size(loss, begin)
    for _ in range(STEPS):
        gradient, hessian = loss.derivatives(here)
        if np.max(np.abs(gradient)) * size <= STILL * loss.energy:
            return Descent(np.array(places), begin.signs, True)
        if np.max(np.abs(here.vectors)) > RUNAWAY * _unit(loss):
            return Descent(np.array(places), begin.signs, False, runaway=True)
        there = _step(loss, here, value, level, (gradient, hessian), size)
        if there is None:  # no step wins anything beyond rounding
            return _finished(loss, places, here, level)
        here, value = there, loss.value(there)
        places.append(here.vectors)
    return Descent(np.array(places), begin.signs, False)


def _step(
    loss: NeuronLoss, here: Neurons, value: float, level: float, slopes: tuple[Array, Array], size: float
) -> Neurons | None:
    gradient = slopes[0]
    step = saddle_free_step(*slopes, FLATTEST)
    length = float(np.linalg.norm(step))
    share = min(1.0, REACH * size / max(length, TINY))
    promised = -float(gradient @ step)

    def at(share: float) -> tuple[Neurons, float]:
        return here.at(here.vectors + share * step.reshape(here.vectors.shape)), share

    def wins(there: tuple[Neurons, float]) -> bool:
        won = value - loss.value(there[0])
        enough = won > max(ARMIJO * there[1] * promised, 0.0)
        return enough and bool(np.max(coefficients(loss, here, there[0])) < level)

    found = shortened(at, wins, SHORTER, share, factor=3.0)
    return None if found is None else found[0]


def _finished(loss: NeuronLoss, places: list[Array], here: Neurons, level: float) -> Descent:
    """The path, with Newton's last steps, whose gains are below rounding; converged when all that was left is."""
    gradient, hessian = loss.derivatives(here)
    promised = -float(gradient @ saddle_free_step(gradient, hessian, FLATTEST))
    for _ in range(LAST_STEPS):
        step = saddle_free_step(gradient, hessian, FLATTEST)
        there = here.at(here.vectors + step.reshape(here.vectors.shape))
        slope, curved = loss.derivatives(there)
        nearer = float(np.linalg.norm(slope)) < float(np.linalg.norm(gradient))
        if not nearer or np.max(coefficients(loss, here, there)) >= level:
            break
        here, gradient, hessian = there, slope, curved
        places.append(here.vectors)
    return Descent(np.array(places), here.signs, promised <= LEFT * loss.energy)


def _unit(loss: NeuronLoss) -> float:
    """The size of a neuron whose tensor is as large as the target."""
    return float(max(float(np.max(np.abs(loss.target), initial=0.0)), TINY) ** (1 / loss.degree))


def _size(loss: NeuronLoss, neurons: Neurons) -> float:
    return max(float(np.linalg.norm(neurons.vectors)), _unit(loss))


def _noise(loss: NeuronLoss) -> float:
    """What a loss, and a bound on it, may be off by rounding."""
    return ROUNDINGS * EPSILON * loss.energy
