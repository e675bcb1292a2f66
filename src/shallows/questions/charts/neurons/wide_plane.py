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

from shallows.model.activations import PolynomialActivation
from shallows.model.problem import Problem

#: Up to so many neurons critical networks are charted one by one.
CHARTED = 2


def is_wide_plane(problem: Problem) -> bool:
    """Whether a problem has such neurons, trained and without bias, and more than two of them."""
    activation = problem.activation
    if not isinstance(activation, PolynomialActivation) or problem.n != 2 or problem.outputs != 1:
        return False
    powers = np.flatnonzero(activation.coefficients).tolist()
    trained = problem.outer is None and not problem.bias
    return bool(trained and problem.width > CHARTED and powers in ([1, 3], [2, 3]))
