"""Small dense complex linear algebra inside compiled loops: LU with partial pivoting, in place."""

from __future__ import annotations

from typing import Any

from numba import njit

from shallows.support.tolerances import HUGE


@njit(nogil=True, error_model="numpy")
def factor(matrix: Any, pivots: Any) -> bool:
    """LU of `matrix` in place, rows swapped as recorded in `pivots`. False when it is singular or not finite."""
    size = matrix.shape[0]
    for k in range(size):
        best, where = 0.0, k
        for i in range(k, size):
            weight = abs(matrix[i, k].real) + abs(matrix[i, k].imag)
            if weight > best:
                best, where = weight, i
        if not (best > 0.0 and best < HUGE):
            return False
        pivots[k] = where
        if where != k:
            for j in range(size):
                matrix[k, j], matrix[where, j] = matrix[where, j], matrix[k, j]
        p = matrix[k, k]
        scale = 1.0 / (p.real * p.real + p.imag * p.imag)
        inverse = complex(p.real * scale, -p.imag * scale)
        matrix[k, k] = inverse  # the inverse of the pivot is what the solves need
        for i in range(k + 1, size):
            if matrix[i, k] != 0.0:
                ratio = matrix[i, k] * inverse
                matrix[i, k] = ratio
                for j in range(k + 1, size):
                    matrix[i, j] -= ratio * matrix[k, j]
    return True


@njit(nogil=True, error_model="numpy")
def solve(matrix: Any, pivots: Any, vector: Any) -> None:
    """Solve with the factors of `factor`, in place in `vector`."""
    size = matrix.shape[0]
    for k in range(size):
        where = pivots[k]
        if where != k:
            vector[k], vector[where] = vector[where], vector[k]
    for i in range(1, size):
        total = vector[i]
        for j in range(i):
            total -= matrix[i, j] * vector[j]
        vector[i] = total
    for back in range(size):
        i = size - 1 - back
        total = vector[i]
        for j in range(i + 1, size):
            total -= matrix[i, j] * vector[j]
        vector[i] = total * matrix[i, i]
