"""The ReLU loss on the fixed space of a block symmetry, in ball arithmetic: a handful of unknowns whatever k is.

Teacher: the k coordinate neurons under N(0, I). All neurons of a block are alike, so that

    L = Σ (number of pairs of a kind) · k(s, t, g) + E y²,

with s, t, g quadratic in the block values. A point and a direction are b×(b+1) tables as in `BlockForm`. The
restriction of the Hessian to any directions is the second variation along them; directions of a finer block form
reach the whole spectrum (`isotypic`). By symmetry a critical point here is one of the whole loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flint import arb, arb_mat

from shallows.questions.relu.pair_terms import Pair, pair

Table = Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Form:
    """A quadratic form of the point with its first and second variations along the directions."""

    value: Any
    first: list[Any]
    second: list[list[Any]]


@dataclass(frozen=True)
class Variation:
    """L, its slopes along the directions, and the matrix of second variations."""

    loss: Any
    slope: list[Any]
    hessian: Any


def coordinates(sizes: Sequence[int]) -> list[tuple[int, int, int]]:
    """(row, column, number of weights with this value) for each independent entry of the table."""
    blocks = len(sizes)
    found = []
    for a, size in enumerate(sizes):
        for c in range(blocks):
            found.append((a, c, size if a == c else size * sizes[c]))
        if size > 1:
            found.append((a, blocks, size * (size - 1)))
    return found


def unit_directions(sizes: Sequence[int]) -> list[Table]:
    """An orthonormal basis of the fixed space, as tables."""
    blocks = len(sizes)
    basis: list[Table] = []
    for a, c, count in coordinates(sizes):
        table = [[arb(0)] * (blocks + 1) for _ in range(blocks)]
        table[a][c] = 1 / arb(count).sqrt()
        basis.append(table)
    return basis


def variation(sizes: Sequence[int], point: Table, directions: Sequence[Table]) -> Variation:
    """L, dL and d²L along the directions (E(f−y)², no ½)."""
    blocks, k = len(sizes), sum(sizes)
    count = len(directions)
    one = Form(arb(1), [arb(0)] * count, [[arb(0)] * count for _ in range(count)])
    total = _Sum(count, arb(k) / 2 + arb(k) * (k - 1) / (2 * arb.pi()))
    norms = [_form(lambda x, y, a=a: _same_neuron(sizes, a, x, y), point, directions) for a in range(blocks)]
    for a, size in enumerate(sizes):
        total.add_form(arb(size) / 2, norms[a])
        if size > 1:
            inner = _form(lambda x, y, a=a: _same_block(sizes, a, x, y), point, directions)
            total.add_pair(arb(size) * (size - 1), norms[a], norms[a], inner)
        for c in range(a):
            inner = _form(lambda x, y, a=a, c=c: _two_blocks(sizes, a, c, x, y), point, directions)
            total.add_pair(arb(2) * size * sizes[c], norms[a], norms[c], inner)
    for a, c, number in coordinates(sizes):
        total.add_pair(arb(-2) * number, norms[a], one, _linear(point, directions, a, c))
    return Variation(total.loss, total.slope, arb_mat(total.hessian) if count else arb_mat(0, 0))


class _Sum:
    """Adds up terms with their variations."""

    def __init__(self, count: int, start: Any) -> None:
        self.loss = start
        self.slope = [arb(0)] * count
        self.hessian = [[arb(0)] * count for _ in range(count)]

    def add_form(self, weight: Any, form: Form) -> None:
        """weight · form."""
        self.loss = self.loss + weight * form.value
        self._add(weight, form)

    def add_pair(self, weight: Any, s: Form, t: Form, g: Form) -> None:
        """weight · k(s, t, g), by the chain rule."""
        kernel = pair(s.value, t.value, g.value)
        self.loss = self.loss + weight * kernel.value
        for form, slope in zip((s, t, g), kernel.slope, strict=True):
            self._add(weight * slope, form)
        if not kernel.parallel:
            self._add_curvature(weight, kernel, (s.first, t.first, g.first))

    def _add(self, weight: Any, form: Form) -> None:
        for i, first in enumerate(form.first):
            self.slope[i] = self.slope[i] + weight * first
            for j in range(i + 1):
                self._put(i, j, weight * form.second[i][j])

    def _add_curvature(self, weight: Any, kernel: Pair, firsts: tuple[list[Any], ...]) -> None:
        count = len(self.slope)
        for i in range(count):
            turned = [
                weight * sum((row[q] * firsts[q][i] for q in range(3)), arb(0)) for row in kernel.curvature
            ]
            for j in range(i + 1):
                self._put(i, j, sum((turned[q] * firsts[q][j] for q in range(3)), arb(0)))

    def _put(self, i: int, j: int, value: Any) -> None:
        self.hessian[i][j] = self.hessian[i][j] + value
        if i != j:
            self.hessian[j][i] = self.hessian[i][j]


def _form(bilinear: Any, point: Table, directions: Sequence[Table]) -> Form:
    """x ↦ B(x, x) of a bilinear B with its variations."""
    first = [bilinear(point, u) + bilinear(u, point) for u in directions]
    second = [[arb(0)] * len(directions) for _ in directions]
    for i, u in enumerate(directions):
        for j, v in enumerate(directions[: i + 1]):
            second[i][j] = second[j][i] = bilinear(u, v) + bilinear(v, u)
    return Form(bilinear(point, point), first, second)


def _linear(point: Table, directions: Sequence[Table], a: int, c: int) -> Form:
    """The inner product of a neuron of block a with a teacher neuron is one entry of the table."""
    zero = [[arb(0)] * len(directions) for _ in directions]
    return Form(point[a][c], [u[a][c] for u in directions], zero)


def _same_neuron(sizes: Sequence[int], a: int, x: Table, y: Table) -> Any:
    """‖w‖² of a neuron of block a."""
    total = x[a][a] * y[a][a] + (sizes[a] - 1) * (x[a][-1] * y[a][-1])
    return total + _elsewhere(sizes, (a,), x[a], y[a])


def _same_block(sizes: Sequence[int], a: int, x: Table, y: Table) -> Any:
    """w·w′ of two neurons of block a."""
    total = x[a][a] * y[a][-1] + x[a][-1] * y[a][a] + (sizes[a] - 2) * (x[a][-1] * y[a][-1])
    return total + _elsewhere(sizes, (a,), x[a], y[a])


def _two_blocks(sizes: Sequence[int], a: int, c: int, x: Table, y: Table) -> Any:
    """w·w′ of a neuron of block a (from x) and one of block c (from y)."""
    mine = (x[a][a] + (sizes[a] - 1) * x[a][-1]) * y[c][a]
    theirs = x[a][c] * (y[c][c] + (sizes[c] - 1) * y[c][-1])
    return mine + theirs + _elsewhere(sizes, (a, c), x[a], y[c])


def _elsewhere(sizes: Sequence[int], without: tuple[int, ...], x: Sequence[Any], y: Sequence[Any]) -> Any:
    terms = (sizes[e] * (x[e] * y[e]) for e in range(len(sizes)) if e not in without)
    return sum(terms, arb(0))
