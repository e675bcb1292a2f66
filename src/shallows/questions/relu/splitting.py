"""Splitting a neuron (paper 003, section 4.1): which splits of a minimum are saddles, and the way down from there.

Split neuron i of a critical point into αwᵢ and (1−α)wᵢ. The point stays critical, and its Hessian is (Lemma 12, for
E(f−y)² and outer weights one: twice the paper's, with the ½I that its last line drops)

    blocks i, i+1:   [[I + H′ᵢᵢ/α, I], [I, I + H′ᵢᵢ/(1−α)]],      H′ᵢᵢ = Hᵢᵢ − I,

all other blocks repeated. Along (u, −u) the second derivative is uᵀH′ᵢᵢu (1/α + 1/(1−α)): when H′ᵢᵢ has a negative
eigenvalue every split of neuron i is a saddle (Theorem 9). If n ≤ k and Σ‖wᵢ‖ ≤ k there is such a neuron (Theorem 8),
because the mean of uᵀH′ᵢᵢu over unit u is λᵢ = (Σ_{j≠i} sin θ_ij‖wⱼ‖ − Σⱼ sin θ(wᵢ, vⱼ)) / π‖wᵢ‖ (twice equation 68).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shallows.mathematics.signature import signature
from shallows.model.kernels.relu import Angles
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.descent.descend import descend
from shallows.questions.descent.results.run import Run
from shallows.questions.relu.scaling import norm_sum
from shallows.questions.relu.setting import orthonormal_teacher, student_of
from shallows.support.arguments import typed
from shallows.support.checks import Array, finite_number
from shallows.support.errors import InvalidProblem

#: An eigenvalue of H′ᵢᵢ above minus this is not called negative: the matrices are of size 1 and known to about 1e-13.
FLAT = 1e-10
#: A run from a split stops at this loss: it is at the teacher.
ZERO_LOSS = 1e-12
#: Σ‖wᵢ‖ = k at the global minima, to rounding of the sum.
ROUNDING = 1e-12
#: The push off a saddle: the loss falls by its square times the curvature (0.1 or so), 1e-7, far above rounding.
PUSH = 1e-3


@dataclass(frozen=True, eq=False)
class Splits:
    """What splitting each neuron of a critical point does; numbers are for E(f−y)², `half_…` for ½E.

    `blocks` are the matrices H′ᵢᵢ, `mean_curvatures` the λᵢ of equation 68.

    >>> from shallows.relu import splits, wider
    >>> problem, minimum = sh.relu_problem(6), sh.symmetric_minimum(6, [1, 5]).network()
    >>> found = splits(problem, minimum)
    >>> found.theorem_8_applies, found.saddles.tolist()
    (True, [0, 1, 2, 3, 4, 5])
    >>> u, H = found.escape(0), wider(problem).hessian(minimum.split(0, 0.5))
    >>> f"{u @ H @ u:.8f}", f"{found.curvature(0):.8f}"
    ('-0.36155459', '-0.36155459')
    """

    problem: Problem
    network: Network
    blocks: Array
    mean_curvatures: Array

    @cached_property
    def eigenvalues(self) -> Array:
        """Eigenvalues of every H′ᵢᵢ, ascending, one row a neuron."""
        return np.asarray(np.linalg.eigvalsh(self.blocks))

    @property
    def half_eigenvalues(self) -> Array:
        """The same for ½E."""
        return self.eigenvalues / 2

    @property
    def saddles(self) -> np.ndarray:
        """The neurons whose splits are saddles (Theorem 9): H′ᵢᵢ has a negative eigenvalue."""
        return np.flatnonzero([signature(values, FLAT)[2] for values in self.eigenvalues])

    @property
    def all_saddles(self) -> bool:
        """Whether every split of every neuron is a saddle, as for all minima found in the paper's experiment."""
        return len(self.saddles) == len(self.blocks)

    @property
    def theorem_8_applies(self) -> bool:
        """n ≤ k and Σ‖wᵢ‖ ≤ k: then some λᵢ is negative unless the network is a global minimum."""
        k = len(orthonormal_teacher(self.problem, "Theorem 8"))
        return self.network.width <= k and norm_sum(self.network) <= k * (1 + ROUNDING)

    def direction(self, i: int) -> Array:
        """The unit eigenvector u of the smallest eigenvalue of H′ᵢᵢ."""
        return np.asarray(np.linalg.eigh(self.blocks[_checked(i, len(self.blocks))])[1][:, 0])

    def escape(self, i: int, alpha: float = 0.5) -> Array:
        """The unit direction (…, u, −u, …)/√2 of the split network along which the loss curves down."""
        i = _checked(i, len(self.blocks))
        if i not in self.saddles:
            raise InvalidProblem(
                f"H′ of neuron {i} has no negative eigenvalue (smallest {self.eigenvalues[i, 0]:.3g}): Theorem 9 says "
                f"nothing about its splits. Neurons with one: {self.saddles.tolist()}."
            )
        _share(alpha)
        u = self.direction(i)
        table = np.zeros((len(self.blocks) + 1, self.network.n))
        table[i], table[i + 1] = u / np.sqrt(2), -u / np.sqrt(2)
        return table.ravel()

    def curvature(self, i: int, alpha: float = 0.5) -> float:
        """The second derivative of E along `escape(i, alpha)`: λ_min(H′ᵢᵢ)(1/α + 1/(1−α))/2."""
        alpha = _share(alpha)
        return float(self.eigenvalues[_checked(i, len(self.blocks)), 0]) * (1 / alpha + 1 / (1 - alpha)) / 2

    def __repr__(self) -> str:
        smallest = self.eigenvalues[:, 0]
        return (
            f"Splits({len(self.saddles)} of {len(self.blocks)} neurons split into saddles; smallest eigenvalues of "
            f"H′ᵢᵢ from {smallest.min():.6g} to {smallest.max():.6g} (½E: half))"
        )


