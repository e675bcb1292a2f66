"""Where the landscape of one neuron changes with its activation z² + βz + γ (the family of paper 001), exactly.

Standard Gaussian data, a teacher Σ a*σ(w*·x) with the same σ. With S = Σ a*w*w*ᵀ, b = Σ a*w* and c = tr S + γ Σ a*, the
loss of aσ(w·x) is

    2‖a wwᵀ − S‖² + β²‖a w − b‖² + r²,    r = a(‖w‖² + γ) − c.

Its derivatives, by w (over a) and by a, are zero where (8S − μ)w = −2β²b with

    μ + 4c = a (12‖w‖² + 2β² + 4γ),    2β² b·w + 4γc = a ((2β² + 4γ)‖w‖² + 4γ²).

So w is a rational curve in μ, w = −2β² y/P with y = adj(8S − μ)b and P = det(8S − μ), and a is eliminated: what is left
is one polynomial of degree 3n + 1 in μ,

    F(μ) = (μ + 4c) ((2β² + 4γ) 4β⁴ y·y + 4γ²P²) P − (4γcP − 4β⁴ b·y) (48β⁴ y·y + (2β² + 4γ)P²).

Its real zeros are the real critical points but the zero function, and its discriminant in (β, γ) is where two meet. At
γ = 0 its degree drops to 3n − 2: three points go to infinity. A point goes through the zero function, and
its index from k to n − k, where a = 0: μ = −4c and 4γcP = 4β⁴ b·y.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from flint import Ordering, fmpq, fmpq_mat, fmpq_mpoly, fmpq_mpoly_ctx, fmpz_mpoly

from shallows.mathematics.exact.binary_forms import affine, real_roots, symbolic_discriminant
from shallows.model.activations import Polynomial
from shallows.model.data.gaussian import Gaussian
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.discriminants.curves import integral
from shallows.questions.discriminants.polynomial import Factor, Factorization
from shallows.questions.discriminants.values import rational, simplest
from shallows.questions.quadratic.teachers import quadratic_coefficients
from shallows.support.checks import Array, counted
from shallows.support.errors import InvalidProblem

#: The variables, and the unknown beside them.
NAMES = ("beta", "gamma")
UNKNOWN = "nu"
#: So many inputs: F has degree 3n + 1 in μ, and its discriminant takes 0.02 s at n = 2, seconds at 3, minutes at 4.
LARGEST = 3


@dataclass(frozen=True, eq=False, repr=False)
class ActivationDiscriminant:
    """The (β, γ) at which two critical points of one neuron with the activation z² + βz + γ meet.

    `polynomial` is the discriminant of F without powers of β and γ, an integer polynomial in them; `form` has the
    coefficients of F by powers of ν, μ = centre + spread·ν with `window` = (centre, spread). On the curve `vertex` a
    critical point is the zero function. The teacher's numbers are the simple fractions that they stand for.

    >>> teacher = sh.Network([[1.0, 1 / 3], [-0.2, 0.8]], [1.0, -1.0], activation=sh.Polynomial([1, 1, 1]))
    >>> family = sh.discriminants.activation(teacher)
    >>> family
    ActivationDiscriminant(2 inputs; 7 critical points; 118 terms, degrees 48 in beta and 15 in gamma)
    >>> family.real_count(1, "3/10"), family.real_count("1/2", -1)
    (3, 5)
    """

    teacher: Network
    form: tuple[fmpq_mpoly, ...]
    polynomial: fmpz_mpoly
    divisors: tuple[tuple[fmpz_mpoly, int], ...]
    vertex: fmpz_mpoly
    window: tuple[fmpq, fmpq]

    @property
    def n(self) -> int:
        """The number of inputs."""
        return self.teacher.n

    def factor(self) -> Factorization:
        """The whole discriminant of F: powers of β and γ, and the irreducible factors of `polynomial`."""
        _, parts = self.polynomial.factor()
        return Factorization(1, tuple(Factor(p, int(k)) for p, k in (*self.divisors, *parts)))

    def real_count(self, beta: object, gamma: object) -> int:
        """The number of real critical points but the zero function, proved; refused where two have met."""
        roots = real_roots(self._member(beta, gamma))
        if any(power > 1 for _, power in roots):
            raise InvalidProblem(
                f"beta={beta}, gamma={gamma} is on the discriminant: critical points have met. Fix: move a little."
            )
        return len(roots)

    def zeros(self, beta: object, gamma: object) -> Array:
        """The real zeros of F, isolated and rounded."""
        return self.unscaled(
            np.array([float(root.mid()) for root, _ in real_roots(self._member(beta, gamma))])
        )

    def unscaled(self, nu: Array) -> Array:
        """μ."""
        centre, spread = (int(x.p) / int(x.q) for x in self.window)
        return np.asarray(centre + spread * nu)

    def problem(self, beta: float, gamma: float) -> Problem:
        """The problem at one activation, which `sh.chart` charts in its own way."""
        activation = Polynomial([gamma, beta, 1.0])
        return Problem(Network(self.teacher.W, self.teacher.a, activation), Gaussian(self.n), 1)

    def networks(self, beta: float, gamma: float) -> list[Network]:
        """The real critical neurons, from the zeros of F, by increasing loss.

        >>> teacher = sh.Network([[1.0, 1 / 3], [-0.2, 0.8]], [1.0, -1.0], activation=sh.Polynomial([1, 1, 1]))
        >>> family = sh.discriminants.activation(teacher)
        >>> problem = family.problem(1.0, 0.3)
        >>> [round(problem.loss(net), 6) for net in family.networks(1.0, 0.3)]
        [2.079899, 4.637167, 5.12169]
        """
        problem = self.problem(beta, gamma)
        mu = self.zeros(beta, gamma)
        W, a = self.numbers.neurons(mu, np.full(len(mu), beta), np.full(len(mu), gamma))
        found = [Network(w[None], [outer], problem.activation) for w, outer in zip(W, a, strict=True)]
        return sorted(found, key=problem.loss)

    @cached_property
    def numbers(self) -> TeacherNumbers:
        """S, b and Σa*, rounded."""
        return TeacherNumbers.of(self.teacher)

    def _member(self, beta: object, gamma: object) -> Any:
        """F at numbers, a polynomial in ν."""
        at = [rational(name, value) for name, value in zip(NAMES, (beta, gamma), strict=True)]
        if not at[0]:
            raise InvalidProblem(
                "beta is 0: then w → −w is a symmetry, and critical points do not lie on one curve. Fix: beta ≠ 0, or "
                "sh.chart(family.problem(0.0, gamma))."
            )
        values = [fmpq(x.numerator, x.denominator) for x in at]
        return affine([coefficient(*values) for coefficient in self.form])

    def __repr__(self) -> str:
        in_beta, in_gamma = (int(d) for d in self.polynomial.degrees())
        return (
            f"ActivationDiscriminant({counted(self.n, 'input')}; {3 * self.n + 1} critical points; "
            f"{len(self.polynomial)} terms, degrees {in_beta} in beta and {in_gamma} in gamma)"
        )


@dataclass(frozen=True, eq=False)
class TeacherNumbers:
    """What the loss knows of the teacher: S, b and Σa*."""

    S: Array
    b: Array
    total: float

    @classmethod
    def of(cls, teacher: Network) -> TeacherNumbers:
        """Those of a network."""
        return cls((teacher.W.T * teacher.a) @ teacher.W, teacher.a @ teacher.W, float(teacher.a.sum()))

    def constant(self, gamma: Array) -> Array:
        """c."""
        return np.asarray(np.trace(self.S) + gamma * self.total)

    def neurons(self, mu: Array, beta: Array, gamma: Array) -> tuple[Array, Array]:
        """w (…, n) and a that belong to zeros μ of F."""
        matrix = 8 * self.S - mu[..., None, None] * np.eye(len(self.b))
        right = -2 * beta[..., None] ** 2 * self.b
        w = np.linalg.solve(matrix, right[..., None])[..., 0]
        square = np.einsum("...i,...i", w, w)
        top = np.stack(
            [mu + 4 * self.constant(gamma), 2 * beta**2 * (w @ self.b) + 4 * gamma * self.constant(gamma)]
        )
        bottom = np.stack(
            [12 * square + 2 * beta**2 + 4 * gamma, (2 * beta**2 + 4 * gamma) * square + 4 * gamma**2]
        )
        a = np.sum(top * bottom, axis=0) / np.sum(bottom**2, axis=0)  # both equations say the same of a
        return np.asarray(w), np.asarray(a)


def activation(teacher: Network) -> ActivationDiscriminant:
    """The discriminant of one neuron aσ(w·x), σ(z) = z² + βz + γ, in β and γ, under standard Gaussian data.

    The teacher's neurons have the same σ, whatever its own activation says (that must be quadratic); a is trained. Up
    to three inputs. Refused for special teachers, whose b lies in fewer eigenvectors of S than there are.

    >>> teacher = sh.Network([[1.0]], [1.0], activation=sh.Polynomial([1, 1, 1]))
    >>> sh.discriminants.activation(teacher)
    ActivationDiscriminant(1 input; 4 critical points; 24 terms, degrees 10 in beta and 7 in gamma)
    """
    if not isinstance(teacher, Network) or teacher.outputs != 1 or teacher.bias is not None:
        raise InvalidProblem(f"The teacher is {teacher!r}; expected a Network with one output, without bias.")
    quadratic_coefficients(teacher)
    if teacher.n > LARGEST:
        raise InvalidProblem(
            f"The teacher has {teacher.n} inputs; expected at most {LARGEST}. Fix: sh.chart."
        )
    exact = _ExactTeacher.of(teacher)
    form = exact.form()
    whole = symbolic_discriminant(integral(form, NAMES), NAMES)
    if not whole:
        raise _special()
    parts = [(p, int(k)) for p, k in whole.factor()[1]]
    divisors = tuple((p, k) for p, k in parts if str(p) in NAMES)
    polynomial = prod((p for p, _ in parts if str(p) not in NAMES), start=whole.context().constant(1))
    return ActivationDiscriminant(teacher, form, polynomial, divisors, exact.vertex(), exact.window)


def _special() -> InvalidProblem:
    return InvalidProblem(
        "The teacher is special: b = Σ a*w* is orthogonal to an eigenvector of S = Σ a*w*w*ᵀ, or S has a double "
        "eigenvalue, so that critical points leave the curve w(μ). Fix: another teacher, or sh.chart at one activation."
    )


@dataclass(frozen=True)
class _ExactTeacher:
    """S, b and Σa*, as fractions."""

    S: fmpq_mat
    b: fmpq_mat
    total: fmpq

    @classmethod
    def of(cls, teacher: Network) -> _ExactTeacher:
        """That of a network; special ones are refused."""
        W = fmpq_mat([[_q(x) for x in row] for row in teacher.W])
        outer = fmpq_mat([[_q(x)] for x in teacher.a])
        weighted = fmpq_mat([[W[i, j] * outer[i, 0] for j in range(teacher.n)] for i in range(teacher.width)])
        S, b = W.transpose() * weighted, W.transpose() * outer
        krylov = [b]
        for _ in range(teacher.n - 1):
            krylov.append(S * krylov[-1])
        if not fmpq_mat([[v[i, 0] for v in krylov] for i in range(teacher.n)]).det():
            raise _special()
        return cls(S, b, sum((_q(x) for x in teacher.a), fmpq(0)))

    @property
    def n(self) -> int:
        return int(self.S.nrows())

    @property
    def window(self) -> tuple[fmpq, fmpq]:
        """The middle and about the size of 8S − middle, around which zeros of F lie: in floats they stay apart."""
        middle = 8 * sum((self.S[i, i] for i in range(self.n)), fmpq(0)) / self.n
        sizes = [
            abs(8 * self.S[i, j] - (middle if i == j else 0)) for i in range(self.n) for j in range(self.n)
        ]
        return middle, max(sizes) or 1 + abs(middle)

    def constant(self, gamma: fmpq_mpoly) -> fmpq_mpoly:
        """c."""
        return sum((self.S[i, i] for i in range(self.n)), fmpq(0)) + self.total * gamma

    def form(self) -> tuple[fmpq_mpoly, ...]:
        """The coefficients of F by powers of ν, μ = centre + spread·ν, in Q[β, γ]."""
        nu, beta, gamma = fmpq_mpoly_ctx.get([UNKNOWN, *NAMES], Ordering.lex).gens()
        centre, spread = self.window
        mu = centre + spread * nu
        y, P = self.curve(mu)
        square, c = sum((v * v for v in y), 0 * mu), self.constant(gamma)
        mixed = 2 * beta**2 + 4 * gamma
        left = (mu + 4 * c) * (4 * beta**4 * mixed * square + 4 * gamma**2 * P**2) * P
        right = self._numerator(y, P, beta, gamma) * (48 * beta**4 * square + mixed * P**2)
        return _by_powers(left - right, 3 * self.n + 1)

    def vertex(self) -> fmpz_mpoly:
        """Where a = 0, over Z."""
        beta, gamma = fmpq_mpoly_ctx.get(list(NAMES), Ordering.lex).gens()
        y, P = self.curve(-4 * self.constant(gamma))
        return integral([self._numerator(y, P, beta, gamma)], NAMES)[0]

    def _numerator(
        self, y: list[fmpq_mpoly], P: fmpq_mpoly, beta: fmpq_mpoly, gamma: fmpq_mpoly
    ) -> fmpq_mpoly:
        """4γcP − 4β⁴ b·y: a up to a factor."""
        product = sum((self.b[i, 0] * v for i, v in enumerate(y)), 0 * beta)
        return 4 * gamma * self.constant(gamma) * P - 4 * beta**4 * product

    def curve(self, mu: fmpq_mpoly) -> tuple[list[fmpq_mpoly], fmpq_mpoly]:
        """adj(A − μ)b and det(A − μ), A = 8S, by Faddeev and Leverrier.

        det(μ − A) = Σ cₖ μ^(n−k) and adj(μ − A) = Σ Mₖ μ^(n−1−k) with M₀ = 1, Mₖ = A Mₖ₋₁ + cₖ, cₖ = −tr(A Mₖ₋₁)/k.
        """
        n, A = self.n, 8 * self.S
        one = fmpq_mat([[fmpq(int(i == j)) for j in range(n)] for i in range(n)])
        M, determinant, image = one, mu**n, [0 * mu] * n
        for k in range(1, n + 1):
            v = M * self.b
            image = [old + v[i, 0] * mu ** (n - k) for i, old in enumerate(image)]
            product = A * M
            c = -sum((product[i, i] for i in range(n)), fmpq(0)) / k
            M, determinant = product + c * one, determinant + c * mu ** (n - k)
        return [(-1) ** (n - 1) * v for v in image], (-1) ** n * determinant


def _by_powers(polynomial: fmpq_mpoly, degree: int) -> tuple[fmpq_mpoly, ...]:
    context = fmpq_mpoly_ctx.get(list(NAMES), Ordering.lex)
    parts: list[dict[tuple[int, ...], Any]] = [{} for _ in range(degree + 1)]
    for (power, *rest), value in polynomial.to_dict().items():
        parts[int(power)][tuple(int(e) for e in rest)] = value
    return tuple(context.from_dict(part) for part in parts)


def _q(value: float) -> fmpq:
    exact = simplest(float(value))
    return fmpq(exact.numerator, exact.denominator)
