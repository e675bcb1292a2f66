"""Newton's method, one of each kind:

- `zeros`: one equation, in doubles, at many places at once;
- `at_once`: a square system, in doubles, at many places at once;
- `gauss_newton`: a system of any shape, in doubles; `settled` is where it converges;
- `falling`: damped, in any space: a step is taken, or shortened until the residual falls;
- `refined`: a system in midpoints of balls, at the present precision;
- `saddle_free_step`: of a loss, with curvatures by their absolute values (up along the first of them, when asked).

Compiled for paths: `homotopy._compiled.equations.polish`; for training, matrix-free: `descent.methods.polish`. With a
proof: `balls.krawczyk`, `balls.contraction`, `exclusion.newton`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from flint import acb_mat
from numpy.typing import NDArray

from shallows.mathematics.balls.contraction import inverses
from shallows.support.checks import Array
from shallows.support.tolerances import TINY

Vector = NDArray[Any]
System = Callable[[Vector], tuple[Vector, Vector]]
Place = TypeVar("Place")


def zeros(function: Callable[[Array], tuple[Array, Array]], x: Array, steps: int, longest: float) -> Array:
    """x ← x − f/f′ from each start, steps cut to `longest`; f itself is the step where f′ is 0."""
    for _ in range(steps):
        value, slope = function(x)
        x = x - np.clip(value / np.where(slope == 0, 1.0, slope), -longest, longest)
    return x


def at_once(
    system: Callable[[Array], tuple[Array, Array]],
    x: Array,
    steps: int,
    move: Callable[[Array, Array], Array],
) -> tuple[Array, Array]:
    """Newton's method for a square system from many places (…, n), and the last steps −J⁻¹F; 0 where J is singular.

    `move(x, step)` is where a step leads: it may take a part of it, stay in a region, or give places up.

    >>> def roots(x):
    ...     return x**2 - 2.0, 2.0 * x[..., None]
    >>> at_once(roots, np.array([[1.0], [-3.0]]), 6, np.add)[0].round(9).tolist()
    [[1.414213562], [-1.414213562]]
    """
    step = np.full(x.shape, np.inf)
    for _ in range(steps):
        value, jacobian = system(x)
        inverse = inverses(jacobian.reshape(-1, *jacobian.shape[-2:])).reshape(jacobian.shape)
        step = np.asarray(-(inverse @ value[..., None])[..., 0])
        x = move(x, step)
    return x, step


class Iterate(NamedTuple):
    """A place, the system's value and Jacobian there, the step to the next place, and J's singular values."""

    x: Vector
    value: Vector
    jacobian: Vector
    step: Vector
    singular_values: Array

    @property
    def next(self) -> Vector:
        """Where the step leads."""
        return np.asarray(self.x + self.step)


def gauss_newton(
    system: System,
    x: Vector,
    steps: int,
    flat: float | None = None,
    share: Callable[[Vector], float] | None = None,
) -> Iterator[Iterate]:
    """The steps −J⁺F of Gauss and Newton; it ends where numbers are not finite.

    Systems may have more equations than unknowns, or fewer: steps are the shortest ones that solve them best, where
    singular values below `flat` times the largest (rounding, unless told) count as 0. `share` is how much of a step to
    take.
    """
    for _ in range(steps):
        value, jacobian = system(x)
        if not (np.isfinite(value).all() and np.isfinite(jacobian).all()):
            return
        step, _, _, values = np.linalg.lstsq(jacobian, value, rcond=flat)
        here = Iterate(x, value, jacobian, -step if share is None else -share(step) * step, values)
        yield here
        x = here.next


def settled(
    system: System, x: Vector, steps: int, converged: float, regular: float = 0.0
) -> tuple[Vector, Vector] | None:
    """Where the steps of Gauss and Newton settle, and the last J; None where they do not, or leave the numbers.

    They have settled when a step is shorter than `converged` times the point. None also where the smallest singular
    value of J falls below `regular` times the largest, or below `regular`.

    >>> def circle(x):
    ...     return np.array([x @ x - 2.0]), 2.0 * x[None]
    >>> place, _ = settled(circle, np.array([3.0, 3.0]), 20, 1e-12)
    >>> place.round(9).tolist()
    [1.0, 1.0]
    """
    for here in gauss_newton(system, x, steps):
        if here.singular_values[-1] < regular * max(here.singular_values[0], 1.0):
            return None
        if float(np.abs(here.step).max()) < converged * max(1.0, float(np.abs(here.next).max())):
            return here.next, here.jacobian
    return None


def shortened(
    move: Callable[[float], Place],
    accepted: Callable[[Place], bool],
    tries: int,
    share: float = 1.0,
    factor: float = 2.0,
) -> Place | None:
    """The first of move(share), move(share/factor), … that is accepted; None where none of them is.

    >>> shortened(lambda share: 8 * share, lambda place: place < 3, tries=5)
    2.0
    """
    for _ in range(tries):
        there = move(share)
        if accepted(there):
            return there
        share /= factor
    return None


def falling(
    value: Callable[[Vector], Vector],
    step: Callable[[Vector, Vector], Vector | None],
    x: Vector,
    steps: int,
    halvings: int = 0,
    move: Callable[[Vector], Vector] = np.asarray,
) -> Iterator[tuple[Vector, Vector]]:
    """Damped Newton: places and residuals F, each shorter than the last; it ends where none is, or there is no step.

    `step(x, F)` is a step, or None; it is halved up to `halvings` times. `move` takes a place back to where places are.

    >>> places = falling(np.tanh, lambda x, F: -F * np.cosh(x) ** 2, np.array([2.0]), 20, halvings=10)
    >>> [f"{place[0]:.1e}" for place, _ in places]
    ['-1.4e+00', '6.8e-01', '-2.3e-01', '8.6e-03', '-4.3e-07', '5.2e-20', '0.0e+00']
    """
    here = value(x)
    for _ in range(steps):
        whole = step(x, here)
        if whole is None:
            return
        there = _fallen(value, move, x, here, whole, halvings + 1)
        if there is None:
            return
        x, here = there
        yield x, here


def _fallen(
    value: Callable[[Vector], Vector],
    move: Callable[[Vector], Vector],
    x: Vector,
    here: Vector,
    step: Vector,
    tries: int,
) -> tuple[Vector, Vector] | None:
    size = np.linalg.norm(here)

    def at(share: float) -> tuple[Vector, Vector]:
        there = move(x + share * step)
        return there, value(there)

    return shortened(at, lambda there: bool(np.linalg.norm(there[1]) < size), tries)


def saddle_free_step(gradient: Array, hessian: Array, flattest: float, uphill: int = 0) -> Array:
    """−|H|⁻¹∇L, with curvatures of at least `flattest` times the largest; for one place, or many.

    With `uphill`, up along so many of the lowest eigenvectors: towards a saddle of that index.

    >>> saddle_free_step(np.array([1.0, 1.0]), np.diag([-2.0, 4.0]), 1e-8).tolist()
    [-0.5, -0.25]
    >>> saddle_free_step(np.array([1.0, 1.0]), np.diag([-2.0, 4.0]), 1e-8, uphill=1).tolist()
    [0.5, -0.25]
    """
    values, vectors = np.linalg.eigh(hessian)
    curvature = np.maximum(np.abs(values), flattest * np.abs(values).max(axis=-1, keepdims=True) + TINY)
    along = (np.swapaxes(vectors, -1, -2) @ gradient[..., None])[..., 0] / curvature
    along[..., :uphill] *= -1.0
    return np.asarray(-(vectors @ along[..., None])[..., 0])


def refined(
    system: Callable[[Sequence[Any]], tuple[Any, Any]], x: Sequence[Any], steps: int
) -> Iterator[tuple[list[Any], float]]:
    """The iterates x − J⁻¹F and how far each has moved, in midpoints of balls at the present precision.

    `system` gives value and Jacobian as flint matrices, real or complex; of more equations than unknowns the normal
    equations are solved. It ends where the Jacobian is singular, or not finite.
    """
    for _ in range(steps):
        value, jacobian = system(x)
        if type(value) is not type(jacobian):
            value, jacobian = acb_mat(value), acb_mat(jacobian)
        if jacobian.nrows() > jacobian.ncols():
            adjoint = jacobian.transpose().conjugate()
            value, jacobian = adjoint * value, adjoint * jacobian
        try:
            step = jacobian.mid().solve(value.mid(), algorithm="approx").mid().entries()
        except ZeroDivisionError:
            return
        if not all(entry.is_finite() for entry in step):
            return
        x = [(a - b).mid() for a, b in zip(x, step, strict=True)]
        yield x, max(abs(complex(b)) for b in step)
