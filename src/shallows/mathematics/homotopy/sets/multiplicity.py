"""The multiplicity of a component in its equations: local algebra at one of its points.

On a slice through a generic point of the component the point is isolated, and its multiplicity there, the number of
functionals Σ c_α ∂^α that vanish on the ideal (`fat_points`), is that of the component.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy.coefficients import to_gaussian
from shallows.mathematics.homotopy.fat_points import local_multiplicity
from shallows.mathematics.homotopy.systems import PolynomialSystem, Terms

#: The largest multiplicity that is looked for.
MOST = 30


def component_multiplicity(
    system: PolynomialSystem, point: NDArray[np.complex128], forms: NDArray[np.complex128]
) -> int | None:
    """The multiplicity at a point of a slice; None when it is larger than MOST, or too much work."""
    rows = [_linear(form) for form in forms]
    sliced = PolynomialSystem(system.variables, (*system.equations, *rows))
    return local_multiplicity(sliced, point, MOST)


def _linear(form: Sequence[complex] | NDArray[np.complex128]) -> Terms:
    n = len(form) - 1
    row = {tuple(int(i == j) for i in range(n)): to_gaussian(complex(form[j])) for j in range(n)}
    row[(0,) * n] = to_gaussian(complex(form[n]))
    return row
