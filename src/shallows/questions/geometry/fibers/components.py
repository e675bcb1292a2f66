"""Fibers of quadratic networks: how many components {(a, W) : Σᵢ aᵢ wᵢwᵢᵀ = S} has, and what tells them apart.

Paper 000, Theorem 37. Let S have s₊ positive and s₋ negative eigenvalues and let r be the width.

1. rank S > r: the fiber is empty;
2. rank S = r, S semidefinite: 2 components;
3. rank S = r, S indefinite: 4·C(r, s₊) components;
4. rank S < r: 1 component.

In cases 2 and 3 no neuron can be idle, so the signs of a are locally constant, and with a = ±1 the fiber is one orbit
of O(s₊, s₋), acting freely: the signs of the determinants of its two diagonal blocks are the other invariants.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shallows.mathematics.signature import error_bound
from shallows.mathematics.tensors.coordinates import matrix_entries
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Power
from shallows.model.network import Network
from shallows.questions.geometry.paths import energy
from shallows.support.checks import Array, describe, positive_integer, symmetric_matrix
from shallows.support.errors import InvalidProblem

#: Eigenvalues of S below this share of Σ|aᵢ|‖wᵢ‖² are rounding: forming S is exact to (width + n) ε of it.
RANK_TOLERANCE = 1e-12


class DifferentComponents(InvalidProblem):
    """Two networks compute the same function but no path inside the fiber joins them (paper 000, Theorem 37).

    `first` and `second` are their invariants, `invariant` names one that differs.

    >>> net0, net1 = sh.Network(np.eye(2)), sh.Network([[0.0, 1.0], [1.0, 0.0]])        # neurons exchanged
    >>> sh.fiber_path(net0, net1)
    Traceback (most recent call last):
        ...
    shallows...DifferentComponents: The two networks compute the same function but lie in different components of its
    fiber: the neurons with positive a are oppositely oriented ...
    """

    def __init__(self, first: FiberInvariant, second: FiberInvariant) -> None:
        self.first = first
        self.second = second
        self.invariant, detail = first.difference(second)
        super().__init__(
            f"The two networks compute the same function but lie in different components of its fiber: {detail}. "
            "Fix: add an idle neuron (a = 0) to both; with width > rank the fiber is connected (Theorem 37)."
        )


@dataclass(frozen=True)
class FiberInvariant:
    """What is constant on a component of a fiber with rank S = width (paper 000, Theorem 37, cases 2 and 3).

    `signs` are those of a; `positive` and `negative` are the signs of det(W₊ V₊) and det(W₋ V₋), where W± are the
    neurons with a > 0 and a < 0 and V± a fixed orthonormal basis of the eigenvectors of S with λ > 0 and λ < 0 (1 for
    an empty block).

    >>> first = sh.fiber_invariant(sh.Network([[1.0, 0.0], [0.0, 1.0]], a=[1.0, -1.0]))
    >>> second = sh.fiber_invariant(sh.Network([[0.0, 1.0], [1.0, 0.0]], a=[-1.0, 1.0]))
    >>> first.signs, second.signs, first.difference(second)[0]
    ((1, -1), (-1, 1), 'signs of a')
    """

    signs: tuple[int, ...]
    positive: int
    negative: int

    def difference(self, other: FiberInvariant) -> tuple[str, str]:
        """The name of an invariant that differs, and a sentence about it; ("", "") when none does."""
        if self.signs != other.signs:
            return "signs of a", f"the signs of a are {_pattern(self.signs)} and {_pattern(other.signs)}"
        for name in ("positive", "negative"):
            if getattr(self, name) != getattr(other, name):
                return (
                    f"orientation of the {name} neurons",
                    f"the neurons with {name} a are oppositely oriented (their coordinates along the {name} "
                    "eigenvectors have determinants of opposite sign)",
                )
        return "", ""

    def opposite_orientations(self, other: FiberInvariant) -> list[int]:
        """The signs (1, −1) of a whose neurons are oriented differently in the two components."""
        same = (1, self.positive == other.positive), (-1, self.negative == other.negative)
        return [sign for sign, agree in same if not agree]


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The non-zero eigenpairs of S: λ₊ > 0 with columns V₊, λ₋ < 0 with columns V₋."""

    matrix: Array
    positive: Array
    V_positive: Array
    negative: Array
    V_negative: Array

    @classmethod
    def of(cls, S: Array, scale: float | None = None) -> Spectrum:
        """Eigenvalues below RANK_TOLERANCE · scale (default Σ|λ|) in size count as zero."""
        values, vectors = np.linalg.eigh(S)
        floor = error_bound(values, RANK_TOLERANCE, max(float(np.sum(np.abs(values))), scale or 0.0))
        above, below = values > floor, values < -floor
        return cls(S, values[above], vectors[:, above], values[below], vectors[:, below])

    @property
    def signature(self) -> tuple[int, int]:
        """(s₊, s₋)."""
        return len(self.positive), len(self.negative)

    @property
    def rank(self) -> int:
        """s₊ + s₋."""
        return len(self.positive) + len(self.negative)

    @property
    def projector(self) -> Array:
        """The orthogonal projector onto the range of S."""
        V = np.hstack([self.V_positive, self.V_negative])
        return V @ V.T

    def factor(self, sign: int) -> Array:
        """V/√|λ| for the eigenvalues of one sign: W₊·factor(1) has orthonormal columns when W₊ᵀW₊ = S₊."""
        if sign > 0:
            return self.V_positive / np.sqrt(self.positive)
        return self.V_negative / np.sqrt(-self.negative)


