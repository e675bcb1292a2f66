"""The rank-one system K(v,v,v) = Bv: critical points of q(v)/4 − b(v)/2, q a quartic form, b a quadratic one.

v = 0 is always a solution and is left out; solutions come in pairs ±v, one of each pair is listed. For
generic forms there are (3ⁿ−1)/2 pairs, and never more isolated ones: the n cubics have 3ⁿ common zeros by
Bézout, one of which is 0. The homotopy starts at vᵢ³ − vᵢ = 0, a member of the family with all its zeros
known, and both ends are odd, so half of the paths are enough.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement, permutations, product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shallows.mathematics.balls.batched import RankOneBatch
from shallows.mathematics.exact.rational_arrays import fractions
from shallows.mathematics.homotopy._compiled.codes import AFFINE
from shallows.mathematics.homotopy.coefficients import GaussianRational, to_gaussian
from shallows.mathematics.homotopy.paths import Homotopy
from shallows.mathematics.homotopy.start_systems import unit
from shallows.mathematics.homotopy.systems import PolynomialSystem, Terms
from shallows.support.arguments import typed
from shallows.support.checks import describe
from shallows.support.errors import InvalidProblem
from shallows.support.tolerances import TINY

Quartic = Mapping[tuple[int, ...], Fraction]


class RankOneSystem:
    """K(v,v,v) − Bv = 0 with a real symmetric 4-tensor K and a real symmetric matrix B, both exact.

    `quartic` holds the entries K_{i≤j≤k≤l}; floats anywhere are read as the binary numbers they are. With K(v,v,v)·v =
    ‖vvᵀ‖² and vᵀBv = ⟨vvᵀ, T⟩ the solutions are the critical points S = vvᵀ of rank one of a quadratic network's loss,
    (3ⁿ−1)/2 of them for a generic metric (paper 000, after Theorem 36).

    >>> system = sh.homotopy.RankOneSystem({(0, 0, 0, 0): 1, (1, 1, 1, 1): 1}, np.eye(2))
    >>> print(system.polynomials())
    (1)*v1^3 + (-1)*v1
    (1)*v2^3 + (-1)*v2
    >>> sh.homotopy.solve(system).real.count    # ±(1, 0), ±(0, 1), ±(1, 1), ±(1, −1)
    4
    """

    #: Solutions come in pairs ±v; one of each is listed.
    sign_symmetric = True
    start = "rank one"
    _mirror: RankOneSystem | None = None

    @typed
    def __init__(self, quartic: Quartic, linear: ArrayLike) -> None:
        matrix = [[_rational(entry) for entry in row] for row in np.asarray(linear, dtype=object)]
        self.n = len(matrix)
        if any(len(row) != self.n for row in matrix):
            raise InvalidProblem(f"B has shape {np.shape(linear)}. Fix: give an n×n symmetric matrix")
        if any(matrix[i][j] != matrix[j][i] for i in range(self.n) for j in range(i)):
            raise InvalidProblem("B is not symmetric. Fix: give (B + Bᵀ)/2")
        self.linear = matrix
        if not isinstance(quartic, Mapping):
            raise InvalidProblem(
                f"quartic is {describe(quartic)}. Fix: give {{(i, j, k, l): coefficient}}, as {{(0, 0, 1, 1): 2}}"
            )
        self.quartic = {key: Fraction(value) for key, value in quartic.items() if value}
        keys = set(combinations_with_replacement(range(self.n), 4))
        if not set(self.quartic) <= keys:
            strange = sorted(set(self.quartic) - keys)[0]
            raise InvalidProblem(f"{strange} is no index i≤j≤k≤l below {self.n}. Fix: sort the indices")

    @classmethod
    def from_gram(cls, gram: ArrayLike, linear: ArrayLike) -> RankOneSystem:
        """From q(v) = s ᵀ G s with s the entries vᵢvⱼ (i ≤ j, lexicographic): G as in `data.gram(2)`.

        The symmetric tensor of q is the mean over the ways to split four indices into two pairs.
        """
        matrix = np.asarray(linear)
        n = len(matrix)
        table = np.asarray(gram, dtype=object)
        pairs = list(combinations_with_replacement(range(n), 2))
        if table.shape != (len(pairs), len(pairs)):
            raise InvalidProblem(
                f"the Gram matrix has shape {table.shape}, expected {(len(pairs), len(pairs))} for n = {n}. "
                "Fix: give G on the n(n+1)/2 entries i ≤ j"
            )
        coefficients: Counter[tuple[int, ...]] = Counter()
        for a, first in enumerate(pairs):
            for b, second in enumerate(pairs):
                coefficients[tuple(sorted(first + second))] += _rational(table[a, b])  # type: ignore[assignment]
        quartic = {key: Fraction(value) / len(set(permutations(key))) for key, value in coefficients.items()}
        return cls(quartic, matrix)

    @property
    def system(self) -> RankOneSystem:
        """Itself: what `Solutions.certify` proves."""
        return self

    @property
    def path_count(self) -> int:
        """(3ⁿ−1)/2."""
        return int(3**self.n - 1) // 2

    @property
    def root_bound(self) -> int:
        """No more than (3ⁿ−1)/2 isolated pairs ±v ≠ 0, when 0 is isolated (B is invertible)."""
        return self.path_count

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """i ≤ j in lexicographic order."""
        return list(combinations_with_replacement(range(self.n), 2))

    def packed(self) -> list[list[Fraction]]:
        """K as an N×N matrix from the products vₖvₗ (k ≤ l) to Q(v)ᵢⱼ (i ≤ j)."""
        return self._packed

    @cached_property
    def _packed(self) -> list[list[Fraction]]:
        zero = Fraction(0)
        return [
            [
                (1 if k == l else 2) * self.quartic.get(tuple(sorted((i, j, k, l))), zero)
                for k, l in self.pairs
            ]
            for i, j in self.pairs
        ]

    def prepare(self, rng: np.random.Generator) -> tuple[Homotopy, NDArray[np.complex128]]:
        """γ t (v³ − v) + (1−t)(K(v,v,v) − Bv) in coordinates v = s·u where K and B are of similar size."""
        from shallows.mathematics.homotopy._compiled import evaluators

        tensor = np.array([[float(entry) for entry in row] for row in self.packed()])
        matrix = np.array([[float(entry) for entry in row] for row in self.linear])
        # with v = s u both sides are s·‖B‖ big: K s² ~ B, then divide by ‖B‖
        tensor = tensor * self._scale**2 / self._size
        reals = np.concatenate([tensor.T.ravel(), (matrix / self._size).ravel()])
        homotopy = Homotopy(
            evaluate=evaluators.rank_one,
            complexes=np.array([unit(rng)], np.complex128),
            reals=np.ascontiguousarray(reals),
            program=np.array([self.n], np.int64),
            work=1,
            scratch=4 * len(self.pairs),
            unknowns=self.n,
            mode=AFFINE,
            sign_symmetric=True,
        )
        return homotopy, start_points(self.n)

    @cached_property
    def _size(self) -> float:
        """The spectral norm of B, as a power of two."""
        matrix = np.array([[float(entry) for entry in row] for row in self.linear])
        return float(2.0 ** np.rint(np.log2(np.linalg.norm(matrix, 2) or 1.0)))

    @cached_property
    def _scale(self) -> float:
        """The size of a typical solution: √(‖B‖/‖K‖), as a power of two."""
        diagonal = [abs(float(self.quartic.get((i, i, i, i), 0))) for i in range(self.n)]
        level = float(np.exp(np.mean(np.log(np.maximum(diagonal, TINY))))) if min(diagonal) > 0 else 1.0
        return float(2.0 ** np.rint(0.5 * np.log2(self._size / level)))

    def scaled_system(self) -> RankOneSystem:
        """The same system, exactly, in the tracker's coordinates."""
        size, scale = Fraction(self._size), Fraction(self._scale)
        quartic = {key: value * scale**2 / size for key, value in self.quartic.items()}
        return RankOneSystem(quartic, np.array(self.linear, dtype=object) / size)

    def unscale(self, points: NDArray[np.complex128]) -> NDArray[np.complex128]:
        """From the tracker's coordinates to v."""
        return points * self._scale

    def polynomials(self) -> PolynomialSystem:
        """The same system expanded into monomials (with the solution v = 0, and both signs)."""
        equations: list[Terms] = [{} for _ in range(self.n)]
        for i, j, k, l in product(range(self.n), repeat=4):
            value = self.quartic.get(tuple(sorted((i, j, k, l))))
            if value:
                key = tuple(int(np.sum([m == x for x in (j, k, l)])) for m in range(self.n))
                equations[i][key] = equations[i].get(key, GaussianRational(Fraction(0))) + GaussianRational(
                    value
                )
        for i, j in product(range(self.n), repeat=2):
            if self.linear[i][j]:
                key = tuple(int(m == j) for m in range(self.n))
                equations[i][key] = GaussianRational(-self.linear[i][j])
        names = tuple(f"v{i + 1}" for i in range(self.n))
        return PolynomialSystem(names, tuple({k: c for k, c in row.items() if c} for row in equations))

    def ball_evaluator(self, bits: int) -> Any:
        """Value and Jacobian in ball arithmetic: see `balls.systems`."""
        from shallows.mathematics.balls.systems import RankOneBalls

        return RankOneBalls(self, bits)

    def ball_batch(self) -> Any:
        """The same at many boxes at once, in float64: see `balls.batched`."""
        return self._batch

    def mirrored(self) -> RankOneSystem:
        """The system with −B, solved by iv for a solution v of this one; K is computed once for both."""
        twin = RankOneSystem(self.quartic, -np.array(self.linear, dtype=object))
        twin.__dict__["_packed"] = self._packed
        twin._mirror = self
        return twin

    def in_frame(self, frame: NDArray[np.float64]) -> RankOneSystem:
        """The system whose solutions are frame⁻¹v: K(Fv, Fv, Fv, F·) and FᵀBF, exactly."""
        exact: NDArray[Any] = fractions(frame)
        tensor = np.zeros((self.n,) * 4, dtype=object)
        for key, value in self.quartic.items():
            for index in set(permutations(key)):
                tensor[index] = value
        for _ in range(4):  # the first index becomes the last one of the new tensor
            tensor = np.tensordot(tensor, exact, axes=(0, 0))
        quartic: dict[tuple[int, ...], Fraction] = {
            key: tensor[key] for key in combinations_with_replacement(range(self.n), 4)
        }
        return RankOneSystem(quartic, exact.T @ np.array(self.linear, dtype=object) @ exact)

    @cached_property
    def _batch(self) -> Any:
        return RankOneBatch(self) if self._mirror is None else self._mirror._batch.mirrored()

    @property
    def is_real(self) -> bool:
        """Always: K and B are real."""
        return True

    def __repr__(self) -> str:
        return f"RankOneSystem(n={self.n}, {self.path_count} pairs ±v for generic forms)"


