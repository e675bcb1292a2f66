"""The critical equations of Σᵢ aᵢ ψ(wᵢ), one residual an output: the same for every activation, bias and outer weight.

    ψ(wᵢ)·e_m = 0   (a trained),      Σ_m a_im ∂ψ(wᵢ)·e_m = 0,      e_m = G s_m − g_m,   s_m = Σᵢ a_im ψ(wᵢ)

How to use them: a `Neuron` is the map ψ; `NeuronEquations(neuron, r)` are the equations of r neurons with one trained
outer weight each, `outputs=M` gives each M of them, `outer` fixes them. Unknowns are (a_i1, …, a_iM, wᵢ), neuron by
neuron. `continuation.generic_members.starting_member(equations, special, Detours)` solves a generic member once,
`Member.of(G, g)` is the wanted one (g of all outputs, one after the other), and
`settle(Detours(equations, start, member, seed))` its solutions. A pure power with several outputs has a scale to be
fixed: take `Neuron.of_degrees(range(d + 1), n − 1)`, w = R(1, z) in a random frame R.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import permutations, product
from math import inf

import numpy as np

from shallows.mathematics.homotopy.carrying import Elsewhere
from shallows.mathematics.homotopy.paths import Homotopy
from shallows.mathematics.one_neuron_degree import one_neuron_degree
from shallows.mathematics.tensors import coordinates
from shallows.questions.charts.continuation.equations import CommonEquations, random_residual, segment_numbers
from shallows.questions.charts.continuation.metrics import Complex, Metrics, Pair, rounding, turned
from shallows.questions.charts.neurons.metrics import RotationInvariantMetrics
from shallows.questions.charts.neurons.neuron import Neuron, whole_network
from shallows.questions.charts.neurons.other_coordinates import Rewritten, rewritten
from shallows.questions.charts.powers.cancellation import CANCELLING, room_for
from shallows.support.checks import Array
from shallows.support.ready_code import ReadyCode
from shallows.support.seeds import complex_normal

#: The compiled evaluators: in doubles, and with 31 digits for long neurons, one output.
NEURONS = ReadyCode("shallows.questions.charts.neurons._loop", "neurons")
SHARP = ReadyCode("shallows.questions.charts.neurons._sharp_loop", "sharp_neurons")


@lru_cache(maxsize=256)
def one_neuron_powers(neuron: Neuron) -> tuple[tuple[int, ...], int] | None:
    """The powers and inputs of neurons Σ c_j z^j that have the critical points of this one; None for other maps.

    A quadratic one with a bias, (b + w·x)² + c with c ≠ 0, is any constant beside (ℓ, Q) = (2bw, ww): powers 1 and 2.

    >>> one_neuron_powers(Neuron.of_degrees([1, 3], 2)), one_neuron_powers(Neuron.affine([0.5, 0.0, 1.0], 2))
    (((1, 3), 2), ((1, 2), 2))
    """
    powers = tuple(sorted({sum(row) for _, _, row in neuron.terms}))
    plain = Neuron.of_degrees(powers, neuron.n)
    if neuron.terms == plain.terms:
        return powers, neuron.n
    still = [c for _, c, row in neuron.terms if not any(row)]
    if powers == (0, 2) and len(still) == 1 and neuron.n > 1:
        affine = Neuron.affine([still[0], 0.0, 1.0], neuron.n - 1)
        return ((1, 2), neuron.n - 1) if neuron.terms == affine.terms else None
    return None


@dataclass(frozen=True)
class NeuronEquations(CommonEquations):
    """r neurons with `outputs` outer weights each, trained or fixed to `outer` (r rows of M numbers)."""

    neuron: Neuron
    r: int
    outputs: int = 1
    outer: tuple[tuple[float, ...], ...] | None = None

    @property
    def metric_size(self) -> int:
        """N."""
        return self.neuron.size

    @property
    def entries(self) -> int:
        """M N, the numbers of g."""
        return self.outputs * self.neuron.size

    @property
    def lead(self) -> int:
        """How many outer weights of a neuron are unknown."""
        return 0 if self.outer is not None else self.outputs

    @property
    def unknowns(self) -> int:
        """r (M + n), or r n when a is fixed."""
        return self.r * (self.lead + self.neuron.n)

    @property
    def count(self) -> int | None:
        """For one neuron with one trained outer weight, by `one_neuron_degree`; otherwise not known beforehand."""
        return self._count(False)

    def special_count(self, metrics: Metrics) -> int | None:
        """The same for rotation-invariant metrics."""
        return self._count(True) if isinstance(metrics, RotationInvariantMetrics) else None

    def _count(self, invariant: bool) -> int | None:
        if self.r > 1 or self.outputs > 1 or self.outer is not None:
            return None
        powers = one_neuron_powers(self.neuron)
        return None if powers is None else one_neuron_degree(*powers, invariant)

    @property
    def cancels(self) -> bool:
        """Whether solutions lie far out, where terms cancel: they are evaluated with 31 digits, for one output."""
        return False

    def split(self, points: Complex) -> tuple[Complex, Complex]:
        """Outer weights (…, r, M) and neurons (…, r, n)."""
        table = points.reshape(*points.shape[:-1], self.r, self.lead + self.neuron.n)
        if self.outer is None:
            return table[..., : self.lead], table[..., self.lead :]
        fixed = np.array(self.outer, np.complex128)
        return np.broadcast_to(fixed, (*points.shape[:-1], *fixed.shape)), table

    def join(self, A: Complex, W: Complex) -> Complex:
        """The inverse of `split`."""
        table = W if self.outer is not None else np.concatenate([A, W], axis=-1)
        return np.asarray(table.reshape(*table.shape[:-2], self.unknowns))

    def tensors(self, points: Complex) -> Complex:
        """Σᵢ a_im ψ(wᵢ), all outputs of a point in one row."""
        A, W = self.split(points)
        s = np.swapaxes(A, -1, -2) @ self.neuron.values(W)
        return np.asarray(s.reshape(len(points), self.entries))

    @cached_property
    def repeats(self) -> bool:
        """Whether functions fill a flat space, so that one may have several networks: 2 of the 4 points in which a line
        meets a quartic curve are a network each. Below that generic functions are taken to have one."""
        if self.r == 1:
            return False
        if self.outer is None:
            return self.unknowns == self.entries == self.seen_weights()
        functions = self.tensors(complex_normal(np.random.default_rng(0), self.unknowns + 2, self.unknowns))
        span = int(np.linalg.matrix_rank(functions[1:] - functions[0]))
        return self.unknowns == span == self.seen_weights()

    def marks(self, points: Complex) -> Complex:
        """The functions, and where these repeat sums over the neurons that tell their networks apart, k the number of
        turns: Σᵢ wᵢ^⊗k with a trained; fixed, Σᵢ c(aᵢ) (u·wᵢ^⊗k)^j for j ≤ r, c not linear and u at random, because
        Σᵢ aᵢ wᵢ may be part of the function."""
        functions = self.tensors(points)
        if not self.repeats:
            return functions
        W = self.split(points)[1]
        rows = coordinates.exponents(self.neuron.n, len(self.turns))
        powers = np.prod(W[..., None, :] ** rows, axis=-1)
        if self.outer is None:
            return np.concatenate([functions, powers.sum(axis=1)], axis=1)
        rng = np.random.default_rng(self.neuron.n)
        shares = 2 + np.cos(np.array(self.outer) @ rng.uniform(0.5, 1.0, self.outputs))
        seen = powers @ rng.uniform(0.5, 1.0, len(rows))
        sums = [(shares * seen**j).sum(axis=1) for j in range(1, self.r + 1)]
        return np.concatenate([functions, np.stack(sums, axis=1)], axis=1)

    def orbit(self, x: Complex) -> Complex:
        """All images under the symmetries."""
        A, W = self.split(x)
        return np.array(
            [self.join(A[rows] * factors, W[rows] * zeta) for rows, factors, zeta in self.symmetries]
        )

    @cached_property
    def symmetries(self) -> list[tuple[list[int], Complex, Complex]]:
        """Permutations and turns of the neurons that leave the student, and fixed outer weights, unchanged, with the
        factors of outer weights and of neurons: σ(w) − σ(v) is σ(−v) − σ(−w) for an odd activation."""
        found = []
        for order in permutations(range(self.r)):
            rows = list(order)
            for turn in product(self.roots, repeat=self.r):
                zeta = np.array(turn)[:, None]
                factors = zeta**-self.neuron.lowest
                fixed = None if self.outer is None else np.array(self.outer, np.complex128)
                if fixed is None or np.allclose(fixed[rows] * factors, fixed):
                    found.append((rows, factors, zeta))
        return found

    @property
    def roots(self) -> Complex:
        """Roots of unity ζ with aψ(w) = (a ζ^{−lowest}) ψ(ζw)."""
        order = self.neuron.turns
        return np.asarray(np.exp(2j * np.pi * np.arange(order) / order), np.complex128)

    @property
    def turns(self) -> Complex:
        """Those of one neuron, a fixed outer weight staying what it is."""
        if self.outer is None:
            return self.roots
        order = self.neuron.turns
        return np.asarray(self.roots[np.arange(order) * self.neuron.lowest % order == 0])

    def homotopy(self, start: tuple[Pair, Complex], target: tuple[Pair, Complex]) -> Homotopy:
        """The compiled equations along a segment of (G, g)."""
        n, r, size, terms = self.neuron.n, self.r, self.neuron.size, self.neuron.terms
        degree = max(max(row) for _, _, row in terms)
        head = [n, r, self.outputs, size, int(self.outer is None), degree, len(terms)]
        table = [number for entry, _, row in terms for number in (entry, *row)]
        fixed = np.zeros(0) if self.outer is None else np.array(self.outer).ravel()
        rows = r * (1 + n)
        numbers = segment_numbers(start, target)
        if self.cancels:
            (first, _), (last, _) = start, target
            numbers = np.concatenate([numbers, last.low.ravel(), (first - last).low.ravel()])
        return Homotopy(
            evaluate=SHARP if self.cancels else NEURONS,
            complexes=numbers,
            reals=np.concatenate([[c for _, c, _ in terms], fixed]),
            program=np.array(head + table, np.int64),
            work=r * n * (degree + 1) + 2 * rows * size + rows**2 + 3 * self.entries + size**2,
            scratch=room_for(n, r, degree, size) if self.cancels else 1,
            unknowns=self.unknowns,
            noise=rounding(size),
            sharp_beyond=CANCELLING if self.cancels else inf,
        )

    def rewritten(
        self, way: int, start: tuple[Pair, Complex], target: tuple[Pair, Complex]
    ) -> Elsewhere | None:
        """The same segment in other coordinates of the neurons (`other_coordinates`; a trained), and after these in the
        same ones with more digits."""
        other = self._written(way)
        if other is None:
            last = not self.cancels and (way == 0 or self._written(way - 1) is not None)
            return with_more_digits(self.whole, self.outputs, start, target) if last else None
        equations = NeuronEquations(other.inner, self.r, self.outputs)
        if self.outputs == 1:  # as it is a factor of the slopes, A is part of the map
            equations = NeuronEquations(other.neuron, self.r, outer=((1.0,),) * self.r)
        if other.action is not None:
            act, shape = other.action, (self.outputs, self.neuron.size)
            start, target = ((turned(G, act), (g.reshape(shape) @ act).ravel()) for G, g in (start, target))
        segment = equations.homotopy(start, target)
        return Elsewhere(segment, partial(self._there, other), partial(self._back, other))

    def _there(self, other: Rewritten, points: Complex) -> Complex:
        A, W = self.split(points)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            one = other.there(np.ones(A.shape[:-1], np.complex128), W)
            moved = np.concatenate([A * one[..., :1], one[..., 1:]], axis=-1)
        return np.asarray(moved.reshape(len(points), self.unknowns))

    def _back(self, other: Rewritten, points: Complex) -> Complex:
        table = points.reshape(len(points), self.r, self.outputs + self.neuron.n)
        A, rest = table[..., : self.outputs], table[..., self.outputs :]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            one, W = other.back(np.concatenate([np.ones_like(A[..., :1]), rest], axis=-1))
            return self.join(A * one[..., None], W)

    def _written(self, way: int) -> Rewritten | None:
        return rewritten(self.neuron, way) if self.outer is None else None

    @cached_property
    def whole(self) -> Neuron:
        """All unknowns ↦ the entries of all outputs."""
        return whole_network(self.neuron, self.r, self.outputs, self.outer)

    def conditions(self, x: Complex) -> Complex:
        """The matrix whose product with e is what vanishes at a critical x, (unknowns, M N)."""
        A, W = self.split(x)
        return self._rows(W, A if self.outputs > 1 else np.ones_like(A))

    def tangents(self, x: Complex) -> Complex:
        """∂s by the unknowns, (unknowns, M N)."""
        A, W = self.split(x)
        return self._rows(W, A)

    def _rows(self, W: Complex, factors: Complex) -> Complex:
        """ψᵢ for each trained outer weight, and the slopes of ψᵢ times the neuron's factors, one an output."""
        values, slopes = self.neuron.values(W), self.neuron.slopes(W)
        rows = []
        for i in range(self.r):
            rows += [np.kron(np.eye(self.outputs)[m], values[i]) for m in range(self.lead)]
            rows += [np.kron(factors[i], slope) for slope in slopes[i]]
        return np.array(rows, np.complex128)

    def seen_weights(self, free: Array | None = None) -> int:
        """The rank of ∂s at a random point, and so at almost every one: how many weights the function determines.

        Modulo `free`, a function that something beside the neurons adds at will, if there is one.
        """
        x = complex_normal(np.random.default_rng(0), self.unknowns)
        rows = self.tangents(x)
        if free is not None:
            rows = rows - np.outer(rows @ free, free) / (free @ free)
        return int(np.linalg.matrix_rank(rows))

    def is_isolated(self) -> bool:
        """Whether finitely many networks have the function of a generic one: ∂s has full rank at a random point."""
        return self.seen_weights() == self.unknowns

    def first(self, gram: Complex, rng: np.random.Generator) -> tuple[Complex, Complex]:
        """Random neurons, a random e orthogonal to what they span, and g = G s − e."""
        x = complex_normal(rng, self.unknowns)
        e = random_residual(self.conditions(x), rng)
        s = self.tensors(x[None])[0].reshape(self.outputs, -1)
        return x, (s @ gram.T).ravel() - e


