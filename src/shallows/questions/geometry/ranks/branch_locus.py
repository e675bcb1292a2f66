"""The branch locus Br(τ_r) = τ_r(Crit(τ_r)) where it is known: d = 2 (Prop. 6) and n = 2 (Prop. 7)."""

from __future__ import annotations

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Power
from shallows.model.network import Network
from shallows.questions.geometry.ranks.exact_form import read_exact
from shallows.questions.geometry.ranks.real_rank import TOLERANCE, lowest_real_apolar, real_rank
from shallows.questions.geometry.ranks.rounded_binary_forms import (
    apolar_vector,
    numerical_rank,
    projective_roots,
)
from shallows.questions.geometry.ranks.widths import thick_width
from shallows.support.arguments import typed
from shallows.support.checks import Array, positive_integer
from shallows.support.errors import InvalidProblem


def branch_rank(degree: int, n: int, width: int) -> int:
    """The s with Br(τ_r) = F_s: n−1 for d = 2 and r ≥ n (Prop. 6), ⌊d/2⌋ for n = 2 and r ≥ ⌈(d+1)/2⌉ (Prop. 7).

    Elsewhere only F_{r_thick−1} ⊂ Br(τ_r) is known, and the question is refused.

    >>> branch_rank(2, 5, 7), branch_rank(5, 2, 3)
    (4, 2)
    """
    d, n = positive_integer("degree", degree), positive_integer("n", n)
    r = positive_integer("width", width)
    if d < 2 or (d > 2 and n != 2):
        raise InvalidProblem(
            f"The branch locus is known for degree 2 (Prop. 6) and for two inputs (Prop. 7); degree {d} with {n} "
            "inputs is open."
        )
    if r < thick_width(d, n):
        raise InvalidProblem(
            f"Width {r} is below the thick width {thick_width(d, n)}; Props. 6 and 7 need at least that."
        )
    return thick_width(d, n) - 1


@typed
def in_branch_locus(tensor: SymmetricTensor, width: int) -> bool:
    """Whether T ∈ Br(τ_r): some parameters in Crit(τ_r) compute it (Props. 6 and 7).

    >>> sum_of_two, higher = (sh.SymmetricTensor.from_polynomial(p) for p in ("x^5 + y^5", "x^4*y"))
    >>> in_branch_locus(sum_of_two, 3), in_branch_locus(higher, 3)   # real ranks 2 and 5
    (True, False)
    """
    limit = branch_rank(tensor.degree, tensor.n, width)
    rank = real_rank(tensor)
    return (rank if isinstance(rank, int) else rank[0]) <= limit


@typed
def critical_representative(tensor: SymmetricTensor, width: int) -> Network:
    """Parameters W ∈ Crit(τ_r) with τ_r(W) = T, for T in the branch locus: unused neurons have α = 0 and w = 0.

    >>> net = critical_representative(sh.SymmetricTensor.from_polynomial("x^5 + y^5"), 3)
    >>> net.width, sh.is_critical_parameter(net)
    (3, True)
    """
    if not in_branch_locus(tensor, width):
        limit = branch_rank(tensor.degree, tensor.n, width)
        raise InvalidProblem(
            f"{tensor!r} has real rank above {limit}: it is not in the branch locus of width {width}."
        )
    short = real_decomposition(tensor)
    if short is None:
        raise InvalidProblem(
            f"{tensor!r} is too close to a tensor of higher rank to be decomposed; give exact input."
        )
    idle = width - short.width
    W = np.concatenate([short.W, np.zeros((idle, tensor.n))])
    return Network(W, np.concatenate([short.a, np.zeros(idle)]), Power(tensor.degree))


def real_decomposition(tensor: SymmetricTensor) -> Network | None:
    """A shortest network that computes T, for matrices and for binary forms of real rank r₁ (lowest apolar degree).

    Matrices by eigenvectors; binary forms by Sylvester: neurons are the roots of the apolar form. None for other
    binary forms (their rank exceeds r₁). The zero tensor is one idle neuron.

    >>> net = real_decomposition(SymmetricTensor.from_polynomial("x^5 + y^5"))
    >>> net.width
    2
    """
    if not np.any(tensor.entries):
        return Network(np.zeros((1, tensor.n)), [0.0], Power(tensor.degree))
    if tensor.degree == 2:
        return _spectral(tensor)
    if tensor.n != 2:
        raise InvalidProblem(f"Decompositions are for degree 2 or two inputs; {tensor!r} was given.")
    roots = _real_apolar_roots(tensor)
    if roots is None:
        return None
    powers = coordinates.monomials(roots, tensor.degree)
    weight = np.sqrt(coordinates.multiplicities(2, tensor.degree))
    outer = np.linalg.lstsq((powers * weight).T, tensor.entries * weight, rcond=None)[0]
    return Network(roots, outer, Power(tensor.degree))


def _spectral(tensor: SymmetricTensor) -> Network:
    values, vectors = np.linalg.eigh(tensor.to_matrix())
    keep = np.abs(values) > TOLERANCE * np.max(np.abs(values))
    return Network(vectors.T[keep], values[keep], Power(2))


def _real_apolar_roots(tensor: SymmetricTensor) -> Array | None:
    """The distinct real roots of an apolar form of degree r₁, as unit neurons; None if there is no such form."""
    rank = real_rank(tensor)
    half = tensor.degree // 2
    scaled = _scaled_hankel(tensor.entries, half)
    low = numerical_rank(scaled, TOLERANCE)
    if rank != low:
        return None
    if 2 * low == tensor.degree + 2:
        form = lowest_real_apolar(read_exact(tensor).entries)
        assert form is not None
        vector = np.array([float(c.p) / float(c.q) for c in form])
    else:
        vector = apolar_vector(tensor.entries, low)
    return np.real(_make_real(projective_roots(vector)))


def _scaled_hankel(entries: Array, order: int) -> Array:
    table = coordinates.product_table(2, order, len(entries) - 1 - order)
    left = np.sqrt(coordinates.multiplicities(2, order))
    right = np.sqrt(coordinates.multiplicities(2, len(entries) - 1 - order))
    return np.asarray(left[:, None] * entries[table] * right)


def _make_real(points: Array) -> Array:
    """Turn the phase of each point so that its larger coordinate is real."""
    larger = np.take_along_axis(points, np.argmax(np.abs(points), axis=1)[:, None], axis=1)
    return np.asarray(points * np.conj(larger) / np.abs(larger))
