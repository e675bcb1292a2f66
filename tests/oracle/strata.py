"""Tensors of one rank in local coordinates p: the entries s(p), their Jacobian and second derivatives.

- `Powers`: s = Σ εᵢ vᵢ^⊗d, p the vectors vᵢ one after the other: any degree at rank one, identifiable sums at d ≥ 3.
- `Frames`: S = U A Uᵀ, U the identity on r chosen rows and Z on the others, p = (A, Z): matrices of rank r.

Everything works on arrays of floats and on arrays of mpmath numbers alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from tests.oracle.exact import exponents

Array = Any


@dataclass(frozen=True)
class Powers:
    """Σ εᵢ vᵢ^⊗d."""

    n: int
    degree: int
    signs: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many coordinates."""
        return self.n * len(self.signs)

    def evaluate(self, p: Array) -> tuple[Array, Array]:
        """The entries, and their Jacobian (N × p)."""
        rows = exponents(self.n, self.degree)
        value = np.array([p[0] * 0] * len(rows))
        slope = np.array([[p[0] * 0] * self.size] * len(rows))
        for i, sign in enumerate(self.signs):
            table = _table(p[i * self.n : (i + 1) * self.n], self.degree)
            for k, e in enumerate(rows):
                value[k] = value[k] + sign * _monomial(table, e)
                for x, power in enumerate(e):
                    if power:
                        slope[k, i * self.n + x] = sign * power * _monomial(table, _less(e, x))
        return value, slope

    def bend(self, p: Array, c: Array) -> Array:
        """Σ_I c_I ∂²s_I (p × p)."""
        n = self.n
        result = np.array([[p[0] * 0] * self.size] * self.size)
        for i, sign in enumerate(self.signs):
            table = _table(p[i * n : (i + 1) * n], self.degree)
            for k, e in enumerate(exponents(n, self.degree)):
                for x, power in enumerate(e):
                    if not power:
                        continue
                    once = _less(e, x)
                    for y in range(x, n):
                        if once[y]:
                            term = c[k] * (sign * power * once[y]) * _monomial(table, _less(once, y))
                            result[i * n + x, i * n + y] = result[i * n + x, i * n + y] + term
                            if x != y:
                                result[i * n + y, i * n + x] = result[i * n + y, i * n + x] + term
        return result

    def count_signs(self, p: Array) -> tuple[int, int]:
        """How many terms are positive, how many negative; for odd degrees every one can be either."""
        positive = sum(sign > 0 for sign in self.signs)
        return positive, len(self.signs) - positive