@dataclass(frozen=True)
class SharpEquations(NeuronEquations):
    """Equations of any polynomial map of the unknowns with 31 digits where unknowns are large.

    Under a metric with isotropic functions, such as that of (1, x) or one that rotations leave alone, solutions lie 10³
    and more times as far out as the target, where ⟨s, s⟩ is a small share of its terms, and paths run by there: doubles
    lose them. The map is one neuron with a = 1: ∂s·e = 0, e = (I ⊗ G) s − g.
    """

    @property
    def cancels(self) -> bool:
        """They do."""
        return True

    @classmethod
    def of(cls, whole: Neuron) -> SharpEquations:
        """Those of one map."""
        return cls(whole, 1, outer=((1.0,),))


def with_more_digits(
    whole: Neuron, outputs: int, start: tuple[Pair, Complex], target: tuple[Pair, Complex]
) -> Elsewhere:
    """A segment of (G, g) in the same unknowns; `whole` is the map to the entries of all outputs."""
    (first, g1), (last, g0) = start, target
    segment = SharpEquations.of(whole).homotopy((_of_each(first, outputs), g1), (_of_each(last, outputs), g0))
    return Elsewhere(segment, lambda points: points, lambda points: points, same=True)


def _of_each(gram: Pair, outputs: int) -> Pair:
    """I ⊗ G."""
    unit = np.eye(outputs, dtype=np.complex128)
    return Pair(np.asarray(np.kron(unit, gram.high)), np.asarray(np.kron(unit, gram.low)))
