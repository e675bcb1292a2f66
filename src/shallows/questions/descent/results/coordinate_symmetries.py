"""The coordinate symmetries of a problem: which signed permutations of the inputs leave the loss alone.

g = (π, ε) takes x_i to ε_i x_π(i). It is a symmetry when it changes neither the target tensors nor the Gram matrix:
swaps and reflections, but also cycles without a swap and joint reflections. They are found by trying images coordinate
by coordinate and giving up as soon as an entry among the coordinates placed so far does not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from math import factorial, prod

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.support.checks import Array

LARGEST_GROUP = 6_000
#: Entries that a symmetry exchanges agree to this share of the largest: given numbers, or moments computed from them,
#: exact to about 1e-13.
TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class CoordinateGroup:
    """Elements as actions on entries, T ↦ signs[g] · T[places[g]]; `whole` is False when not all could be listed."""

    places: np.ndarray
    signs: Array
    order: int
    whole: bool

    def orbit(self, entries: Array) -> Array:
        """g·T for all listed g; entries are (…, N), the result (order, …, N)."""
        return np.array([s * entries[..., p] for p, s in zip(self.places, self.signs, strict=True)])


def action(
    n: int, degree: int, permutation: tuple[int, ...], signs: tuple[int, ...]
) -> tuple[np.ndarray, Array]:
    """(g·T)_I = Π_{i∈I} sign_i · T_{π(I)}."""
    table = coordinates.indices(n, degree)
    moved = np.sort(np.array(permutation)[table], axis=1)
    sign = np.prod(np.array(signs, dtype=float)[table], axis=1)
    return coordinates.position(moved.astype(np.intp), n), sign


def coordinate_group(targets: Array, gram: Array, n: int, degree: int) -> CoordinateGroup:
    """All signed permutations that preserve the targets (M, N) and the Gram matrix, as distinct actions on tensors.

    When there are more than 6,000, only the permutations among them, else only the reflections, else the identity.
    """
    search = _Search(targets, gram, n, degree)
    swaps = prod(factorial(len(block)) for block in _classes(n, search.exchangeable))
    flips = 2 ** sum(search.reflectable(i) for i in range(n))
    for least, moving, flipping in ((swaps * flips, True, True), (swaps, True, False), (flips, False, True)):
        if least <= LARGEST_GROUP:
            found = list(islice(search.elements(moving, flipping), LARGEST_GROUP + 1))
            if len(found) <= LARGEST_GROUP:
                return _distinct(found, whole=moving and flipping)
    return _distinct([action(n, degree, tuple(range(n)), (1,) * n)], whole=False)


def _distinct(elements: list[tuple[np.ndarray, Array]], whole: bool) -> CoordinateGroup:
    """Without repetitions: x ↦ −x, for one, does nothing to tensors of even degree."""
    unique = {(places.tobytes(), signs.tobytes()): (places, signs) for places, signs in elements}
    places, signs = zip(*unique.values(), strict=True)
    return CoordinateGroup(np.array(places), np.array(signs), len(unique), whole)


class _Search:
    """Backtracking over signed permutations: images of coordinates 0, 1, … are chosen one after the other."""

    def __init__(self, targets: Array, gram: Array, n: int, degree: int) -> None:
        self.targets, self.gram, self.n, self.degree = targets, gram, n, degree
        self.room = TOLERANCE * (1 + np.abs(targets).max()), TOLERANCE * np.abs(gram).max()
        self.table = coordinates.indices(n, degree)
        largest = self.table.max(axis=1)
        self.new = [np.flatnonzero(largest == m) for m in range(n)]
        self.known = [np.flatnonzero(largest <= m) for m in range(n)]

    def fits(self, m: int, images: list[int], signs: list[int]) -> bool:
        """Whether all entries among coordinates 0, …, m that involve m are where they should be."""
        new, known = self.new[m], self.known[m]
        places, sign = self._moved(known, images, signs)
        mine = np.searchsorted(known, new)
        targets = self.targets[:, places[mine]] * sign[mine]
        if np.abs(targets - self.targets[:, new]).max() > self.room[0]:
            return False
        moved = self.gram[np.ix_(places[mine], places)] * np.outer(sign[mine], sign)
        return bool(np.abs(moved - self.gram[np.ix_(new, known)]).max() <= self.room[1])

    def _moved(self, rows: np.ndarray, images: list[int], signs: list[int]) -> tuple[np.ndarray, Array]:
        table = self.table[rows]
        moved = np.sort(np.array(images)[table], axis=1).astype(np.intp)
        return coordinates.position(moved, self.n), np.prod(np.array(signs, dtype=float)[table], axis=1)

    def elements(self, moving: bool, flipping: bool) -> Iterator[tuple[np.ndarray, Array]]:
        """The symmetries as actions on entries; without `moving` only reflections, without `flipping` no signs."""
        choices = (1, -1) if flipping else (1,)

        def extend(images: list[int], signs: list[int]) -> Iterator[tuple[np.ndarray, Array]]:
            m = len(images)
            if m == self.n:
                yield action(self.n, self.degree, tuple(images), tuple(signs))
                return
            for image in range(self.n) if moving else (m,):
                if image in images:
                    continue
                for sign in choices:
                    further = [*images, image], [*signs, sign]
                    if self.fits(m, *further):
                        yield from extend(*further)

        return extend([], [])

    def _preserves(self, images: list[int], signs: list[int]) -> bool:
        return all(self.fits(m, images, signs) for m in range(self.n))

    def exchangeable(self, i: int, j: int) -> bool:
        """Whether swapping two coordinates is a symmetry."""
        images = list(range(self.n))
        images[i], images[j] = j, i
        return self._preserves(images, [1] * self.n)

    def reflectable(self, i: int) -> bool:
        """Whether reflecting one coordinate is a symmetry."""
        return self._preserves(list(range(self.n)), [-1 if j == i else 1 for j in range(self.n)])


def _classes(n: int, exchangeable: Callable[[int, int], bool]) -> list[list[int]]:
    """Blocks of coordinates that may be exchanged with the block's first one."""
    blocks: list[list[int]] = []
    for i in range(n):
        for block in blocks:
            if exchangeable(block[0], i):
                block.append(i)
                break
        else:
            blocks.append([i])
    return blocks
