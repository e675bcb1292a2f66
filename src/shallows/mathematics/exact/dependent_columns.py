"""Columns of integers that are linear combinations of others, found modulo a prime and proved over the integers.

Elimination modulo one prime names pivots and the coefficients of every other column in them. Coefficients that come
from a fraction a/b with |a|, b < √(p/2) are recovered from their residue, and b·column = Σ a·pivot is then checked in
every row modulo so many primes that their product exceeds anything the difference can be: a difference that vanishes
modulo all of them is zero. What is not proved is kept as independent.

Elimination looks at some of the rows; a relation that fails in another adds that row and is looked for again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import isqrt, lcm

import flint
import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.exact.linear_algebra import PRIME

#: Rows a column that elimination begins with.
ROWS = 2
#: Times that rows are added where relations failed.
ROUNDS = 30
#: Numerators and denominators that are recovered: below √(p/2).
LARGEST = isqrt(PRIME // 2)

Table = Callable[[int], NDArray[np.int64]]
Relation = tuple[int, dict[int, int]]


def independent_columns(table: Table, bits: Sequence[int]) -> tuple[list[int], list[int]]:
    """The columns that are kept, and those that are proved to be combinations of them, over all rows.

    `table(p)` holds the residues modulo p, a row a sample; |entry| < 2^bits of its column.

    >>> columns = np.array([[1, 1, 0, 5], [1, 0, 1, 7], [1, 1, 0, 6]])       # the second and third add up to the first
    >>> independent_columns(lambda p: columns % p, [3] * 4)
    ([0, 1, 3], [2])
    """
    first = table(PRIME)
    count = len(bits)
    rows = set(np.linspace(0, len(first) - 1, min(len(first), ROWS * count + ROWS)).astype(int).tolist())
    relations: list[Relation] = []
    for _ in range(ROUNDS):
        relations, failed = _relations(first, sorted(rows)), set()
        for relation in relations:
            wrong = np.flatnonzero(_difference(first, relation, PRIME))
            if len(wrong):
                failed.add(int(wrong[0]))
        if not failed:
            break
        rows |= failed
    dropped = _proved(table, bits, relations)
    return [j for j in range(count) if j not in dropped], sorted(dropped)


def _relations(residues: NDArray[np.int64], rows: list[int]) -> list[Relation]:
    """Column j with integers a: Σ a·column = 0 in these rows modulo p, a_j the common denominator, others pivots."""
    block = residues[rows]
    reduced, rank = flint.nmod_mat(len(rows), block.shape[1], block.ravel().tolist(), PRIME).rref()
    entries = np.array([int(value) for value in reduced.entries()], dtype=np.int64).reshape(block.shape)[
        :rank
    ]
    pivots = [int(np.flatnonzero(row)[0]) for row in entries]
    found = []
    for j in sorted(set(range(block.shape[1])) - set(pivots)):
        fractions = {pivots[i]: _fraction(int(entries[i, j])) for i in np.flatnonzero(entries[:, j])}
        if all(fractions.values()):
            known = {i: value for i, value in fractions.items() if value is not None}
            common = lcm(*(b for _, b in known.values()))
            found.append((j, {j: common} | {i: -a * (common // b) for i, (a, b) in known.items()}))
    return found


def _fraction(residue: int) -> tuple[int, int] | None:
    """a, b with a = b·residue modulo p and both small, by Euclid's algorithm."""
    a, b, rest, factor = PRIME, 0, residue, 1
    while rest > LARGEST:
        quotient = a // rest
        a, b, rest, factor = rest, factor, a - quotient * rest, b - quotient * factor
    if abs(factor) > LARGEST:
        return None
    return (rest, factor) if factor > 0 else (-rest, -factor)


def _difference(residues: NDArray[np.int64], relation: Relation, prime: int) -> NDArray[np.int64]:
    """Σ a·column modulo p, for every row."""
    total = np.zeros(len(residues), dtype=np.int64)
    for j, a in relation[1].items():
        total = (total + residues[:, j] * (a % prime)) % prime
    return total


def _proved(table: Table, bits: Sequence[int], relations: list[Relation]) -> set[int]:
    """The columns whose relations vanish modulo primes of a larger product than twice their largest value."""
    left = dict(relations)
    sizes = {j: sum(abs(a) << bits[i] for i, a in terms.items()) for j, terms in relations}
    product, primes = 1, _primes()
    while left and product <= 2 * max(sizes[j] for j in left):
        prime = next(primes)
        residues = table(prime)
        product *= prime
        left = {j: terms for j, terms in left.items() if not _difference(residues, (j, terms), prime).any()}
    return set(left)


def _primes() -> Iterator[int]:
    """Primes from 2³¹ − 1 downwards: products of two residues fit in 64 bits."""
    candidate = PRIME
    while True:
        if flint.fmpz(candidate).is_prime():
            yield candidate
        candidate -= 2
