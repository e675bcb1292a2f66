"""The loss of two layers from expectations of pairs of neurons, with gradient and Hessian, at balls.

L = Σ (AᵀA)_ij k(u_i, u_j) − 2 Σ (AᵀB)_ij k(u_i, v_j) + E‖y‖², k(u, v) = E[σ(u·x) τ(v·x)], x ~ N(m, Σ). With p = Σu,
q = Σv and e_ab = E[σ^(a) τ^(b)], Price's theorem once and twice gives

    ∇₁k = e₁₀ m + e₂₀ p + e₁₁ q,
    ∇₁∇₁k = (m p q) ⎛e₂₀ e₃₀ e₂₁⎞ (m p q)ᵀ + e₂₀ Σ,    ∇₁∇₂k = (m p q) ⎛e₁₁ e₂₁ e₁₂⎞ (m p q)ᵀ + e₁₁ Σ.
                    ⎜e₃₀ e₄₀ e₃₁⎟                                      ⎜e₂₁ e₃₁ e₂₂⎟
                    ⎝e₂₁ e₃₁ e₂₂⎠                                      ⎝e₁₂ e₂₂ e₁₃⎠
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, arb_mat

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Activation, Power, ReLU
from shallows.model.data.gaussian import Gaussian
from shallows.model.lifting import lifted_target
from shallows.model.objective.build import teacher_parts
from shallows.model.problem import Problem
from shallows.questions.certificates.hermite_balls import Expansion, Series, expansion, expectations
from shallows.questions.certificates.relu_pairs import OneReLU, ReLUNeuron, ReLUPair
from shallows.questions.relu.balls import nonnegative_root
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem


@dataclass(frozen=True, eq=False)
class Placed:
    """A neuron under N(m, Σ): Σu as a column, and its series."""

    u: arb_mat
    turned: arb_mat
    series: Series


class Law:
    """N(m, Σ) in balls, with what teachers are under it."""

    def __init__(self, weight: float, data: Gaussian) -> None:
        self.weight = arb(float(weight))
        self.mean = arb_mat(data.n, 1, data.mean.tolist())
        self.covariance = arb_mat(data.covariance.tolist())
        self.line = int(np.count_nonzero(data.covariance.any(axis=0))) == 1

    def moments(self, u: arb_mat) -> tuple[arb_mat, Any, Any]:
        """Σu, the mean and the variance of u·x."""
        turned = self.covariance * u
        return turned, (u.transpose() * self.mean)[0, 0], (u.transpose() * turned)[0, 0]

    def place(self, u: arb_mat, activation: Activation, how: Expansion) -> Any:
        """A neuron with its series."""
        turned, mean, variance = self.moments(u)
        if isinstance(activation, ReLU):
            return ReLUNeuron(u, turned, mean, nonnegative_root(variance))
        return Placed(u, turned, how.series(activation, mean, variance))

    def pair(self, left: Any, right: Any) -> Any:
        """k of two neurons that were placed; of ReLU by closed forms."""
        if isinstance(left, ReLUNeuron):
            same = left is right or _is_zero(left.u - right.u)
            return OneReLU(self, left) if same else ReLUPair(self, left, right, self.line)
        return Pair(self, left, right)


class Pair:
    """k and its derivatives for two neurons."""

    def __init__(self, law: Law, left: Placed, right: Placed) -> None:
        covariance = (left.turned.transpose() * right.u)[0, 0]
        self.e = expectations(left.series, right.series, covariance)
        self.law, self.left, self.right = law, left, right

    @property
    def value(self) -> Any:
        """k."""
        return self.e[0, 0]

    def gradient(self) -> arb_mat:
        """∇₁k, a column."""
        e = self.e
        return self.law.mean * e[1, 0] + self.left.turned * e[2, 0] + self.right.turned * e[1, 1]

    def _form(self, middle: list[list[Any]], level: Any) -> Any:
        columns = [self.law.mean.entries(), self.left.turned.entries(), self.right.turned.entries()]
        frame = arb_mat(columns)
        return frame.transpose() * arb_mat(middle) * frame + self.law.covariance * level

    def own(self) -> Any:
        """∇₁∇₁k."""
        e = self.e
        middle = [[e[2, 0], e[3, 0], e[2, 1]], [e[3, 0], e[4, 0], e[3, 1]], [e[2, 1], e[3, 1], e[2, 2]]]
        return self._form(middle, e[2, 0])

    def mixed(self) -> Any:
        """∇₁∇₂k: rows for the first neuron."""
        e = self.e
        middle = [[e[1, 1], e[2, 1], e[1, 2]], [e[2, 1], e[3, 1], e[2, 2]], [e[1, 2], e[2, 2], e[1, 3]]]
        return self._form(middle, e[1, 1])


class PairBalls:
    """∇L and ∇²L in θ under Gaussians and mixtures of them; all given numbers are exact."""

    is_real = True

    def __init__(self, problem: Problem, theta: Array, bits: int) -> None:
        parts = problem.data.gaussian_parts()
        if parts is None:
            raise InvalidProblem(
                f"Nothing is proved here: kernels of {problem.activation!r} have balls under Gaussians and their "
                f"mixtures, and the data are {problem.data!r}."
            )
        self.problem, self.n = problem, problem.size
        self.laws = [Law(w, part.lifted() if problem.affine else part) for w, part in parts]
        self.teachers = _teachers(problem)
        self.inner, self.outer = problem.layout.places()
        self.how = self._expansion([arb(float(x)) for x in theta], bits)
        self.fixed = [
            [law.place(v, activation, self.how) for activation, _, v in self.teachers] for law in self.laws
        ]
        self.energy = self._energy()

    def ball_evaluator(self, bits: int) -> PairBalls:
        """Itself: its tables were made for the bits asked for first."""
        return self

    def _expansion(self, x: Sequence[Any], bits: int) -> Expansion:
        students = [(self.problem.activation, u) for u in self.neurons(x)]
        neurons = students + [(activation, v) for activation, _, v in self.teachers]
        relu = [isinstance(activation, ReLU) for activation, _ in neurons]
        if any(relu) and not all(relu):
            raise InvalidProblem(
                "Nothing is proved here: ReLU neurons with neurons of another activation have no closed form."
            )
        smooth = [] if any(relu) else neurons
        return expansion([(a, *law.moments(u)[1:]) for law in self.laws for a, u in smooth], bits)

    def neurons(self, x: Sequence[Any]) -> list[arb_mat]:
        """u_i as columns, the constant's weight first where there is one."""
        rows = [[x[place] for place in row] for row in self.inner]
        if self.problem.affine and not self.problem.bias:
            rows = [[arb(0), *row] for row in rows]
        return [arb_mat([[entry] for entry in row]) for row in rows]

    def weights(self, x: Sequence[Any]) -> arb_mat:
        """A (M, k)."""
        if self.outer is None:
            assert self.problem.outer is not None
            return arb_mat(self.problem.outer.tolist())
        return arb_mat([[x[place] for place in row] for row in self.outer])

    def _energy(self) -> Any:
        total = arb(0)
        for law, placed in zip(self.laws, self.fixed, strict=True):
            for left, (_, b, _) in zip(placed, self.teachers, strict=True):
                for right, (_, c, _) in zip(placed, self.teachers, strict=True):
                    product = sum((p * q for p, q in zip(b, c, strict=True)), arb(0))
                    total = total + law.weight * product * law.pair(left, right).value
        return total

    def loss(self, x: Sequence[Any]) -> Any:
        """E‖f − y‖²."""
        A = self.weights(x)
        total = self.energy
        gram, cross = A.transpose() * A, A.transpose() * self._B()
        for law, students, teachers in self._placed(x):
            for i, left in enumerate(students):
                for j, right in enumerate(students):
                    total = total + law.weight * gram[i, j] * law.pair(left, right).value
                for j, right in enumerate(teachers):
                    total = total - 2 * law.weight * cross[i, j] * law.pair(left, right).value
        return total

    def _placed(self, x: Sequence[Any]) -> list[tuple[Law, list[Any], list[Any]]]:
        neurons = self.neurons(x)
        activation = self.problem.activation
        return [
            (law, [law.place(u, activation, self.how) for u in neurons], teachers)
            for law, teachers in zip(self.laws, self.fixed, strict=True)
        ]

    def _B(self) -> arb_mat:
        return arb_mat([b for _, b, _ in self.teachers]).transpose()

    def __call__(self, x: Sequence[Any]) -> tuple[Any, Any]:
        """∇L (p×1) and ∇²L (p×p)."""
        A, B = self.weights(x), self._B()
        sums = Sums(self, A)
        for law, students, teachers in self._placed(x):
            for i, left in enumerate(students):
                for j, right in enumerate(students):
                    sums.student(i, j, law.weight, law.pair(left, right))
                for j, right in enumerate(teachers):
                    sums.teacher(i, law.weight, law.pair(left, right), [B[o, j] for o in range(B.nrows())])
        return sums.finished()


