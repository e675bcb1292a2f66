"""From a target, data and an activation to the objective that computes the loss exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Activation, PolynomialActivation, Power
from shallows.model.data.base import Distribution, InnerProduct
from shallows.model.data.samples import Samples
from shallows.model.kernels.metric import MetricKernel
from shallows.model.kernels.relu import ReLUKernel
from shallows.model.network import Network
from shallows.model.objective.base import Objective
from shallows.model.objective.cross import Cross, FormCross, TeacherCross
from shallows.model.objective.function_space import FunctionSpaceObjective
from shallows.model.objective.pairwise import PairwiseObjective
from shallows.model.objective.relu import ReLUObjective
from shallows.model.objective.sample_pass import SamplePassObjective
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem

#: The largest Gram matrix gathered from samples in place of passes over them: 2,000 × 2,000 doubles are 32 MB.
LARGEST_GATHERED = 2_000


@dataclass(frozen=True)
class TeacherPart:
    """Neurons of one activation: y = B τ(Vx) + …"""

    activation: Activation
    B: Array
    V: Array


def build_objective(
    target: Network | SymmetricTensor | None, data: InnerProduct, activation: Activation, width: int
) -> Objective:
    """The objective of a student with this activation; width only decides which exact method is cheaper."""
    samples = data.as_samples()
    if samples is not None:
        return _on_samples(target, samples, activation, width)
    if target is None:
        raise InvalidProblem(
            f"target is None and data is {data!r}; without a teacher the data must be labelled Samples."
        )
    student = data.kernel(activation, activation)
    if isinstance(
        student, MetricKernel
    ):  # through a Gram matrix: then the loss is best taken in function space
        d = student.degree
        if is_form(target, d) or not isinstance(data, Distribution):
            return FunctionSpaceObjective(data.n, d, data.gram(d), tensors_of(target, d), 0.0)
    if isinstance(target, SymmetricTensor) and target.degree > 2:
        cross, energy = _tensor_cross(target, data, activation)
        return PairwiseObjective(student, [cross], energy)
    parts = teacher_parts(target)
    crosses = [TeacherCross(data.kernel(activation, part.activation), part.B, part.V) for part in parts]
    energy, error = teacher_energy(parts, data)
    if isinstance(student, ReLUKernel) and isinstance(crosses[0].kernel, ReLUKernel) and len(crosses) == 1:
        return ReLUObjective(student, crosses[0], energy)
    return PairwiseObjective(student, crosses, energy, error)


def labels_of(target: Network | SymmetricTensor | None, data: Samples) -> Array:
    """The labels (N, M): those given, or the teacher's outputs on the samples."""
    if target is None:
        if data.y is None:
            raise InvalidProblem(
                "target is None and the Samples have no labels. Fix: Samples(X, y), or give a target."
            )
        return data.y.reshape(data.count, -1)
    if data.y is not None:
        raise InvalidProblem(
            "Both a target and labels were given. Fix: pass target=None, or Samples(X) without labels."
        )
    return np.asarray(target(data.X)).reshape(data.count, -1)


def _on_samples(
    target: Network | SymmetricTensor | None, data: Samples, activation: Activation, width: int
) -> Objective:
    labels = labels_of(target, data)
    if isinstance(activation, Power):
        size = coordinates.dimension(data.n, activation.degree)
        pays = size <= LARGEST_GATHERED and size**2 <= 4 * data.count * data.n * width
        if pays and target is not None and is_form(target, activation.degree):
            optimum = tensors_of(target, activation.degree)
            return FunctionSpaceObjective(
                data.n, activation.degree, data.gram(activation.degree), optimum, 0.0
            )
        if pays:
            return FunctionSpaceObjective.from_samples(data, labels, activation.degree)
    return SamplePassObjective(data.X, labels, activation, data.weights)


def is_form(target: Network | SymmetricTensor, degree: int) -> bool:
    """Whether the target is a form of this degree (so that its own tensor is the optimum)."""
    if isinstance(target, SymmetricTensor):
        return target.degree == degree
    fits = isinstance(target.activation, Power) and target.activation.degree == degree
    return fits and (degree == 2 or not np.any(target.norm))


def tensors_of(target: Network | SymmetricTensor, degree: int) -> Array:
    """The target's tensors, one a row, shape (M, N)."""
    if not is_form(target, degree):
        raise InvalidProblem(
            f"The target {target!r} is not a form of degree {degree}, which this problem needs."
        )
    if isinstance(target, SymmetricTensor):
        return target.entries[None, :]
    return np.array([target.output(m).tensor().entries for m in range(target.outputs)])


def teacher_parts(target: Network | SymmetricTensor) -> list[TeacherPart]:
    """A teacher as groups of neurons; matrices through their eigenvectors, a norm neuron as ‖x‖² = Σ (eᵢ·x)²."""
    if isinstance(target, SymmetricTensor):
        if target.degree == 1:
            return [TeacherPart(Power(1), np.ones((1, 1)), target.entries[None, :])]
        values, vectors = np.linalg.eigh(target.to_matrix())
        return [TeacherPart(Power(2), values[None, :], vectors.T)]
    parts = [TeacherPart(target.activation, np.atleast_2d(target.a), target.W)]
    if np.any(target.norm):
        weight = np.ones((target.outputs, 1)) * np.reshape(target.norm, (-1, 1))
        parts.append(TeacherPart(Power(2), weight * np.ones((1, target.n)), np.eye(target.n)))
    return parts


def teacher_energy(parts: list[TeacherPart], data: InnerProduct) -> tuple[float, float]:
    """E‖y‖² = Σ over pairs of groups ⟨BᵀB′, K(V, V′)⟩, and a bound on what truncated series leave out."""
    total, error = 0.0, 0.0
    for left in parts:
        for right in parts:
            pair = data.kernel(left.activation, right.activation)
            with np.errstate(over="ignore", invalid="ignore"):
                total += float(np.sum((left.B.T @ right.B) * pair.value(left.V, right.V)))
                size = float(np.sum(np.abs(left.B)) * np.sum(np.abs(right.B)))
                error += size * pair.truncation_error(left.V, right.V)
    if not np.isfinite(total):
        raise InvalidProblem(
            "E‖y‖², the teacher's mean square, is more than a double holds. Fix: measure the teacher in other units."
        )
    return total, error


def _tensor_cross(target: SymmetricTensor, data: InnerProduct, activation: Activation) -> tuple[Cross, float]:
    """c(u) = Σ_j c_j E[T(x) (u·x)^j] as forms in u, and E T(x)², for a tensor of degree ≥ 3."""
    if not isinstance(activation, PolynomialActivation):
        raise InvalidProblem(
            f"A tensor of degree {target.degree} as target needs a polynomial activation, not {activation!r}. "
            "Give the target as a Network."
        )
    coordinates.require_storable(target.n, target.degree, coordinates.FACTORS)
    gram = data.gram(target.degree)
    energy = float(target.entries @ gram @ target.entries)
    parts = [
        (j, (c * data.cross_gram(j, target.degree) @ target.entries)[None, :])
        for j, c in enumerate(activation.coefficients)
        if c != 0
    ]
    return FormCross(parts), energy