@typed
def splits(problem: Problem, net: Network) -> Splits:
    """H′ᵢᵢ = Hᵢᵢ − I of every neuron, outer weights one and an orthonormal teacher (paper 003, section 4.1).

    When H′ᵢᵢ has a negative eigenvalue every split αwᵢ, (1−α)wᵢ of a minimum is a saddle (Theorem 9).

    >>> from shallows.relu import splits
    >>> splits(sh.relu_problem(6), sh.symmetric_minimum(6, [1, 5]).network())
    Splits(6 of 6 neurons split into saddles; smallest eigenvalues of H′ᵢᵢ from -0.2363 to -0.180777 (½E: half))
    """
    V = orthonormal_teacher(problem, "Section 4")
    W = student_of(problem, net)
    k, n = W.shape
    hessian = problem.hessian(net).reshape(k, n, k, n)
    blocks = np.array([hessian[i, :, i, :] - np.eye(n) for i in range(k)])
    own, teacher = Angles.between(W, W), Angles.between(W, V)
    turns = own.sine @ own.w_norm - teacher.sine @ np.linalg.norm(V, axis=1)
    return Splits(problem, net, blocks, turns / (np.pi * own.w_norm))


@typed
def wider(problem: Problem) -> Problem:
    """The same problem for a student with one more neuron.

    >>> from shallows.relu import wider
    >>> problem, minimum = sh.relu_problem(6), sh.symmetric_minimum(6, [1, 5]).network()
    >>> f"{problem.loss(minimum):.8f}", f"{wider(problem).loss(minimum.split(0, 0.5)):.8f}"   # a split keeps the loss
    ('0.05016116', '0.05016116')
    """
    orthonormal_teacher(problem, "Splitting with outer weights one")
    return Problem(problem.target, problem.data, problem.width + 1, problem.activation, outer="ones")


def split_hessian(problem: Problem, net: Network, i: int, alpha: float) -> Array:
    """The Hessian of E at net.split(i, α) from the blocks of the Hessian at `net` (paper 003, Lemma 12); 0 < α < 1.

    Blocks i and i+1 are [[I + H′ᵢᵢ/α, I], [I, I + H′ᵢᵢ/(1−α)]], H′ᵢᵢ = Hᵢᵢ − I; all others are repeated.

    >>> from shallows.relu import split_hessian, wider
    >>> problem, minimum = sh.relu_problem(6), sh.symmetric_minimum(6, [1, 5]).network()
    >>> H = split_hessian(problem, minimum, 0, 0.3)
    >>> H.shape, f"{np.linalg.eigvalsh(H)[0]:.6f}"   # a saddle
    ((42, 42), '-0.454574')
    >>> f"{np.linalg.eigvalsh(wider(problem).hessian(minimum.split(0, 0.3)))[0]:.6f}"
    '-0.454574'
    """
    alpha = _share(alpha)
    W = student_of(problem, net)
    k, n = W.shape
    i = _checked(i, k)
    hessian = problem.hessian(net).reshape(k, n, k, n)
    origin = np.insert(np.arange(k), i, i)
    big = hessian[origin][:, :, origin]
    identity, inner = np.eye(n), hessian[i, :, i, :] - np.eye(n)
    big[i, :, i, :] = identity + inner / alpha
    big[i + 1, :, i + 1, :] = identity + inner / (1 - alpha)
    big[i, :, i + 1, :] = big[i + 1, :, i, :] = identity
    return np.asarray(big.reshape((k + 1) * n, (k + 1) * n))


@typed
def descend_from_split(
    problem: Problem, net: Network, i: int | None = None, alpha: float = 0.5, push: float = PUSH
) -> Run:
    """Split neuron i (by default the one with the most negative H′), step off the saddle, and descend.

    Of the two senses of the escape direction the one with the lower loss after the push is taken. The run is of
    `wider(problem)`, and ends below the loss of `net`.

    >>> from shallows.relu import descend_from_split
    >>> problem, minimum = sh.relu_problem(6), sh.symmetric_minimum(6, [1, 5]).network()
    >>> run = descend_from_split(problem, minimum)
    >>> f"{problem.loss(minimum):.6f} → {run.loss:.6f}", run.network.width   # one more neuron: a way out
    ('0.050161 → 0.000000', 7)
    """
    found = splits(problem, net)
    chosen = int(np.argmin(found.eigenvalues[:, 0])) if i is None else i
    direction = found.escape(chosen, alpha)
    push = finite_number("push", push, minimum=0.0)
    big = wider(problem)
    theta = big.pack(net.split(chosen, alpha))
    sides = [theta + push * direction, theta - push * direction]
    lower = min(sides, key=lambda side: float(big.value(side)))
    return descend(big, lower, loss_tolerance=ZERO_LOSS)


def _share(alpha: float) -> float:
    value = finite_number("alpha", alpha)
    if not 0 < value < 1:
        raise InvalidProblem(
            f"alpha is {value}; the Hessian exists for 0 < α < 1 only: at 0 and 1 a neuron is zero (the point is still "
            "not a local minimum when H′ has a negative eigenvalue, Theorem 9)."
        )
    return value


def _checked(i: int, count: int) -> int:
    if not 0 <= i < count:
        raise InvalidProblem(f"Neuron {i} was asked for; there are neurons 0 to {count - 1}.")
    return int(i)
