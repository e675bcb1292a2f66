"""Block-symmetric minima of the ReLU loss, proved for any k: solve in the fixed space, lift, split the Hessian.

The teacher is Σᵢ ReLU(xᵢ) over k coordinates, the student has k neurons and outer weights one (paper 003, n = d = k).
A critical point of the restricted loss is one of the whole loss, because the gradient at a symmetric point is itself
symmetric (Palais' principle of symmetric criticality). Krawczyk's operator on the few unknowns proves that it exists,
and the isotypic blocks prove that it is a strict local minimum, in ball arithmetic, whatever k is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from flint import arb, arb_mat
from numpy.typing import ArrayLike

from shallows.mathematics.balls.krawczyk import CertifiedRoot, certify_point
from shallows.mathematics.balls.rounding import above, below, longest
from shallows.mathematics.balls.systems import precision
from shallows.mathematics.newton import saddle_free_step, shortened
from shallows.model.network import Network
from shallows.questions.relu.block_form import BlockForm, checked_sizes
from shallows.questions.relu.isotypic import Isotype, isotypes, lower_bound
from shallows.questions.relu.reduced import Table, Variation, coordinates, unit_directions, variation
from shallows.support.arguments import typed
from shallows.support.checks import Array, describe, positive_integer
from shallows.support.errors import InvalidProblem, NotConverged

#: Bits of the balls in which points are found and proved, Newton steps, and decimal digits of the proved point.
BITS, STEPS, DIGITS = 192, 200, 30
#: How often a step is halved before the descent is given up: beyond double precision.
HALVINGS = 60
#: Newton's own step is taken where the smallest eigenvalue is above this share of the largest, far above the errors of
#: float64 eigenvalues, so that their sign is right.
DEFINITE = 1e-9
#: Elsewhere |H| is inverted with eigenvalues of at least this share of the largest; `_newton` limits the step anyway.
FLATTEST = 1e-6
#: Two blocks are alike when their entries agree to this: points are proved to `DIGITS` digits, so that it is far above
#: their errors.
ALIKE = 1e-9
STARTS = ("across", "within")


@dataclass(frozen=True, eq=False, repr=False)
class SymmetricMinimum:
    """A critical point of block form: losses are E(f−y)², `half_…` the paper's ½E.

    `gradient_norm` is that of the whole loss at the double-precision `form`; the true critical point lies within
    `radius` of it (Frobenius). `smallest_eigenvalue` is of the whole k²×k² Hessian, and `eigenvalue_bound` a proved
    lower bound: positive means that a strict local minimum is proved.

    >>> point = sh.symmetric_minimum(1000, [1, 999])   # a million weights, five unknowns
    >>> point.kind, point.is_certified, f"{point.half_loss:.8f}"
    ('local minimum', True, '0.00029255')
    >>> value, times, representation = point.spectrum()[0]
    >>> f"{value:.6f}", times, representation
    ('0.174755', 998, 'standard of block 1')
    >>> sum(times for _, times, _ in point.spectrum())   # multiplicities of all k² eigenvalues
    1000000
    """

    form: BlockForm
    loss: float
    loss_bounds: tuple[float, float]
    gradient_norm: float
    smallest_eigenvalue: float
    eigenvalue_bound: float
    radius: float
    isotypes: tuple[Isotype, ...] = field(repr=False)

    @property
    def k(self) -> int:
        """The number of neurons."""
        return self.form.k

    @property
    def blocks(self) -> tuple[int, ...]:
        """The block sizes."""
        return self.form.sizes

    @property
    def half_loss(self) -> float:
        """½E(f−y)², as in paper 003."""
        return self.loss / 2

    @property
    def half_smallest_eigenvalue(self) -> float:
        """The smallest Hessian eigenvalue of ½E, as in paper 003."""
        return self.smallest_eigenvalue / 2

    @property
    def norm_sum(self) -> float:
        """Σ ‖wᵢ‖ (Theorem 8 needs at most k)."""
        return self.form.norm_sum

    @property
    def is_certified(self) -> bool:
        """Whether a strict local minimum is proved."""
        return self.eigenvalue_bound > 0

    @property
    def kind(self) -> str:
        """ "global minimum", "local minimum" (proved strict), "saddle" or "degenerate" (nothing proved)."""
        if self.is_certified:
            return "global minimum" if self.loss_bounds[0] <= 0 else "local minimum"
        return "saddle" if self.smallest_eigenvalue < 0 else "degenerate"

    def network(self) -> Network:
        """The k×k network."""
        return self.form.network()

    def spectrum(self) -> list[tuple[float, int, str]]:
        """(eigenvalue, multiplicity, representation), ascending: all k² eigenvalues of the Hessian of E."""
        lines = [(float(v), part.dimension, part.name) for part in self.isotypes for v in part.eigenvalues]
        return sorted(lines)

    def __repr__(self) -> str:
        proved = f"proved > {self.eigenvalue_bound:.6g}" if self.is_certified else "not proved positive"
        return (
            f"SymmetricMinimum(k={self.k}, blocks={list(self.blocks)}: {self.kind}\n"
            f"  loss {self.loss:.12g} (½E: {self.half_loss:.12g}), gradient norm {self.gradient_norm:.2g}\n"
            f"  smallest eigenvalue {self.smallest_eigenvalue:.10g} (½E: {self.half_smallest_eigenvalue:.10g}), "
            f"{proved}\n"
            f"  norm sum {self.norm_sum:.10g}, true point within {self.radius:.1g})"
        )


@typed
def symmetric_minimum(
    k: int, blocks: Sequence[int], start: str | ArrayLike | BlockForm = "across", bits: int = BITS
) -> SymmetricMinimum:
    """The critical point of this block form that a damped Newton descent in the fixed space reaches from `start`.

    - "across": neurons of all blocks but the last start at −eᵢ + (2/k)·1, those of the last near eᵢ;
    - "within": at −eᵢ + (2/p)·1 on their own block of size p, zero elsewhere (needs p ≥ 3);
    - a `BlockForm` or its table of values.

    The teacher is Σᵢ ReLU(xᵢ), the student has k neurons, n = d = k (paper 003, section 4.2). Ball arithmetic proves
    that the critical point exists and, where `is_certified`, that it is a strict minimum. One block [k] is the global
    minimum. Raises `NotConverged` when the descent ends at a more symmetric point.

    >>> point = sh.symmetric_minimum(7, [1, 6])   # published: 27 of 500 runs end here
    >>> point.kind, f"{point.half_loss:.8f}", f"{point.norm_sum:.8f}"
    ('local minimum', '0.02320271', '6.98172882')
    >>> best = sh.symmetric_minimum(7, [7])   # Theorem 2: the smallest eigenvalue of ½E is ¼ − 1/2π
    >>> best.kind, f"{best.half_smallest_eigenvalue:.8f}", f"{1 / 4 - 1 / (2 * np.pi):.8f}"
    ('global minimum', '0.09084506', '0.09084506')
    """
    k = positive_integer("k", k)
    sizes = checked_sizes(k, blocks)
    table = _start(k, sizes, start)
    with precision(bits):
        if sizes == (k,) and np.array_equal(table, [[1.0, 0.0]]):
            return _result(sizes, [[arb(1), arb(0)]], bits)
        x = _newton(sizes, _scaled(sizes, table), bits)
        found = _result(sizes, _table(sizes, _prove(sizes, x, bits).box), bits)
        _require_distinct(found.form)
        return found


def critical_point(form: BlockForm, exact: bool, bits: int = BITS) -> SymmetricMinimum:
    """The critical point, of any kind, next to this form; the form itself where it is `exact`."""
    with precision(bits):
        table: Table
        if exact:
            table = [[arb(float(x)) for x in row] for row in form.values]
        else:
            x = _scaled(form.sizes, form.values)
            table = _table(form.sizes, _prove(form.sizes, x, bits).box)
        return _result(form.sizes, table, bits)


def _start(k: int, sizes: tuple[int, ...], start: str | ArrayLike | BlockForm) -> Array:
    """The table of values to start from."""
    blocks = len(sizes)
    if isinstance(start, BlockForm):
        if start.sizes != sizes:
            raise InvalidProblem(f"start has blocks {list(start.sizes)}; {list(sizes)} were asked for.")
        return start.values
    if not isinstance(start, str):
        return BlockForm.of(sizes, start).values
    if start not in STARTS:
        raise InvalidProblem(
            f"start is {describe(start)}; expected {' or '.join(map(repr, STARTS))}, a table or a BlockForm."
        )
    if start == "within" and min(sizes[:-1], default=3) < 3:
        raise InvalidProblem(
            f"start='within' needs blocks of at least 3 neurons before the last one; {list(sizes)} has a smaller one. "
            "Use start='across'."
        )
    values = np.zeros((blocks, blocks + 1))
    for a, size in enumerate(sizes):
        if a == blocks - 1:
            if blocks > 1:  # not exactly parallel to the teacher, where the variables s, t, g are singular
                values[a, :] = 2 / k if start == "across" else 0.0
                values[a, -1] = -1 / k**2
            values[a, a] = 1.0
            continue
        if start == "across":
            values[a, :] = 2 / k
            values[a, a] = 2 / k - 1
        else:
            values[a, -1] = 2 / size
            values[a, a] = 2 / size - 1
    return BlockForm.of(sizes, values).values


def _scaled(sizes: Sequence[int], table: Array) -> list[Any]:
    """Coordinates in the orthonormal basis: √(number of weights) times the value."""
    return [arb(float(table[a, c])) * arb(count).sqrt() for a, c, count in coordinates(sizes)]


def _table(sizes: Sequence[int], x: Sequence[Any]) -> Table:
    """Block values from orthonormal coordinates."""
    table = [[arb(0)] * (len(sizes) + 1) for _ in sizes]
    for value, (a, c, count) in zip(x, coordinates(sizes), strict=True):
        table[a][c] = value / arb(count).sqrt()
    return table


class ReducedBalls:
    """Gradient and Hessian of the restricted loss at balls, for Krawczyk's operator."""

    is_real = True

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = tuple(sizes)
        self.n = len(coordinates(sizes))
        self.directions = unit_directions(sizes)

    def ball_evaluator(self, bits: int) -> ReducedBalls:
        """Itself: the formulas hold at any precision, and the basis is made anew at this one."""
        with precision(bits):
            return ReducedBalls(self.sizes)

    def __call__(self, x: Sequence[Any]) -> tuple[Any, Any]:
        """∇L (n×1) and ∇²L (n×n) in orthonormal coordinates."""
        found = variation(self.sizes, _table(self.sizes, x), self.directions)
        return arb_mat(self.n, 1, found.slope), found.hessian


