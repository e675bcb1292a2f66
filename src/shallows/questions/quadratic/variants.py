"""The three networks of paper 002, Table 1, one line each."""

from __future__ import annotations

from collections.abc import Callable

from shallows.model.data.base import InnerProduct
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.quadratic.certificates import energy
from shallows.support.errors import InvalidProblem

Target = Network | None


def plain(data: InnerProduct, width: int, target: Target = None) -> Problem:
    """The plain network of paper 002, Table 1 (α = 0, γ = 0): it has spurious minima at every width (Example 2.1).

    >>> data = sh.Samples([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1.0, 1.0, 2.0])   # y = ‖x‖²
    >>> problem, stuck = sh.quadratic.plain(data, 2), sh.Network(np.zeros((2, 2)), a=[-1.0, -1.0])
    >>> sh.quadratic.inspect(problem, stuck).verdict
    'trap'
    """
    return Problem(target, data, width)


def with_norm(data: InnerProduct, width: int, target: Target = None) -> Problem:
    """The network with "added norm" of paper 002, Table 1: f(x) + α‖x‖², α trained.

    From width d on, random starts reach the global minimum (Theorem D.1, part 1).

    >>> data = sh.Samples([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1.0, 1.0, 2.0])   # y = ‖x‖²
    >>> problem, stuck = sh.quadratic.with_norm(data, 2), sh.Network(np.zeros((2, 2)), a=[-1.0, -1.0])
    >>> sh.quadratic.inspect(problem, stuck).verdict   # α frees the trap of the plain network
    'not stationary'
    >>> f"{sh.descend(problem, stuck).loss:.10f}"
    '0.0000000000'
    """
    return Problem(target, data, width, norm_neuron=True)


def with_orthogonality(
    data: InnerProduct, width: int, gamma: float | None = None, target: Target = None
) -> Problem:
    """The network with "orthogonality penalty" of paper 002, Table 1: γ‖QQᵀ − I‖², γ = E y² by default.

    It needs a width of at least d. Descent from (0, I) keeps Q of full rank (Theorem D.1, part 2). Table 1 of the paper
    has γ = mean y², its text Σy² and its code ‖y‖²/d².

    >>> data = sh.Samples([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1.0, 1.0, 2.0])   # y = ‖x‖²
    >>> problem = sh.quadratic.with_orthogonality(data, 2)
    >>> round(problem.orthogonality, 6)   # (1 + 1 + 4)/3
    2.0
    >>> sh.quadratic.fit_orthogonal(problem).inspection.verdict
    'global minimum'
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
