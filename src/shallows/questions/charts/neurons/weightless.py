"""Groups of neurons whose fixed outer weights cancel: nothing of them is seen, but they have a condition.

With the residual r of the network and the outer weights a of one of them, q(w) = E[(a·r) p(w·x)] must be critical at
their w, a polynomial of degree d. A real zero of ∂q is searched for; where none is found, all complex ones are, and if
none of these is real there is no critical network with such a group.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import islice, product

import numpy as np

from shallows.mathematics.homotopy.solutions import Status
from shallows.mathematics.homotopy.solve import solve
from shallows.mathematics.same_points import is_among
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.neurons.groups import Arrangement
from shallows.questions.charts.neurons.neuron import Neuron
from shallows.questions.charts.neurons.stratum import own_neuron
from shallows.questions.charts.points.stratum import POINT_ERROR
from shallows.support.checks import Array
from shallows.support.tolerances import EPSILON, TINY

#: From so many random neurons of each of these sizes, zeros of ∂q are searched for.
TRIES = 24
SIZES = (0.3, 1.0, 3.0)
#: Least squares stop here, a few roundings from a zero.
STOP = 4 * EPSILON
#: A zero is one to which Newton's step has this share of its size left; ways to infinity have long ones.
NEWTON = 1e-8
#: Zeros closer than this share of their size are one: double ones are found to half the digits.
APART = 1e-5
#: What is said of a function that needs a weightless group where none is critical.
NOT_AT_REST = (
    "is no critical network: no real w was found at which neurons that cancel have E[r p′(w·x + b) x] = 0"
)
#: Of more combinations of zeros the first are looked at for one at which the loss bends down.
COMBINATIONS = 64


@dataclass(frozen=True)
class Rest:
    """Where a weightless group is critical: real neurons, and whether it is sure that there is none where there are
    none."""

    neurons: list[Array]
    decided: bool = True


@dataclass(frozen=True)
class Placed:
    """The network of an arrangement, the one that bends down most; None if there is none, which may be `decided`."""

    network: Network | None
    decided: bool = True

    @property
    def level(self) -> str:
        """How complete a list is without it."""
        return "count-matched" if self.decided else "sampled"


def placed(problem: Problem, item: Arrangement, W: Array, pull: Array) -> Placed:
    """The groups at W, weightless ones at rest; `pull` is E[r ψ], (outputs, coefficients)."""
    neuron, rests = own_neuron(problem), list[list[Array]]()
    for group in item.weightless:
        place = item.at_rest(group, W)
        rest = resting(neuron, np.array(group.along) @ pull) if place is None else Rest([place])
        if not rest.neurons:
            return Placed(None, rest.decided)
        rests.append(rest.neurons)
    ways = [item.network(problem, W, way) for way in islice(product(*rests), COMBINATIONS)]
    return Placed(min(ways, key=partial(_lowest, problem)) if len(ways) > 1 else ways[0])


def _lowest(problem: Problem, net: Network) -> float:
    values = np.linalg.eigvalsh(problem.hessian(net))
    return float(values[0] / max(np.abs(values).max(), TINY))


def resting(neuron: Neuron, pull: Array) -> Rest:
    """Real zeros of ∂ψ(w) · pull.

    >>> resting(Neuron.of_degrees([1, 3], 1), np.array([-3.0, 1.0])).neurons      # w³ − 3w
    [array([1.]), array([-1.])]
    >>> resting(Neuron.of_degrees([1, 3], 1), np.array([3.0, 1.0]))               # w³ + 3w
    Rest(neurons=[], decided=True)
    """
    if not np.abs(neuron.slopes(np.zeros(neuron.n)) @ pull).max():
        return Rest([np.zeros(neuron.n)])
    pull = pull / np.abs(pull).max()
    found = _searched(neuron, pull)
    rows = [] if found else [_derivative(neuron, pull, x) for x in range(neuron.n)]
    if found or not all(rows):
        return Rest(found, bool(found))
    solutions = solve(rows, on_incomplete="return")
    real = [np.asarray(solution.point.real) for solution in solutions.real]
    return Rest(real, solutions.status is Status.COMPLETE and not solutions.undecided.count)


def _searched(neuron: Neuron, pull: Array) -> list[Array]:
    """Zeros of ∂ψ(w) · pull by least squares, each once."""
    from scipy.optimize import least_squares

    rng, found = np.random.default_rng(0), list[Array]()

    def slope(w: Array) -> Array:
        return np.asarray(neuron.slopes(w) @ pull)

    def bend(w: Array) -> Array:
        return np.asarray(neuron.bends(w) @ pull)

    for size in np.repeat(SIZES, TRIES):
        w = least_squares(
            slope, size * rng.standard_normal(neuron.n), bend, xtol=STOP, ftol=STOP, gtol=STOP
        ).x
        long = 1 + float(np.abs(w).max())
        step = np.linalg.lstsq(bend(w), slope(w))[0]
        rests = np.abs(slope(w)).max() <= POINT_ERROR * long ** (neuron.degree - 1)
        if rests and np.abs(step).max() <= NEWTON * long and not is_among(w, found, APART * long):
            found.append(np.asarray(w))
    return found


def _derivative(neuron: Neuron, pull: Array, along: int) -> dict[tuple[int, ...], float]:
    """∂(ψ(w) · pull) in one weight, by monomials."""
    terms: dict[tuple[int, ...], float] = {}
    for entry, coefficient, row in neuron.terms:
        if row[along] and pull[entry]:
            left = tuple(k - (x == along) for x, k in enumerate(row))
            terms[left] = terms.get(left, 0.0) + coefficient * row[along] * float(pull[entry])
    return {row: c for row, c in terms.items() if c}