class Sums:
    """Half of ∇L and ∇²L, gathered pair by pair in the coordinates of θ."""

    def __init__(self, balls: PairBalls, A: arb_mat) -> None:
        self.A, self.gram = A, A.transpose() * A
        self.inner, self.outer = balls.inner, balls.outer
        self.skip = 1 if balls.problem.affine and not balls.problem.bias else 0
        size = balls.n
        self.gradient = [arb(0)] * size
        self.hessian = [[arb(0)] * size for _ in range(size)]

    def _vector(self, row: list[int], factor: Any, column: arb_mat) -> None:
        for place, entry in zip(row, column.entries()[self.skip :], strict=True):
            self.gradient[place] = self.gradient[place] + factor * entry

    def _block(self, rows: list[int], columns: list[int], factor: Any, block: arb_mat) -> None:
        table = block.tolist()
        for a, place in enumerate(rows):
            line, values = self.hessian[place], table[a + self.skip]
            for b, other in enumerate(columns):
                line[other] = line[other] + factor * values[b + self.skip]

    def _cross(self, row: list[int], place: int, factor: Any, column: arb_mat) -> None:
        """∂²/∂u∂A, and its mirror image."""
        for at, entry in zip(row, column.entries()[self.skip :], strict=True):
            value = self.hessian[at][place] + factor * entry
            self.hessian[at][place] = self.hessian[place][at] = value

    def student(self, i: int, j: int, weight: Any, pair: Any) -> None:
        """A pair of students."""
        factor, gradient = weight * self.gram[i, j], pair.gradient()
        self._vector(self.inner[i], factor, gradient)
        self._block(self.inner[i], self.inner[i], factor, pair.own())
        self._block(self.inner[i], self.inner[j], factor, pair.mixed())
        if self.outer is None:
            return
        for o, places in enumerate(self.outer):
            self.gradient[places[i]] = self.gradient[places[i]] + weight * self.A[o, j] * pair.value
            line = self.hessian[places[i]]
            line[places[j]] = line[places[j]] + weight * pair.value
            self._cross(self.inner[i], places[j], weight * self.A[o, i], gradient)
            self._cross(self.inner[i], places[i], weight * self.A[o, j], gradient)

    def teacher(self, i: int, weight: Any, pair: Any, b: list[Any]) -> None:
        """A student with a teacher of outer weights b."""
        product = sum((self.A[o, i] * value for o, value in enumerate(b)), arb(0))
        gradient = pair.gradient()
        self._vector(self.inner[i], -weight * product, gradient)
        self._block(self.inner[i], self.inner[i], -weight * product, pair.own())
        if self.outer is None:
            return
        for o, places in enumerate(self.outer):
            place = places[i]
            self.gradient[place] = self.gradient[place] - weight * b[o] * pair.value
            self._cross(self.inner[i], place, -weight * b[o], gradient)

    def finished(self) -> tuple[arb_mat, arb_mat]:
        """∇L and ∇²L."""
        return arb_mat([[2 * g] for g in self.gradient]), arb_mat(self.hessian) * 2


