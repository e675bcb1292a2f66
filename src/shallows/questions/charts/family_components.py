"""Families of critical points as parts of irreducible sets over the complex numbers: dimension and degree, any degree.

The loss is a quadratic function ℓ of τ(θ), polynomials in the parameters: the tensors Σᵢ a_mi wᵢ^⊗d of the outputs, and
WᵀW beside them under an orthogonality penalty. A family is a set of solutions of ∇ℓ(τ(θ))·Dτ(θ) = 0 seen in the entries
of τ; the component through one of its networks is found by monodromy, and confirmed by the trace test (`images`).
Neurons that are zero are left out: they would be free to turn, and a family of rank r is one of r neurons.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.exact.polynomials import Polynomial, constant, scaled, times, total
from shallows.mathematics.exact.rational_arrays import block_diagonal, fractions
from shallows.mathematics.homotopy.sets.images import image_component
from shallows.mathematics.homotopy.sets.numeric import NumericSystem, partial
from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Power
from shallows.model.exact_loss import ExactLoss
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.model.reduced_problem import Reduction, frobenius_weights, identity
from shallows.questions.charts.critical_sets import CriticalSet
from shallows.questions.charts.outputs.exact_loss import OutputsLoss
from shallows.support.arguments import typed
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem, NotConverged
from shallows.support.progress import Shown

#: A neuron whose part of the tensors is smaller than this share of the largest is zero.
IDLE = 1e-9
#: The largest degree that is looked for: a minute or so of tracking.
MOST_POINTS = 2_000


@dataclass(frozen=True)
class ParameterEquations:
    """∇ℓ(τ(θ))·Dτ(θ) = 0 and τ, as polynomials in θ; where a network is among the θ."""

    equations: NumericSystem
    tau: NumericSystem
    point: NDArray[np.complex128]
    neurons: int


@typed
def critical_set(problem: Problem, network: Network, rng: int = 0, *, progress: Shown = False) -> CriticalSet:
    """The irreducible set of complex critical points that a critical network is one of: dimension and degree.

    For powers of any degree, any number of outputs, with norm neuron, penalty or bias: in the entries of the tensors
    Σ a wᵈ that the neurons make, an output after the other, and of WᵀW where there is a penalty. Monodromy finds the
    points on a random slice and the trace test confirms their number; it is numerical. `InvalidProblem` when the
    gradient does not vanish, `NotConverged` where the set is multiple. Two outputs, round in two of the three inputs:

    >>> teacher = sh.Network(np.eye(3), [[1.0, 3.0, 3.0], [2.0, 5.0, 5.0]])
    >>> problem = sh.Problem(teacher, sh.Gaussian(3), width=1)
    >>> trained = sh.descend(problem, problem.unpack([0.0, 1.0, 0.3, 1.0, 1.0]), iterations=2000).network
    >>> sh.geometry.critical_set(problem, trained)
    CriticalSet(rank 1, loss ..., dimension 1, degree 2)
    """
    found = parameter_equations(problem, network)
    component = image_component(
        found.equations, found.tau, found.point, rng, limit=MOST_POINTS, progress=progress
    )
    loss = complex(float(problem.loss(network)))
    return CriticalSet(
        found.neurons, loss, component.dimension, component.degree, component.confirmed, component
    )


def sets_of_family(
    problem: Problem, network: Network, dimension: int, samples: Sequence[SymmetricTensor]
) -> tuple[CriticalSet, ...]:
    """The irreducible sets of a family with this network, of this dimension, with these tensors among its own."""
    found = [critical_set(problem, network)]
    if found[0].dimension != dimension:
        raise NotConverged(
            f"the set through the family's network has dimension {found[0].dimension}, and the family {dimension}: its "
            "Hessian has zeros that are no directions of the family. Fix: chart.critical_sets(), at degree 2"
        )
    plain = problem.outputs == 1 and not problem.norm_neuron and not problem.orthogonality
    for sample in samples if plain else ():
        if not any(one.component.contains(sample.entries) for one in found):
            if problem.degree != 2:
                raise NotConverged(
                    "some of the family's tensors are on another irreducible set than its network. Fix: "
                    "sh.geometry.critical_set(problem, network), with a network of theirs"
                )
            values, vectors = np.linalg.eigh(sample.to_array())
            found.append(critical_set(problem, Network(vectors.T, values, problem.activation)))
    return tuple(found)


def parameter_equations(problem: Problem, network: Network) -> ParameterEquations:
    """The critical equations of networks with as many neurons as this one uses."""
    if problem.bias:
        problem, network = problem.homogeneous(), Network(network.neurons, network.a, network.activation)
    if not isinstance(problem.activation, Power):
        raise InvalidProblem(
            "irreducible sets of critical points are for powers, whose networks are tensors; given "
            f"{problem.activation!r}. Fix: family.dimension and family.samples are there for every activation"
        )
    W, A = np.asarray(network.W, float), np.atleast_2d(np.asarray(network.a, float))
    degree = problem.degree
    parts = np.abs(A).max(axis=0) * np.linalg.norm(W, axis=1) ** degree
    used = parts > IDLE * max(float(parts.max(initial=0.0)), IDLE)
    W, A = W[used], A[:, used]
    trained = problem.outer is None
    if problem.outputs == 1 and not problem.orthogonality:  # a wᵈ = ± (|a|^(1/d) w)ᵈ
        W, A, trained = np.abs(A[0, :, None]) ** (1 / degree) * W, np.sign(A), False
    tau = _tensors(W.shape, A, degree, trained)
    gram, right = _quadratic(problem)
    if problem.orthogonality:
        tau += _tensors(W.shape, np.ones((1, len(W))), 2, False, A.size if trained else 0)
        gram, right = _with_penalty(problem, gram, right)
    unknowns = W.size + (A.size if trained else 0)
    slopes = [
        total([*(scaled(p, g) for p, g in zip(tau, row, strict=True) if g), constant(unknowns, -b)])
        for row, b in zip(gram.tolist(), right.tolist(), strict=True)
    ]
    equations = [
        total([times(slope, d) for slope, p in zip(slopes, tau, strict=True) if (d := partial(p, j))])
        for j in range(unknowns)
    ]
    theta = np.concatenate([W.ravel(), A.ravel()]) if trained else W.ravel()
    return ParameterEquations(
        _numeric(unknowns, equations), _numeric(unknowns, tau), theta.astype(np.complex128), len(W)
    )


def _tensors(shape: tuple[int, ...], A: Array, degree: int, trained: bool, more: int = 0) -> list[Polynomial]:
    """Entries of Σᵢ a_mi wᵢ^⊗d, output after output; `more` unknowns behind those of W that it does not depend on."""
    r, n = shape
    outputs = len(A)
    extra = outputs * r if trained else more
    found = []
    for m in range(outputs):
        for exponents in coordinates.exponents(n, degree).tolist():
            entry: Polynomial = {}
            for i in range(r):
                weights = [int(trained and k == m * r + i) for k in range(extra)]
                key = (*(0,) * (i * n), *exponents, *(0,) * ((r - 1 - i) * n), *weights)
                entry[key] = Fraction(1) if trained else Fraction(float(A[m, i]))
            found.append(entry)
    return found


def _quadratic(problem: Problem) -> tuple[NDArray[Any], NDArray[Any]]:
    """G and b of all outputs; the best norm neuron is part of G."""
    if problem.outputs == 1:
        plain = Problem(problem.target, problem.data, problem.width, problem.activation)
        own = ExactLoss.of(plain)
        gram, right = own.gram, own.right
        if problem.norm_neuron:
            change = Reduction(True, constants=problem.constants)
            gram, right = change.gram(gram), change.right(gram, right)
        return gram, right
    loss = OutputsLoss.of(problem)
    return block_diagonal(*[loss.gram] * problem.outputs), np.concatenate(list(loss.right))


def _with_penalty(
    problem: Problem, gram: NDArray[Any], right: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """G and b with those of γ‖WᵀW − I‖²_F."""
    weight = Fraction(problem.orthogonality)
    size = coordinates.dimension(problem.n, 2)
    frobenius = fractions(np.diag(frobenius_weights(size, problem.constants)))
    unit = fractions(identity(size, problem.constants))
    return block_diagonal(gram, weight * frobenius), np.concatenate([right, weight * unit])


def _numeric(unknowns: int, rows: list[Polynomial]) -> NumericSystem:
    return NumericSystem(
        unknowns, tuple({key: complex(float(value)) for key, value in row.items()} for row in rows)
    )
