"""What students of one degree see of a teacher that is no form of that degree: the best form s* against it, and L*.

    L(s) = (s − s*)ᵀG(s − s*) + L*,    Gs* = b = E[y x^⊗d],    L* = E y² − bᵀs*.

For polynomials b is a sum of moments, exactly. For any other teacher it is read off the kernel E[(u·x)^d y] = ⟨u^⊗d, b⟩
at many u, and rounded.
"""

from __future__ import annotations

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import PolynomialActivation, Power
from shallows.model.data.base import InnerProduct
from shallows.model.data.with_constant import with_constant
from shallows.model.network import Network
from shallows.model.objective.build import teacher_energy, teacher_parts
from shallows.support.checks import Array

#: Probes u for every unknown of b: twice as many as needed keep the least squares well conditioned.
PROBES = 2


def is_polynomial(target: Network | SymmetricTensor) -> bool:
    """Whether a target is a polynomial in x."""
    return isinstance(target, SymmetricTensor) or isinstance(target.activation, PolynomialActivation)


def best_forms(target: Network | SymmetricTensor, data: InnerProduct, degree: int) -> tuple[Array, float]:
    """s*, a row for each output, and L*."""
    outputs = (
        [target] if isinstance(target, SymmetricTensor) else [target.output(m) for m in range(target.outputs)]
    )
    rights, energies = zip(*[right_of(one, data, degree) for one in outputs], strict=True)
    inverse = np.linalg.pinv(data.gram(degree), hermitian=True)
    best = np.array(rights) @ inverse
    return best, max(float(sum(energies) - np.sum(best * np.array(rights))), 0.0)


def right_of(target: Network | SymmetricTensor, data: InnerProduct, degree: int) -> tuple[Array, float]:
    """b and E y² of one output."""
    if is_polynomial(target):
        from shallows.model.polynomial_target import best_form

        exact, square = best_form(target, data, degree)
        return np.asarray(exact.astype(np.float64)), float(square)
    assert isinstance(target, Network)
    return through_kernel(target, data, degree)


def through_kernel(target: Network, data: InnerProduct, degree: int) -> tuple[Array, float]:
    """b and E y² of one output of any teacher that has a kernel with powers under this law, rounded."""
    index = coordinates.indices(data.n, degree)
    U = np.random.default_rng(0).standard_normal((PROBES * len(index), data.n))
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    table = np.prod(U[:, index], axis=-1)
    probes, inputs = U, data
    if target.bias is not None:
        target, inputs = target.homogeneous(), with_constant(data)
        probes = np.column_stack([np.zeros(len(U)), U])
    parts = teacher_parts(target)
    values = sum(
        inputs.kernel(Power(degree), part.activation).value(probes, part.V) @ part.B[0] for part in parts
    )
    right = np.linalg.lstsq(table, np.asarray(values), rcond=None)[0]
    return np.asarray(right), teacher_energy(parts, inputs)[0]