def fiber_components(S: SymmetricTensor | ArrayLike, width: int, outer: str = "free") -> int:
    """The number of connected components of {(a, W) : Σᵢ aᵢ wᵢwᵢᵀ = S} (paper 000, Theorem 37).

    With `outer="ones"` the fiber is {W : WᵀW = S}: empty unless S is positive semidefinite of rank ≤ width, two
    components (O(r) acts freely) when the rank is the width, one otherwise.

    >>> fiber_components(np.diag([1.0, 2.0, -3.0]), width=3)
    12
    >>> fiber_components(np.diag([1.0, 2.0, -3.0]), width=4)
    1
    """
    width = positive_integer("width", width)
    plus, minus = Spectrum.of(_matrix(S)).signature
    if outer == "ones":
        return 0 if minus or plus > width else (2 if plus == width else 1)
    if outer != "free":
        raise InvalidProblem(f'outer is {describe(outer)}; expected "free" (a varies) or "ones" (a = 1).')
    if plus + minus != width:
        return 0 if plus + minus > width else 1
    return 2 if 0 in (plus, minus) else 4 * comb(width, plus)


def fiber_invariant(net: Network, spectrum: Spectrum | None = None) -> FiberInvariant | None:
    """The invariant of the network's component; None when the rank is below the width (the fiber is connected).

    Orientations are relative to one eigenbasis: to compare two networks, pass the same `spectrum` for both.

    >>> sh.fiber_invariant(sh.Network([[0.0, 2.0], [1.0, 0.0]], a=[-1.0, 3.0])).signs
    (-1, 1)
    >>> sh.fiber_invariant(sh.Network([[0.0, 2.0], [1.0, 0.0], [1.0, 1.0]])) is None    # rank 2 < width 3
    True
    """
    a, W = quadratic_parameters(net)
    frame = Spectrum.of(matrix_of(a, W), energy(net)) if spectrum is None else spectrum
    return invariant_of(a, W, frame) if frame.rank == len(a) else None


def invariant_of(a: Array, W: Array, spectrum: Spectrum) -> FiberInvariant:
    """The invariant of parameters whose width is the rank of S."""
    return FiberInvariant(
        tuple(np.sign(a).astype(int).tolist()),
        _orientation(W[a > 0] @ spectrum.V_positive),
        _orientation(W[a < 0] @ spectrum.V_negative),
    )


def quadratic_parameters(net: Any, name: str = "the network") -> tuple[Array, Array]:
    """(a, W) of a one-output network with activation z²; a typed error for anything else."""
    if not isinstance(net, Network):
        raise InvalidProblem(f"{name} is {describe(net)}; expected a Network.")
    if net.activation != Power(2):
        raise InvalidProblem(
            f"{name} has activation {net.activation!r}; fibers are described for quadratic networks, Power(2). For "
            "higher degrees see shallows.questions.geometry.fibers.trivial_symmetry.trivial_symmetry."
        )
    if net.a.ndim != 1:
        raise InvalidProblem(f"{name} has {net.outputs} outputs; fibers are described for one output.")
    return net.a, net.W


def matrix_of(a: Array, W: Array) -> Array:
    """S = Σᵢ aᵢ wᵢwᵢᵀ, exactly symmetric."""
    S = (W.T * a) @ W
    return (S + S.T) / 2


def tensor_of(S: Array) -> SymmetricTensor:
    """The tensor of degree 2 of a matrix that is exactly symmetric, without a check."""
    return SymmetricTensor(matrix_entries(S), len(S), 2)


def _matrix(S: SymmetricTensor | ArrayLike) -> Array:
    if isinstance(S, SymmetricTensor):
        return S.to_matrix()
    return symmetric_matrix("S", S)


def _orientation(block: Array) -> int:
    return 1 if 0 in block.shape else int(np.linalg.slogdet(block).sign)


def _pattern(signs: tuple[int, ...]) -> str:
    return "(" + ", ".join({1: "+", -1: "−", 0: "0"}[s] for s in signs) + ")"
