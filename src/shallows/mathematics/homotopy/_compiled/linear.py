"""Small dense complex linear algebra inside compiled loops: LU with partial pivoting, in place, rows one after the
other."""

from __future__ import annotations

from typing import Any

from shallows.mathematics.homotopy._compiled.kinds import BOOL, COMPLEXES, INT, INTEGERS, VOID
from shallows.support.compiling import unit
from shallows.support.tolerances import HUGE


@unit(BOOL(COMPLEXES, INTEGERS, INT))
def factor(matrix: Any, pivots: Any, size: int) -> bool:
    """LU of `matrix` in place, rows swapped as recorded in `pivots`. False when it is singular or not finite."""
    for k in range(size):
        best, where = 0.0, k
        for i in range(k, size):
            weight = abs(matrix[i * size + k].real) + abs(matrix[i * size + k].imag)
            if weight > best:
                best, where = weight, i
        if not (best > 0.0 and best < HUGE):
            return False
        pivots[k] = where
        if where != k:
            for j in range(size):
                entry = matrix[k * size + j]
                matrix[k * size + j] = matrix[where * size + j]
                matrix[where * size + j] = entry
        p = matrix[k * size + k]
        scale = 1.0 / (p.real * p.real + p.imag * p.imag)
        inverse = complex(p.real * scale, -p.imag * scale)
        matrix[k * size + k] = inverse  # the inverse of the pivot is what the solves need
        for i in range(k + 1, size):
            if matrix[i * size + k] != 0.0:
                ratio = matrix[i * size + k] * inverse
                matrix[i * size + k] = ratio
                for j in range(k + 1, size):
                    matrix[i * size + j] -= ratio * matrix[k * size + j]
    return True


@unit(VOID(COMPLEXES, INTEGERS, COMPLEXES, INT))
def solve(matrix: Any, pivots: Any, vector: Any, size: int) -> None:
    """Solve with the factors of `factor`, in place in `vector`."""
    for k in range(size):
        where = pivots[k]
        if where != k:
            entry = vector[k]
            vector[k] = vector[where]
            vector[where] = entry
    # column by column: the entries of a column wait for one number only, those of a row for each other
    for j in range(size - 1):
        known = vector[j]
        for i in range(j + 1, size):
            vector[i] -= matrix[i * size + j] * known
    for back in range(size):
        j = size - 1 - back
        known = vector[j] * matrix[j * size + j]
        vector[j] = known
        for i in range(j):
            vector[i] -= matrix[i * size + j] * known
