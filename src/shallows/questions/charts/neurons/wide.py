"""Widths at which one function has infinitely many networks and which are charted: what is new there is the target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

import numpy as np

from shallows.mathematics.newton import gauss_newton
from shallows.mathematics.semidefinite_root import semidefinite_root
from shallows.model.activations import polynomial_of
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.neurons.balanced import affine_neuron
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.neurons.neuron import Neuron
from shallows.questions.charts.neurons.wide_line import is_wide_line, isolated_on_line
from shallows.questions.charts.neurons.wide_plane import CHARTED, is_wide_plane
from shallows.support.checks import Array
from shallows.support.tolerances import EPSILON

#: So many random networks are moved to the target, by so many steps of Gauss and Newton each.
STARTS, STEPS = 60, 80
#: Of so many fits the one with the smallest weights is taken: it is the least sensitive to rounding.
CHOICES = 5
#: A fit this close to the target, relatively, is the target: rounding of sums of terms up to LARGE times as large.
FITTED, LARGE = 1e-10, 1e3
#: Sizes of weights in one input are drawn from e to this power times a normal number: neurons may be decades apart.
SPREAD = 1.0
#: Neurons that stand for those at 0 and at infinity are smaller and larger by this: functions are off by about as much.
NEARLY = 1e-3


def charted_width(problem: Problem) -> int:
    """Up to how many neurons critical networks are charted one by one."""
    if is_wide_line(problem):
        return min(problem.width, isolated_on_line(problem))
    return CHARTED if is_wide_plane(problem) else problem.width


def charted_beside(problem: Problem) -> int:
    """The same beside a neuron that is constant, which leaves them one power less; 0 where none stand still."""
    p, others = polynomial_of(problem.activation), problem.width - 1
    if problem.bias:
        most = min(others, (p.degree - 1) // 3) if problem.n == 1 else others
        neuron = affine_neuron(p.coefficients, problem.n, modulo_constants=True)
        isolated = all(NeuronEquations(neuron, r).is_isolated() for r in range(1, most + 1))
        return most if isolated else 0
    if not is_wide_line(problem):
        return others
    return min(others, (int(np.count_nonzero(p.coefficients)) - 1) // 2)


@dataclass(frozen=True)
class Fit:
    """The neurons W and outer weights a of a network next to the target, how far off it is and how large its terms are,
    as shares of the target."""

    W: Array
    a: Array
    gap: float
    size: float

    @property
    def is_target(self) -> bool:
        """Whether it has the target's function, to rounding."""
        return self.gap <= FITTED and self.size <= LARGE


def nearest_network(problem: Problem, space: PolynomialSpace, neuron: Neuron) -> Fit:
    """A network of the problem that has the target's function, or else the nearest that was found.

    Gauss and Newton from random neurons, in the norm of the data, outer weights being fixed or the best for them.
    """
    r, n = problem.width, neuron.n
    fixed = None if problem.outer is None else problem.outer[0]
    root = semidefinite_root(space.gram)
    target = root @ space.target
    size = float(np.linalg.norm(target))

    def parts(x: Array) -> tuple[Array, Array]:
        return x[: n * r].reshape(r, n), x[n * r :] if fixed is None else fixed

    def system(x: Array) -> tuple[Array, Array]:
        W, a = parts(x)
        values, slopes = neuron.values(W) @ root.T, neuron.slopes(W) @ root.T
        rows = (a[:, None, None] * slopes).reshape(n * r, -1)
        rows = rows if fixed is not None else np.concatenate([rows, values])
        return (a @ values - target) / size, rows.T / size

    def start(W: Array) -> Array:
        if fixed is not None:
            return W.ravel()
        return np.concatenate([W.ravel(), best_outer(space, neuron.values(W), space.target)])

    def fitted(x: Array) -> Fit:
        W, a = parts(x)
        terms = np.linalg.norm(a[:, None] * neuron.values(W) @ root.T, axis=1)
        return Fit(W, a, float(np.linalg.norm(system(x)[0])), float(terms.max()) / size)

    fits: list[Fit] = []
    best = Fit(np.zeros((r, n)), np.zeros(r), inf, inf)
    for W in _starts(problem, space, neuron):
        x = start(W)
        for here in gauss_newton(system, x, STEPS):
            x = here.next
            if float(np.abs(here.step).max()) < EPSILON * float(np.abs(x).max()):
                break
        fit = fitted(x)
        fits += [fit] if fit.is_target else []
        if len(fits) == CHOICES:
            break
        best = min(best, fit, key=lambda item: item.gap)
    if fits:
        return min(fits, key=lambda item: max(float(np.abs(item.W).max()), float(np.abs(item.a).max())))
    far = [fitted(start(W)) for W in _far_starts(problem, space)]
    return min([best, *far], key=lambda item: item.gap)


def best_outer(space: PolynomialSpace, values: Array, entries: Array) -> Array:
    """Outer weights of neurons with these functions that come next to a function; sizes of neurons may differ much."""
    root = semidefinite_root(space.gram)
    columns = values @ root.T
    sizes = np.linalg.norm(columns, axis=1)
    return np.asarray(np.linalg.lstsq((columns / sizes[:, None]).T, root @ entries)[0] / sizes)


def _starts(problem: Problem, space: PolynomialSpace, neuron: Neuron) -> Iterator[Array]:
    """Random neurons; in one input their sizes go with the data, and with a bias they see them around zero."""
    rng, r = np.random.default_rng([problem.width, 3]), problem.width
    for _ in range(STARTS):
        W = rng.standard_normal((r, neuron.n))
        if problem.n == 1:
            W[:, -1] *= np.exp(SPREAD * rng.standard_normal(r)) / spread(problem, space)
        if problem.n == 1 and problem.bias:
            W[:, 0] -= W[:, 1] * float(space.gram[0, 1] / space.gram[0, 0])
        yield W


def _far_starts(problem: Problem, space: PolynomialSpace) -> Iterator[Array]:
    """Networks next to limits in one input: some neurons small, some large, of either sign."""
    if problem.n > 1 or problem.bias or problem.outer is not None:
        return
    rng, r = np.random.default_rng([problem.width, 4]), problem.width
    for _ in range(STARTS):
        sizes = rng.choice([NEARLY, 1.0, 1 / NEARLY], r) * rng.uniform(1.0, 2.0, r) / spread(problem, space)
        yield (rng.choice([1.0, -1.0], r) * sizes)[:, None]


def spread(problem: Problem, space: PolynomialSpace) -> float:
    """The size of the data in one input: the deviation with a bias, else that of the highest power."""
    if problem.bias:
        return float(np.sqrt(space.gram[1, 1] - space.gram[0, 1] ** 2 / space.gram[0, 0]))
    return float(space.gram[-1, -1] ** (0.5 / space.degree))