def _rational(value: object) -> Fraction:
    exact = to_gaussian(value)
    if exact.imag:
        raise InvalidProblem(f"entry {value!r} is not real. Fix: give real forms")
    return exact.real


def start_points(n: int) -> NDArray[np.complex128]:
    """The solutions ≠ 0 of vᵢ³ = vᵢ up to sign: the first nonzero entry is 1."""
    grid = np.array(list(product((0, 1, -1), repeat=n)), dtype=np.complex128)[1:]
    first = grid[np.arange(len(grid)), (grid != 0).argmax(axis=1)]
    return np.ascontiguousarray(grid[first == 1])


@typed
def random_rank_one(n: int, rng: np.random.Generator) -> RankOneSystem:
    """A generic `RankOneSystem`: K from a random positive-definite Gram matrix on Sym²(Rⁿ), a random symmetric B.

    >>> system = sh.homotopy.random_rank_one(3, np.random.default_rng(0))
    >>> sh.homotopy.solve(system).certify()
    Certification: 13 distinct pairs ±v proved (...)
      complete: no more than 13 are possible
    """
    size = n * (n + 1) // 2
    factor = rng.standard_normal((size, size))
    gram = factor @ factor.T / size + np.eye(size) / 2
    form: Sequence[Any] = rng.standard_normal((n, n))  # type: ignore[assignment]
    return RankOneSystem.from_gram((gram + gram.T) / 2, (np.asarray(form) + np.asarray(form).T) / 2)
