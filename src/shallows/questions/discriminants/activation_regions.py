"""The landscapes of one neuron on a window of activations z² + βz + γ: critical points and minima, region by region.

Real critical points are real zeros of F: counted in floats with an error bound, exactly where that does not decide.
Which of them are minima is read off the Hessian's eigenvalues, in floats.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import fmpq, fmpz_mpoly
from numpy.typing import NDArray

from shallows.mathematics.exact.binary_forms import affine, real_roots
from shallows.questions.discriminants.activation_family import NAMES, ActivationDiscriminant
from shallows.questions.discriminants.activation_minima import count_minima
from shallows.questions.discriminants.costs import require_exact, require_grid
from shallows.questions.discriminants.counting import count_zeros, grid_forms
from shallows.questions.discriminants.figures import activation_figure
from shallows.questions.discriminants.regions import Region, Wall, label_regions, walls_between
from shallows.questions.discriminants.signs import axis
from shallows.support.checks import Array, positive_integer
from shallows.support.errors import InvalidProblem
from shallows.support.tolerances import EPSILON

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Lines of a window on which the discriminant's points are isolated for a picture: one every few pixels, each way.
LINES = 240


@dataclass(frozen=True, eq=False)
class ActivationRegions:
    """The numbers of real critical points (but the zero function) and of local minima on a grid of β and γ.

    `real_counts[i, j]` and `local_minima[i, j]` belong to (x[j], y[i]) = (β, γ); 0 marks points on a wall. `labels` has
    the region of each; parts that are thinner than the grid may come out as regions of their own.

    >>> teacher = sh.Network([[1.0, 1 / 3], [-0.2, 0.8]], [1.0, -1.0], activation=sh.Polynomial([1, 1, 1]))
    >>> family = sh.discriminants.activation(teacher)
    >>> found = sh.discriminants.activation_regions(family, (0.1, 2), (-2, 2), resolution=21)
    >>> sorted({(region.real_count, region.local_minima) for region in found.regions})
    [(3, 2), (5, 3), (7, 4)]
    """

    family: ActivationDiscriminant
    x: Array
    y: Array
    real_counts: NDArray[np.int64]
    local_minima: NDArray[np.int64]
    labels: NDArray[np.int64]
    regions: tuple[Region, ...]
    walls: tuple[Wall, ...]
    exact: int

    def curve(self, kind: str = "discriminant") -> tuple[Array, Array]:
        """Points in the window of the discriminant, or of the "vertex": isolated on lines of constant β, constant γ."""
        if kind not in ("discriminant", "vertex"):
            raise InvalidProblem(f'kind is {kind!r}; expected "discriminant" or "vertex".')
        polynomial = self.family.vertex if kind == "vertex" else self.family.polynomial
        points = [
            (float(beta), gamma)
            for beta in np.linspace(self.x[0], self.x[-1], LINES)
            for gamma in _zeros_on(polynomial, 0, float(beta), self.y)
        ] + [
            (beta, float(gamma))
            for gamma in np.linspace(self.y[0], self.y[-1], LINES)
            for beta in _zeros_on(polynomial, 1, float(gamma), self.x)
        ]
        x, y = np.array(points).reshape(-1, 2).T
        return x, y

    def figure(self) -> Figure:
        """The window as a Plotly figure: regions by colour, the discriminant, and γ = 0."""
        return activation_figure(self)

    def __repr__(self) -> str:
        lines = [
            f"ActivationRegions: {self.family!r}",
            f"  beta in [{self.x[0]:g}, {self.x[-1]:g}], gamma in [{self.y[0]:g}, {self.y[-1]:g}], "
            f"{len(self.x)} x {len(self.y)} points, {self.exact} decided exactly",
        ]
        return "\n".join(lines + [f"  region {region}" for region in self.regions])


def activation_regions(
    family: ActivationDiscriminant,
    beta: tuple[float, float],
    gamma: tuple[float, float],
    resolution: int = 121,
) -> ActivationRegions:
    """The landscapes on a window of activations: real critical points and local minima, with a picture.

    >>> teacher = sh.Network([[1.0, 0.5], [-0.5, 1.25]], [1.0, 1.0], activation=sh.Polynomial([1, 1, 1]))
    >>> family = sh.discriminants.activation(teacher)
    >>> found = sh.discriminants.activation_regions(family, beta=(2, 3), gamma=(-2, -1), resolution=5)
    >>> [(region.real_count, region.local_minima) for region in found.regions]
    [(3, 2)]
    """
    resolution = positive_integer("resolution", resolution, 2)
    for name, ends in zip(NAMES, (beta, gamma), strict=True):
        if np.shape(ends) != (2,):
            raise InvalidProblem(f"{name} is {ends!r}; expected two numbers. Fix: {name}=(-2, 2)")
    require_grid(3 * family.n + 1, resolution, resolution)
    x, y = (
        axis(name, np.linspace(*ends, resolution)) for name, ends in zip(NAMES, (beta, gamma), strict=True)
    )
    real, certain = count_zeros(*grid_forms(family.form, NAMES, x, y))
    certain &= (x[None, :] != 0) & (y[:, None] != 0)
    require_exact(3 * family.n + 1, int(np.sum(~certain)))
    for i, j in np.argwhere(~certain):
        real[i, j] = _counted(family, float(x[j]), float(y[i]))
    minima = _minima(family, x, y, real)
    real = np.where(minima < 0, 0, real)
    minima = np.maximum(minima, 0)
    labels, regions = label_regions(real, minima, x, y)
    walls = walls_between(labels, regions)
    return ActivationRegions(family, x, y, real, minima, labels, regions, walls, int(np.sum(~certain)))


def _counted(family: ActivationDiscriminant, beta: float, gamma: float) -> int:
    """The number of real critical points, exactly; 0 on a wall."""
    if beta == 0 or gamma == 0:
        return 0
    try:
        return family.real_count(beta, gamma)
    except InvalidProblem:
        return 0


def _minima(family: ActivationDiscriminant, x: Array, y: Array, real: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many of the real zeros of F are local minima; −1 where that is not decided.

    Where zeros in floats do not tell they are isolated exactly: some are nearly triple at small β.
    """
    beta, gamma = np.meshgrid(x, y)
    form, _ = grid_forms(family.form, NAMES, x, y)
    minima = np.full(real.shape, -1, dtype=np.int64)
    for count in np.unique(real[real > 0]).tolist():
        chosen = real == count
        zeros = family.unscaled(_real_zeros(form[:, chosen], count))
        found, decided = count_minima(family.numbers, zeros, beta[chosen], gamma[chosen])
        minima[chosen] = np.where(decided, found, -1)
        left = np.argwhere(chosen & (minima < 0))
        require_exact(3 * family.n + 1, len(left))
        for i, j in left.tolist():
            zeros = family.zeros(float(x[j]), float(y[i]))
            found, decided = count_minima(family.numbers, zeros[None], x[j : j + 1], y[i : i + 1])
            minima[i, j] = int(found[0]) if decided[0] else -1
    return minima


