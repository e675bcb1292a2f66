"""Directions in which an inner product vanishes, and the ranks from which on students see them.

The loss is flat along k with Gk = 0. Students of rank r see k where it is tangent to their matrices, k ∈ T_S, or where
two of them differ by it. At degree 2, k ∈ T_S says that k vanishes on the kernel of S, of dimension n − r: a form with
p positive and m negative eigenvalues vanishes on subspaces of dimension up to n − max(p, m), so no matrix of rank
r < max(p, m) has it as a tangent. Nor is k itself of such a rank: then the matrices of rank ≤ r, a closed cone, meet
the line of k in 0 only, their image modulo k is closed, and the infimum of the loss is attained.

For q = ‖x‖², that a norm neuron leaves free, that is r < n; for 1 − ‖x‖², that vanishes on a sphere, too. With a bias,
in n + 1 inputs, it is r < n as well; matrices of rank n beside it are not searched (`closed_form.norm_neuron`).
"""

from __future__ import annotations

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import polynomial_of
from shallows.model.data.with_constant import with_constant
from shallows.model.polynomial_target import degree_table
from shallows.model.problem import Problem
from shallows.model.reduced_problem import ReducedProblem
from shallows.questions.charts.closed_form.norm_neuron import fills_at
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem

#: A metric of unit diagonal whose smallest eigenvalue is below this share of the largest is degenerate: its entries are
#: sums in floating point, and 4000 ε of them is rounding.
DEGENERATE = 1e-12
#: Eigenvalues of a vanishing form below this share of the largest are taken for zero: it is known to the root of
#: DEGENERATE, and taking one for zero can only lead to a refusal.
NO_SIGN = 1e-6


def require_invisible(problem: Problem, gram: Array) -> None:
    """Refuse an inner product that vanishes in directions which the students of this width can see."""
    values, direction = _with_unit_diagonal(gram)
    flat = int(np.sum(values <= DEGENERATE * values[-1]))
    if not flat:
        return
    seen = _seen_from(problem, direction) if flat == 1 else 1
    searched = fills_at(problem)
    if isinstance(problem, ReducedProblem) and problem.reduction.constants and searched < problem.n:
        searched -= 1
    if min(problem.width, searched) >= seen:
        _refuse(problem, values, direction, flat, seen)


def require_determined(problem: Problem) -> None:
    """Refuse data on which a polynomial that students of a polynomial activation can add vanishes: G t = b is no one t.

    These have a constant or a linear part beside the others, so that samples in a subspace, a singular covariance, data
    on a sphere or on ±1 leave some coefficients open at every width.
    """
    activation = polynomial_of(problem.activation)
    d, n = activation.degree, problem.n
    degrees = range(d + 1) if problem.bias else np.flatnonzero(activation.coefficients)
    rows = np.flatnonzero(np.isin(degree_table(n, d), degrees))
    values, direction = _with_unit_diagonal(with_constant(problem.data).gram(d)[np.ix_(rows, rows)])
    flat = int(np.sum(values <= DEGENERATE * values[-1]))
    if not flat:
        return
    entries = np.zeros(coordinates.dimension(n + 1, d))
    entries[rows] = np.where(np.abs(direction) > NO_SIGN * np.abs(direction).max(), direction, 0.0)
    shown = SymmetricTensor(entries, n + 1, d).polynomial([f"x{i}" for i in range(n + 1)], digits=4)
    raise InvalidProblem(
        f"The data's inner product on the polynomials that students make is degenerate: {shown} with x0 = 1 vanishes "
        f"on the data (up to rounding){f', one of {flat} independent ones' if flat > 1 else ''}. Coefficients of "
        'critical functions are then left open. Use more samples, or data that fill all inputs; or method="descent" '
        "(sampled)."
    )


def _with_unit_diagonal(gram: Array) -> tuple[Array, Array]:
    """Eigenvalues of G in units in which its diagonal is 1, and the first eigenvector in the units of G.

    What an input is measured in does not matter then.
    """
    units = np.sqrt(np.maximum(gram.diagonal(), 0.0))
    units[units == 0.0] = 1.0
    values, vectors = np.linalg.eigh(gram / np.outer(units, units))
    return values, vectors[:, 0] / units


def _seen_from(problem: Problem, direction: Array) -> int:
    """The lowest rank of students that may see the direction."""
    if problem.degree != 2:
        return 1
    signs = np.linalg.eigvalsh(SymmetricTensor(direction, problem.n, 2).to_matrix())
    size = NO_SIGN * float(np.max(np.abs(signs)))
    return max(int(np.sum(signs > size)), int(np.sum(signs < -size)))


def _refuse(problem: Problem, values: Array, direction: Array, flat: int, seen: int) -> None:
    vanishing = problem.data.vanishing_polynomial(problem.degree)
    entries = direction / np.abs(direction).max() if vanishing is None else vanishing.entries
    shown = ", ".join(f"{x:.4g}" for x in entries[:10])
    reach = ""
    if flat > 1:
        reach = f", one of {flat} independent ones"
    elif seen > 1:
        reach = f", which students of width {seen} and more can see (narrower ones cannot)"
    raise InvalidProblem(
        f"The data's inner product on Sym^{problem.degree}(R^{problem.n}) is degenerate: its smallest eigenvalue is "
        f"{values[0]:.3g} of {values[-1]:.3g} (with unit diagonal), and the tensor with entries ({shown}, …) vanishes "
        f"on it{reach}. Use more samples, or a Metric."
    )