def _teachers(problem: Problem) -> list[tuple[Activation, list[Any], arb_mat]]:
    """(τ, outer weights, neuron) of each teacher neuron."""
    target = lifted_target(problem.target, problem.n) if problem.affine else problem.target
    if target is None:
        raise InvalidProblem("Nothing is proved here: labelled samples have no teacher.")
    if isinstance(target, SymmetricTensor) and target.degree == 2:
        return _squares(target.to_matrix())
    found = []
    for part in teacher_parts(target):
        for j, v in enumerate(part.V.tolist()):
            b = [arb(float(x)) for x in part.B[:, j]]
            found.append((part.activation, b, arb_mat([[arb(x)] for x in v])))
    return found


def _squares(matrix: Array) -> list[tuple[Activation, list[Any], arb_mat]]:
    """xᵀTx = Σᵢ (T_ii − Σ_{j≠i} T_ij) xᵢ² + Σ_{i<j} T_ij (xᵢ + xⱼ)²: no eigenvectors, which would be rounded."""
    n = len(matrix)
    found: list[tuple[Activation, list[Any], arb_mat]] = []
    for i in range(n):
        rest = sum((arb(float(matrix[i, j])) for j in range(n) if j != i), arb(0))
        found.append((Power(2), [arb(float(matrix[i, i])) - rest], _unit(n, i)))
        found += [
            (Power(2), [arb(float(matrix[i, j]))], _unit(n, i) + _unit(n, j))
            for j in range(i + 1, n)
            if matrix[i, j]
        ]
    return found


def _is_zero(column: arb_mat) -> bool:
    return all(entry.is_zero() for entry in column.entries())


def _unit(n: int, i: int) -> arb_mat:
    return arb_mat(n, 1, [arb(int(r == i)) for r in range(n)])
