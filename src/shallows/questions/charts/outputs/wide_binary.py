"""Several outputs in two inputs, more neurons than a function determines: what is critical there is known.

At a critical network Σ aᵢ ⊗ wᵢ^⊗d the slopes R_m of the outputs, forms of degree d, vanish at every neuron in use, and
Σ_m a_mi R_m does so twice. Let not all of them be zero. Forms in two variables have at most d common roots, so at most
d different neurons are in use. If there are d, the R_m are multiples c_m ρ of one form with these roots, all simple, so
that c·aᵢ = 0 for all i: the output c·f is zero, and all others are met. With T = (t_m) that is

    f = T − c (c·T),    ρ = G(c·T),    c an eigenvector of TGTᵀ,

the critical points of linear networks (`linear`) with one singular value left out; neurons are the roots of ρ, and a
network is there if these are real. With one form, not several, roots are double, and there are at most d/2.

Where an eigenvalue is double c is any vector of a plane, and the ρ are a pencil: networks are there on arcs of a circle
between zeros of its discriminant, a polynomial over Q where the eigenvalue is rational. Each arc is a family.

All slopes are zero at the target alone, which is a network of d + 1 neurons, whatever they are, and one of d if some
form that is orthogonal to all t_m has d real roots.

With a norm neuron (d = 2) slopes are orthogonal to ‖x‖², so that their roots are orthogonal to each other and two
neurons are one, up to ‖x‖²: there is nothing but networks of one neuron, and the target.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from shallows.mathematics.exact.binary_forms import real_rooted_arcs
from shallows.mathematics.exact.linear_algebra import from_flint, repeated_eigenspaces, to_flint
from shallows.mathematics.numerical_rank import rank_of
from shallows.mathematics.signature import signature
from shallows.mathematics.tensors import coordinates
from shallows.model.problem import Problem
from shallows.model.reduced_problem import identity
from shallows.questions.charts.outputs.equations import OutputEquations
from shallows.questions.charts.outputs.exact_loss import OutputsLoss
from shallows.questions.charts.outputs.point import OutputPoint, OutputStratum
from shallows.questions.charts.outputs.stratum import clear_frame
from shallows.questions.charts.outputs.system import OutputSystem
from shallows.questions.charts.points.stratum import POINT_ERROR, Counts
from shallows.support.checks import Array
from shallows.support.tolerances import TINY

#: So many forms that are orthogonal to the targets are tried for one with real roots.
TRIED = 400
#: Eigenvalues closer than this share of the largest are equal: TGTᵀ is made of doubles.
EQUAL = 1e-10
#: Roots of forms are real, and different, if they are so by this share of their size: simple roots are known better.
APART = 1e-7
#: Where the directions of the target's neurons begin, in steps: none is on an axis.
FIRST = 0.25
NO_NETWORK = "the target itself was not found to be a network of this width"
OPEN = (
    "equal singular values: of infinitely many ways to leave one output out those that a search finds are listed as a "
    "family, and there may be others"
)
ARC = "a circle, or an arc of one, of networks that leave out one of two singular values {value:.6g}"
MANY = "networks that leave out one of {count} singular values {value:.6g}"
SOURCE = "all but one singular value, and the target"


def charted_rank(problem: Problem, loss: OutputsLoss) -> int | None:
    """Up to how many neurons networks are found by their equations; None where those beyond are not known here.

    That is the width, while networks are isolated.
    """
    n, d = problem.n, problem.degree
    if problem.norm_neuron and problem.width >= n - problem.constants:
        return n - problem.constants - 1 if n - problem.constants <= 2 and not problem.constants else None
    isolated = 1
    while isolated < problem.width and _is_isolated(problem, loss, isolated + 1):
        isolated += 1
    if isolated == problem.width:
        return isolated
    most = d - 1 if loss.rank > 1 else d // 2
    return min(isolated, d) if n == 2 and isolated >= most else None


def _is_isolated(problem: Problem, loss: OutputsLoss, rank: int) -> bool:
    """Whether functions of so many neurons have as many dimensions as weights, and leave something out: where they are
    all functions, slopes that are not zero are found by no path (but at degree 2, in `shared`)."""
    outputs = max(loss.rank, 1) if problem.n == 2 else problem.outputs
    if problem.n == 2 and problem.degree > 2 and rank * (outputs + 1) >= outputs * (problem.degree + 1):
        return False
    return OutputEquations.of_powers(problem.degree, problem.n, rank, outputs).is_isolated()


def wide_stratum(problem: Problem, loss: OutputsLoss, charted: int) -> OutputStratum:
    """The networks of more neurons than are `charted`: those that leave one singular value out, and the target."""
    target = np.asarray(problem._optimum[0])
    found: list[OutputPoint] = []
    notes: list[str] = []
    level = "proved"
    if loss.rank > 1 and charted < problem.degree <= problem.width and not problem.norm_neuron:
        found, still_open = _all_but_one(problem, loss, target)
        level = "sampled" if still_open else "count-matched"
        notes += [OPEN] if still_open else []
    W = _neurons_of(target, problem)
    if W is None:
        return OutputStratum(found, Counts(None, None, SOURCE), [*notes, NO_NETWORK], level)
    beside = identity(target.shape[1])[None] if problem.norm_neuron else np.zeros((0, target.shape[1]))
    powers = coordinates.monomials(W, problem.degree)
    solved = np.linalg.lstsq(np.concatenate([powers, beside]).T, target.T, rcond=None)[0]
    A = np.asarray(solved[: len(W)].T, np.float64)
    size = problem.outputs * (target.shape[1] - problem.norm_neuron)
    found.append(OutputPoint(A, W, (A @ powers).ravel(), (size, 0, 0)))
    return OutputStratum(found, Counts(None, None, SOURCE), notes, level)


def _all_but_one(problem: Problem, loss: OutputsLoss, target: Array) -> tuple[list[OutputPoint], bool]:
    """T − c(c·T) for the eigenvectors c of TGTᵀ whose form has d real roots, and whether there may be others.

    Of a double eigenvalue there is one for each arc of such c, of one that is repeated more often one that a search
    finds.
    """
    right = loss.right.astype(float)
    values, vectors = np.linalg.eigh(target @ right.T)
    values, vectors = values[-loss.rank :], vectors[:, -loss.rank :]
    exact = repeated_eigenspaces(loss.right @ loss.targets.T)
    found: list[OutputPoint] = []
    still_open = False
    for chosen in np.split(np.arange(len(values)), np.flatnonzero(np.diff(values) > EQUAL * values[-1]) + 1):
        value, space = float(values[chosen[0]]), vectors[:, chosen].T
        same = [basis for own, basis in exact if abs(float(own) - value) <= EQUAL * values[-1]]
        if len(chosen) == 1:
            ways, text = [space[0]], ""
        elif len(chosen) == 2 and same and len(same[0]) == 2:
            ways, text = _arcs(loss, same[0]), ARC.format(value=np.sqrt(value))
        else:
            ways, text = (
                [_searched(space, right, problem.degree)],
                MANY.format(count=len(chosen), value=np.sqrt(value)),
            )
            still_open = True
        made = [_left_out(problem, loss, target, c) for c in ways if c is not None]
        still_open |= any(point is None for point in made) and len(chosen) > 1
        found += [
            replace(point, dimension=len(chosen) - 1, description=text) for point in made if point is not None
        ]
    return found, still_open


def _arcs(loss: OutputsLoss, basis: list[list[Fraction]]) -> list[Array]:
    """One c in each arc of a plane on which all roots of ρ are real and different."""
    p, q = (tuple(map(to_flint, row)) for row in (np.array(basis, dtype=object) @ loss.right))
    made = [
        float(from_flint(s)) * u + float(from_flint(t)) * v
        for s, t in real_rooted_arcs(p, q)
        for u, v in [np.array(basis, dtype=np.float64)]
    ]
    return [c / np.linalg.norm(c) for c in made]


def _searched(space: Array, right: Array, degree: int) -> Array | None:
    """Some c of a space whose form has real roots, if one of those tried does."""
    rng = np.random.default_rng(degree)
    tries = (rng.standard_normal(len(space)) @ space for _ in range(TRIED))
    return next((c / np.linalg.norm(c) for c in tries if _real_roots(c @ right, degree) is not None), None)


def _left_out(problem: Problem, loss: OutputsLoss, target: Array, c: Array) -> OutputPoint | None:
    """T − c(c·T), if its neurons are real."""
    W = _real_roots(c @ loss.right.astype(float), problem.degree)
    return None if W is None else _point(problem, loss, target - np.outer(c, c @ target), W)


def _point(problem: Problem, loss: OutputsLoss, entries: Array, W: Array) -> OutputPoint:
    A = np.asarray(
        np.linalg.lstsq(coordinates.monomials(W, problem.degree).T, entries.T, rcond=None)[0].T, np.float64
    )
    equations = OutputEquations.of_powers(problem.degree, problem.n, len(W), problem.outputs)
    system = OutputSystem(equations, loss, clear_frame(W[None].astype(np.complex128), 0))
    x = system.unknowns(A.T[None].astype(np.complex128), W[None].astype(np.complex128))[0].real
    return OutputPoint(A, W, entries.ravel(), signature(np.linalg.eigvalsh(system.hessian(x)), POINT_ERROR))


def _real_roots(form: Array, degree: int) -> Array | None:
    """Unit vectors w with Σ ρ_I w^I = 0, if there are d different real ones."""
    turn = np.linalg.qr(np.random.default_rng(degree).standard_normal((2, 2)))[0]  # no root is at infinity
    nodes = np.column_stack([np.ones(degree + 1), np.linspace(-1.0, 1.0, degree + 1)])
    values = coordinates.monomials(nodes @ turn.T, degree) @ form
    size = float(np.abs(values).max())
    if size <= TINY:
        return None
    fitted = np.polynomial.Polynomial.fit(nodes[:, 1], values / size, degree, domain=[-1, 1])
    roots = np.asarray(fitted.roots(), np.complex128)
    scale = 1 + np.abs(roots)
    gaps = np.abs(roots[:, None] - roots)[~np.eye(len(roots), dtype=bool)]
    if (
        len(roots) < degree
        or np.any(np.abs(roots.imag) > APART * scale)
        or np.any(gaps <= APART * scale.max())
    ):
        return None
    W = np.column_stack([np.ones(degree), roots.real]) @ turn.T
    return np.asarray(W / np.linalg.norm(W, axis=1, keepdims=True))


def _neurons_of(target: Array, problem: Problem) -> Array | None:
    """Neurons of which the target is made, if they are found: d + 1 directions, or the d roots of a form across it."""
    degree = problem.degree
    needed = degree + 1 - problem.norm_neuron
    if problem.width >= needed:
        angles = np.pi * (FIRST + np.arange(needed)) / (degree + 1)
        return np.column_stack([np.cos(angles), np.sin(angles)])
    values, basis = np.linalg.svd(target)[1:]
    across = basis[rank_of(values, EQUAL) :]
    rng = np.random.default_rng(degree)
    for _ in range(TRIED if problem.width == degree and len(across) else 0):
        W = _real_roots(rng.standard_normal(len(across)) @ across, degree)
        if W is not None:
            return W
    return None