@dataclass(frozen=True)
class Frames:
    """Matrices U A Uᵀ of rank r, U the identity on the rows `pivots`."""

    n: int
    pivots: tuple[int, ...]

    @property
    def rank(self) -> int:
        """r."""
        return len(self.pivots)

    @property
    def size(self) -> int:
        """r(r+1)/2 + r(n−r)."""
        r = self.rank
        return r * (r + 1) // 2 + r * (self.n - r)

    @classmethod
    def at(cls, S: Array, rank: int) -> tuple[Frames, Array]:
        """The frame in which a matrix of floats is best given, and its coordinates there."""
        from scipy.linalg import qr

        scale = float(np.max(np.abs(S))) or 1.0
        values, vectors = np.linalg.eigh(S / scale)
        chosen = np.argsort(-np.abs(values))[:rank]
        V = vectors[:, chosen]
        places = qr(V.T, pivoting=True)[2][:rank]
        frame = cls(len(S), tuple(sorted(int(i) for i in places)))
        top = V[list(frame.pivots)]
        A = scale * (top * values[chosen]) @ top.T
        others = [k for k in range(len(S)) if k not in frame.pivots]
        Z = V[others] @ np.linalg.inv(top)
        return frame, np.concatenate([A[np.triu_indices(rank)], Z.ravel()])

    def _parts(self, p: Array) -> tuple[Array, Array, list[int]]:
        r, n = self.rank, self.n
        zero = p[0] * 0
        A = np.array([[zero] * r] * r)
        for value, (i, j) in zip(p, combinations_with_replacement(range(r), 2), strict=False):
            A[i, j] = A[j, i] = value
        U = np.array([[zero] * r] * n)
        for place, row in enumerate(self.pivots):
            U[row, place] = zero + 1
        others = [k for k in range(n) if k not in self.pivots]
        Z = p[r * (r + 1) // 2 :]
        for place, row in enumerate(others):
            for b in range(r):
                U[row, b] = Z[place * r + b]
        return A, U, others

    def evaluate(self, p: Array) -> tuple[Array, Array]:
        """The entries, and their Jacobian (N × p)."""
        A, U, others = self._parts(p)
        pairs = list(combinations_with_replacement(range(self.n), 2))
        AU = A.dot(U.T)
        S = U.dot(AU)
        value = np.array([S[i, j] for i, j in pairs])
        columns = []
        for a, b in combinations_with_replacement(range(self.rank), 2):
            if a == b:
                columns.append([U[i, a] * U[j, a] for i, j in pairs])
            else:
                columns.append([U[i, a] * U[j, b] + U[i, b] * U[j, a] for i, j in pairs])
        zero = p[0] * 0
        for row in others:
            for b in range(self.rank):
                columns.append(
                    [(AU[b, j] if i == row else zero) + (AU[b, i] if j == row else zero) for i, j in pairs]
                )
        return value, np.array(columns).T

    def bend(self, p: Array, c: Array) -> Array:
        """Σ_I c_I ∂²s_I (p × p)."""
        A, U, others = self._parts(p)
        n, r = self.n, self.rank
        zero = p[0] * 0
        C = np.array([[zero] * n] * n)  # ⟨c, S⟩ = Σ_ij C_ij S_ij
        for value, (i, j) in zip(c, combinations_with_replacement(range(n), 2), strict=True):
            if i == j:
                C[i, i] = value
            else:
                C[i, j] = C[j, i] = value / 2
        upper = list(combinations_with_replacement(range(r), 2))
        result = np.array([[zero] * self.size] * self.size)
        start = len(upper)
        CU = C.dot(U)
        for s, row in enumerate(others):
            for b in range(r):
                x = start + s * r + b
                for t, line in enumerate(others):
                    for d in range(r):
                        result[x, start + t * r + d] = 2 * C[row, line] * A[b, d]
                for k, (i, j) in enumerate(upper):
                    # d²S = e_row (E_ij Uᵀ)_b + transposed
                    value = zero
                    if b == i:
                        value = value + 2 * CU[row, j]
                    if b == j and i != j:
                        value = value + 2 * CU[row, i]
                    result[x, k] = result[k, x] = value
        return result

    def count_signs(self, p: Array) -> tuple[int, int]:
        """How many eigenvalues are positive, how many negative."""
        A, _, _ = self._parts(p)
        largest = max(abs(x) for x in A.ravel())
        values = np.linalg.eigvalsh(np.array([[float(x / largest) for x in row] for row in A]))
        return int(np.sum(values > 0)), int(np.sum(values < 0))


Stratum = Powers | Frames


def _table(v: Array, degree: int) -> list[list[Any]]:
    """The powers of each coordinate."""
    rows = []
    for x in v:
        powers = [x * 0 + 1]
        for _ in range(degree):
            powers.append(powers[-1] * x)
        rows.append(powers)
    return rows


def _monomial(table: list[list[Any]], e: Sequence[int]) -> Any:
    result = None
    for powers, k in zip(table, e, strict=True):
        if k:
            result = powers[k] if result is None else result * powers[k]
    return table[0][0] if result is None else result


def _less(e: tuple[int, ...], x: int) -> tuple[int, ...]:
    return tuple(k - (i == x) for i, k in enumerate(e))
