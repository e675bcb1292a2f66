"""A block-symmetric critical point of a ReLU network: proved anew from its values, with the spectrum at width k."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from flint import arb

from shallows.mathematics.balls.inertia import inertia
from shallows.mathematics.balls.rounding import above, below, longest
from shallows.questions.charts.points.point import Certificate
from shallows.questions.relu.block_form import BlockForm
from shallows.questions.relu.narrow import BITS, Line, NarrowPoint, equal_rows, narrow_point
from shallows.questions.relu.parallel_rows import pull
from shallows.questions.relu.symmetric import critical_point
from shallows.support.checks import Array

#: Values of a proved zero are known to about 1e-13: closer to each other, or to integers, they are tried as equal.
EQUAL = 1e-7
METHOD = "interval exclusion over directions, Krawczyk, isotypic blocks in ball arithmetic"


@dataclass(frozen=True, eq=False)
class SymmetricPoint:
    """A block-symmetric critical point: its form, its loss in bounds (E, not ½E), and all k² Hessian eigenvalues.

    `spectrum` has (eigenvalue, multiplicity, representation), ascending; `rows` is the number of distinct rows.

    >>> for point in sh.relu.symmetric_chart(6, [6]).symmetric:     # αI + β11ᵀ: four, two of them with equal rows
    ...     print(f"{point.half_loss:.9f}", point.rows, point.signature)
    0.000000000 6 (36, 0, 0)
    0.055668581 6 (36, 0, 0)
    1.171273148 1 (6, 5, 25)
    3.708141487 1 (1, 5, 30)
    """

    form: BlockForm
    loss_bounds: tuple[float, float]
    spectrum: list[Line] = field(repr=False)
    signature: tuple[int, int, int]
    certificate: Certificate
    rows: int

    @property
    def half_loss(self) -> float:
        """½E(f−y)², as in paper 003."""
        return max(0.25 * (self.loss_bounds[0] + self.loss_bounds[1]), 0.0)


def point_near(form: BlockForm) -> SymmetricPoint:
    """The critical point next to these values: a permutation, a network with equal rows, or one with distinct rows."""
    whole = np.round(form.values)
    equal = [
        a for a, p in enumerate(form.sizes) if p > 1 and abs(form.values[a, a] - form.values[a, -1]) < EQUAL
    ]
    if np.abs(form.values - whole).max() < EQUAL:
        return _isotypic(BlockForm.of(form.sizes, whole), exact=True)
    return _with_equal_rows(form, equal) if equal else _isotypic(form, exact=False)


def parallel_point(sizes: tuple[int, ...], values: Array) -> SymmetricPoint:
    """All rows equal, in a critical direction of one neuron: it stands for all ways to share out the length."""
    length = 2 * pull(sizes, values) / sum(sizes)
    row = np.repeat(values * length, sizes)
    point = narrow_point(row[None, :], [sum(sizes)])
    full = NarrowPoint(point.rows * len(sizes), point.loss, point.spectrum, point.signature, point.certified)
    starts = np.cumsum([0, *sizes]).tolist()[:-1]
    made = _of_narrow(sizes, full, starts, [sum(sizes)] * len(sizes))
    return SymmetricPoint(made.form, made.loss_bounds, made.spectrum, made.signature, made.certificate, 1)


def _isotypic(form: BlockForm, exact: bool) -> SymmetricPoint:
    """Distinct rows: Krawczyk in the fixed space, spectrum from the isotypic blocks."""
    found = critical_point(form, exact)
    positive = zero = negative = 0
    for part in found.isotypes:
        signs = inertia(part.matrix, BITS)
        positive += part.dimension * signs.positive
        negative += part.dimension * signs.negative
        zero += part.dimension * signs.undecided
    proof = Certificate(found.radius, zero == 0, True, METHOD)
    return SymmetricPoint(
        found.form, found.loss_bounds, found.spectrum(), (positive, zero, negative), proof, form.k
    )


def _with_equal_rows(form: BlockForm, equal: list[int]) -> SymmetricPoint:
    """Some blocks have equal rows: the narrower network."""
    if len(form.sizes) == 1:
        point = equal_rows(form.k, 1 if form.values[0, 0] > 0 else -1)
        return _of_narrow(form.sizes, point, [0], [form.k])
    W = form.network().W
    firsts, counts, at = [], [], 0
    for a, p in enumerate(form.sizes):
        firsts += [at] if a in equal else list(range(at, at + p))
        counts += [p] if a in equal else [1] * p
        at += p
    return _of_narrow(form.sizes, narrow_point(W[firsts], counts), firsts, counts)


def _of_narrow(
    sizes: tuple[int, ...], point: NarrowPoint, firsts: list[int], counts: list[int]
) -> SymmetricPoint:
    """The block table of a narrow network: values of the first row of each block."""
    starts = np.cumsum([0, *sizes]).tolist()
    table = np.zeros((len(sizes), len(sizes) + 1))
    gaps = []
    for a, start in enumerate(starts[:-1]):
        place = firsts.index(start)
        row = point.rows[place]
        for c, at in enumerate(starts[:-1]):
            table[a, c] = float(row[at].mid())
        table[a, -1] = float(row[start + 1].mid()) if sizes[a] > 1 else 0.0
        gaps += [arb(counts[place]).sqrt() * (x - arb(float(x.mid()))) for x in row]
    proof = Certificate(longest(gaps), point.certified, True, METHOD)
    bounds = (below(point.loss), above(point.loss))
    return SymmetricPoint(
        BlockForm.of(sizes, table), bounds, point.spectrum, point.signature, proof, len(counts)
    )
