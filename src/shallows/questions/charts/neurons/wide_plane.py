"""Cubic neurons z + cz³ and z² + cz³ in two inputs, more of them than a function determines: what is critical.

At a critical network h(w) = E[p(w·x) r], r the residual, is zero with its gradient at every neuron that is in use. It
is a cubic polynomial in w. If h is not zero,

- for z² + cz³ the origin is a singular point of the curve h = 0 as well, and a cubic curve with four singular points,
  or three on a line, has a double line: at most two neurons, or all on the line, which passes through the origin;
- for z + cz³, h = ℓ + q with a linear and a cubic form, h = w·∇h = 0 says ℓ(w) = q(w) = 0, and ∇q(w) = −ℓ then leaves
  one neuron and its opposite, which is the same one, or ℓ = 0 and all of them on the double line of q.

So critical networks of three and more neurons are the target, or have the function of one or two neurons, or of
parallel ones: those of width two. At all but the target an idle neuron with h(w) ≠ 0 descends: they are saddles.
"""

from __future__ import annotations

import numpy as np

from shallows.mathematics.newton import settled
from shallows.model.activations import PolynomialActivation
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.neurons.neuron import Neuron
from shallows.support.checks import Array
from shallows.support.tolerances import EPSILON

#: Up to so many neurons critical networks are charted one by one.
CHARTED = 2
#: So many random networks are moved to the target, by so many steps of Gauss and Newton each.
STARTS, STEPS = 60, 80
#: A fit this close to the target, relatively, is the target: rounding of sums of terms up to LARGE times as large.
FITTED, LARGE = 1e-10, 1e3
NO_FIT = (
    "the target itself was not found to be a network of this width: among the limits of networks it may be, or out of "
    "reach of real ones"
)


def is_wide_plane(problem: Problem) -> bool:
    """Whether a problem has such neurons, trained and without bias, and more than two of them."""
    activation = problem.activation
    if not isinstance(activation, PolynomialActivation) or problem.n != 2 or problem.outputs != 1:
        return False
    powers = np.flatnonzero(activation.coefficients).tolist()
    trained = problem.outer is None and not problem.bias
    return bool(trained and problem.width > CHARTED and powers in ([1, 3], [2, 3]))


def charted_width(problem: Problem) -> int:
    """Up to how many neurons critical networks are charted one by one."""
    return CHARTED if is_wide_plane(problem) else problem.width


def target_network(problem: Problem, space: PolynomialSpace, neuron: Neuron) -> tuple[Array, Array] | None:
    """W and a of a network of the problem that is the best of all polynomials; None where none is found."""
    r, size = problem.width, float(np.abs(space.target).max())
    rng = np.random.default_rng([r, 3])

    def parts(x: Array) -> tuple[Array, Array]:
        return x[: 2 * r].reshape(r, 2), x[2 * r :]

    def system(x: Array) -> tuple[Array, Array]:
        W, a = parts(x)
        values, slopes = neuron.values(W), neuron.slopes(W)
        rows = np.concatenate([(a[:, None, None] * slopes).reshape(2 * r, -1), values])
        return (a @ values - space.target) / size, rows.T / size

    for _ in range(STARTS):
        found = settled(system, rng.standard_normal(3 * r), STEPS, EPSILON)
        if found is None:
            continue
        W, a = parts(found[0])
        terms = a[:, None] * neuron.values(W)
        if np.abs(system(found[0])[0]).max() <= FITTED and np.abs(terms).max() <= LARGE * size:
            return W, a
    return None