def _newton(sizes: Sequence[int], x: list[Any], bits: int) -> list[Any]:
    """Damped Newton descent with |eigenvalues| where the Hessian is not positive; midpoints at full precision."""
    directions = unit_directions(sizes)
    goal = arb(2) ** (-(2 * bits) // 3)
    for _ in range(STEPS):
        here = variation(sizes, _table(sizes, x), directions)
        size = _length(here.slope)
        if size < goal:
            return x
        step = _step(here.hessian, here.slope)
        limit = 0.3 * float(_length(x))
        length = float(_length(step))
        found = _shortened(sizes, x, step, here, min(1.0, limit / length) if length > 0 else 1.0)
        if found is None:
            break
        x = found
    raise NotConverged(
        f"No minimum of block form {list(sizes)} was reached from this start (gradient {float(size):.1g}): the descent "
        "may have run into a more symmetric point. Try start='within' or 'across', or give the table of values."
    )


def _shortened(
    sizes: Sequence[int], x: Sequence[Any], step: Sequence[Any], here: Variation, share: float
) -> list[Any] | None:
    """As much of a step as lowers the loss, or halves its slope."""
    directions, size = unit_directions(sizes), _length(here.slope)

    def at(share: float) -> list[Any]:
        return [(a + arb(share) * b).mid() for a, b in zip(x, step, strict=True)]

    def lower(trial: list[Any]) -> bool:
        there = variation(sizes, _table(sizes, trial), directions)
        return not there.loss.is_nan() and bool(there.loss < here.loss or _length(there.slope) < size / 2)

    return shortened(at, lower, HALVINGS, share)


def _length(vector: Sequence[Any]) -> Any:
    return sum((entry.mid() * entry.mid() for entry in vector), arb(0)).sqrt().mid()


def _step(hessian: Any, slope: Sequence[Any]) -> list[Any]:
    """−H⁻¹g at full precision when H is positive definite, −|H|⁻¹g in double precision otherwise."""
    n = len(slope)
    matrix = np.array([float(entry.mid()) for entry in hessian.entries()]).reshape(n, n)
    if not np.isfinite(matrix).all():
        raise NotConverged("A neuron is parallel to a teacher neuron: give another start.")
    values = np.linalg.eigvalsh(matrix)
    if values[0] > DEFINITE * values[-1]:
        negative = arb_mat(n, 1, [-entry.mid() for entry in slope])
        return [entry.mid() for entry in hessian.mid().solve(negative).entries()]
    gradient = np.array([float(entry.mid()) for entry in slope])
    return [arb(entry) for entry in saddle_free_step(gradient, matrix, FLATTEST).tolist()]


def _prove(sizes: Sequence[int], x: Sequence[Any], bits: int) -> CertifiedRoot:
    """A box that contains exactly one critical point of the restricted loss."""
    evaluator = ReducedBalls(sizes)
    point = np.array([float(entry.mid()) for entry in x], dtype=np.complex128)
    root = certify_point(evaluator, evaluator, point, bits, real=True)
    if root is None:
        raise NotConverged(
            f"A critical point of block form {list(sizes)} was found but not proved: it is (nearly) degenerate."
        )
    return root.refine(DIGITS)


def _result(sizes: tuple[int, ...], box: Table, bits: int) -> SymmetricMinimum:
    """All numbers of the critical point in this box."""
    components = isotypes(sizes, box)
    middle = [[float(entry.mid()) for entry in row] for row in box]
    form = BlockForm.of(sizes, middle)
    loss = variation(sizes, box, []).loss
    rounded: Table = [[arb(float(entry)) for entry in row] for row in form.values]
    gradient = variation(sizes, rounded, unit_directions(sizes)).slope
    counts = {(a, c): count for a, c, count in coordinates(sizes)}
    gaps = [arb(count).sqrt() * (rounded[a][c] - box[a][c]) for (a, c), count in counts.items()]
    return SymmetricMinimum(
        form=form,
        loss=max(float(loss.mid()), 0.0),
        loss_bounds=(below(loss), above(loss)),
        gradient_norm=longest(gradient),
        smallest_eigenvalue=min(float(part.eigenvalues[0]) for part in components),
        eigenvalue_bound=lower_bound(components, bits),
        radius=longest(gaps),
        isotypes=tuple(components),
    )


def _require_distinct(form: BlockForm) -> None:
    """Two blocks whose neurons are alike are one block: the form is finer than the point."""
    for a in range(len(form.sizes)):
        for c in range(a):
            alike = abs(form.values[a, a] - form.values[c, c]) < ALIKE
            if alike and abs(form.values[a, c] - form.values[c, a]) < ALIKE:
                raise NotConverged(
                    f"The descent ended at a point where blocks {c} and {a} of {list(form.sizes)} are alike: a more "
                    "symmetric point. Give another start, or the coarser blocks."
                )
