"""The three networks of paper 002, Table 1, one line each."""

from __future__ import annotations

from collections.abc import Callable

from shallows.data import InnerProduct
from shallows.errors import InvalidProblem
from shallows.network import Network
from shallows.problem import Problem
from shallows.quadratic.certificates import energy

Target = Network | None


def plain(data: InnerProduct, width: int, target: Target = None) -> Problem:
    """α = 0, γ = 0: it has spurious minima at every width (Example 2.1)."""
    return Problem(target, data, width)


def with_norm(data: InnerProduct, width: int, target: Target = None) -> Problem:
    """ "Added norm": f(x) + α‖x‖²; from width d on, random starts reach the global minimum (Theorem D.1, part 1)."""
    return Problem(target, data, width, norm_neuron=True)


def with_orthogonality(
    data: InnerProduct, width: int, gamma: float | None = None, target: Target = None
) -> Problem:
    """ "Orthogonality penalty" γ‖QQᵀ − I‖², γ = E y² by default (Theorem D.1, part 2); needs width at least d.

    Table 1 of the paper has γ = mean y², its text Σy² and its code ‖y‖²/d².
    """
    bare = Problem(target, data, width)
    if width < data.n:
        raise InvalidProblem(
            f"The penalty γ‖QQᵀ − I‖² needs a width of at least d = {data.n} for QQᵀ = I; the width is {width}."
        )
    return Problem(target, data, width, orthogonality=energy(bare) if gamma is None else gamma)


VARIANTS: dict[str, Callable[[InnerProduct, int], Problem]] = {
    "plain": plain,
    "norm": with_norm,
    "orthogonality": with_orthogonality,
}