def _real_zeros(form: Array, count: int) -> Array:
    """The real zeros of polynomials (coefficients first, lowest first) that have `count` of them."""
    degree = len(form) - 1
    companion = np.zeros((form.shape[1], degree, degree))
    companion[:, 1:, :-1] = np.eye(degree - 1)
    companion[:, :, -1] = -(form[:-1] / form[-1]).T
    zeros = np.linalg.eigvals(companion)
    order = np.argsort(np.abs(zeros.imag) / np.maximum(np.abs(zeros), EPSILON), axis=1)[:, :count]
    return np.asarray(np.take_along_axis(zeros, order, axis=1).real)


def _zeros_on(polynomial: fmpz_mpoly, place: int, value: float, window: Array) -> list[float]:
    """The zeros in the window of the other variable, where one variable has this value."""
    top, bottom = float(value).as_integer_ratio()
    parts: dict[int, Any] = {}
    for powers, coefficient in polynomial.to_dict().items():
        other = int(powers[1 - place])
        parts[other] = parts.get(other, fmpq(0)) + coefficient * fmpq(top, bottom) ** int(powers[place])
    form = [parts.get(k, fmpq(0)) for k in range(max(parts) + 1)]
    found = [float(root.mid()) for root, _ in real_roots(affine(form))]
    return [zero for zero in found if window[0] <= zero <= window[-1]]
