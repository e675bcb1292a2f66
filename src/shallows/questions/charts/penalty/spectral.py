"""Strata of a penalised problem whose data rotations leave alone: on spans of eigenvectors of the target.

With G = u₁‖S‖² + u₂(tr S)² the slopes are E = u₁(s − T) + u₂ tr(s − T) I and D = γ(P − I). At a critical network
a_gE + D vanishes on the span U_g of the neurons of weight a_g. D maps the span U of all neurons to itself, so E does
where a_g ≠ 0, and s does: U is an invariant subspace of T. In an orthonormal basis of U it is a critical network of as
many inputs as there are neurons, for the target T on U and the same trace beside it. So n inputs come down to ρ, one
problem for each choice of ρ eigenvalues; where some of equal ones are chosen, U is any of a product of Grassmannians.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from shallows.mathematics.exact.rational_arrays import fractions
from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.exact_loss import ExactLoss
from shallows.model.reduced_problem import identity
from shallows.questions.charts.completeness import weakest
from shallows.questions.charts.neurons.balls import NeuronSystem
from shallows.questions.charts.neurons.real import NeuronPoint, seen_point, sort_neurons
from shallows.questions.charts.neurons.singular import NeuronFamily
from shallows.questions.charts.outputs.point import Seen
from shallows.questions.charts.penalty.loss import PairLoss, with_penalty
from shallows.questions.charts.penalty.stratum import penalised_stratum
from shallows.questions.charts.penalty.students import PenalisedEquations
from shallows.questions.charts.points.stratum import Part
from shallows.questions.charts.singular_ends import FLAT
from shallows.support.checks import Array, counted
from shallows.support.progress import Shown
from shallows.support.tolerances import TINY

#: Eigenvalues of the target that agree to this share of the largest are one: rounding leaves 10⁻¹⁵ or so.
ONE_EIGENVALUE = 1e-12
#: What a family of such a stratum is.
ORBIT = "the orbit of the symmetries that the data and the target share"


@dataclass(frozen=True, eq=False)
class _Choice:
    """Orthonormal eigenvectors (columns), and how many dimensions their span can move in."""

    basis: Array
    dimension: int


def spectral_stratum(
    loss: PairLoss, own: PenalisedEquations, certify_points: bool, seed: int, tell: Shown = False
) -> Part[Seen]:
    """The same as `penalised_stratum`, for isotropic metrics and fewer neurons than inputs."""
    used = sum(group.size for group in own.groups)
    T = SymmetricTensor(loss.target[: loss.size], loss.n, 2).to_matrix()
    inner = PenalisedEquations.of(used, own.groups)
    result: Part[Seen] = Part([], 0, [], "proved")
    for choice in _choices(T, used):
        part = penalised_stratum(_restricted(loss, T, choice.basis), inner, certify_points, seed, tell)
        result = _joined(result, loss, own, inner, choice, part, certify_points)
    note = f"rank {used}: on spans of {counted(used, 'eigenvector')} of the target, in as many inputs"
    found = sorted(result.found, key=lambda seen: seen[1] is not None)  # points before families
    return replace(result, found=found, notes=[note, *dict.fromkeys(result.notes)])


def eigenspaces(T: Array) -> list[tuple[float, Array]]:
    """Eigenvalues, each once, with orthonormal columns of their eigenvectors.

    >>> [(round(value, 6), len(vectors.T)) for value, vectors in eigenspaces(np.diag([1.0, 3.0, 1.0]))]
    [(1.0, 2), (3.0, 1)]
    """
    values, vectors = np.linalg.eigh(T)
    cuts = np.flatnonzero(np.diff(values) > ONE_EIGENVALUE * max(float(np.abs(values).max()), TINY)) + 1
    means = [float(part.mean()) for part in np.split(values, cuts)]
    return list(zip(means, np.split(vectors, cuts, axis=1), strict=True))


def _choices(T: Array, used: int) -> Iterator[_Choice]:
    spaces = [vectors for _, vectors in eigenspaces(T)]
    for counts in product(*(range(space.shape[1] + 1) for space in spaces)):
        if sum(counts) == used:
            basis = np.concatenate([space[:, :k] for space, k in zip(spaces, counts, strict=True)], axis=1)
            moves = sum(k * (space.shape[1] - k) for space, k in zip(spaces, counts, strict=True))
            yield _Choice(basis, moves)


def _restricted(loss: PairLoss, T: Array, basis: Array) -> PairLoss:
    """The loss on matrices with this range; the metric is the same in all coordinates."""
    n, used = loss.n, basis.shape[1]
    pairs = coordinates.indices(n, 2)
    kept = np.flatnonzero(pairs[:, 1] < used)
    G = loss.exact.gram[np.ix_(kept, kept)]
    gram = G.astype(np.float64)
    own, trace = float(gram[0, 0]), float(gram[0, used]) if used > 1 else _trace_weight(loss)
    inside = basis.T @ T @ basis
    b = (own - trace) * (inside + inside.T) / 2 + trace * np.trace(T) * np.eye(used)
    right = coordinates.matrix_entries(b) * coordinates.multiplicities(used, 2)
    exact = ExactLoss(G, fractions(right))
    target = np.linalg.lstsq(gram, right)[0]
    whole = np.concatenate([target, identity(len(right))])
    return PairLoss(used, loss.penalty, True, loss.fixed, with_penalty(exact, used, loss.penalty), whole)


def _trace_weight(loss: PairLoss) -> float:
    """u₂, G on entries 11 and 22."""
    return float(loss.gram[0, loss.n])


def _joined(
    result: Part[Seen],
    loss: PairLoss,
    own: PenalisedEquations,
    inner: PenalisedEquations,
    choice: _Choice,
    part: Part[Seen],
    certify_points: bool,
) -> Part[Seen]:
    """With the points and families of one choice, in all inputs."""
    system = NeuronSystem(own, loss.exact)
    found = list[Seen]()
    for point, inside in part.found:
        x = own.unknowns_of(*_embedded(inner, point, choice))
        dimension = choice.dimension + (0 if inside is None else inside.dimension)
        if dimension:
            family = _family(system, x, dimension)
            found.append((family.point, family))
        elif certify_points:
            found += [(p, None) for p in sort_neurons(system, x[None].astype(np.complex128), True).found]
        else:
            found.append((seen_point(system, x), None))
    return Part(
        result.found + found,
        result.count + (0 if choice.dimension else part.count),
        result.notes + part.notes,
        weakest([result.completeness, part.completeness]),
    )


def _embedded(inner: PenalisedEquations, point: NeuronPoint, choice: _Choice) -> tuple[Array, Array]:
    a, W = inner.network(point.W[0])
    return a.real, np.asarray(W.real @ choice.basis.T)


def _family(system: NeuronSystem, x: Array, dimension: int) -> NeuronFamily:
    """All networks that turns within eigenspaces of the target make of one."""
    point = seen_point(system, x, FLAT)
    return NeuronFamily(point, dimension, ORBIT, (point.entries,))
