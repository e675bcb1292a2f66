"""The critical equations of block-symmetric ReLU networks over boxes of directions: radii are linear, and eliminated.

Neurons of block a are w = r_a D_a with r_a > 0 and D_a on a face of a cube: one entry ±1, the others in [−1, 1]. Angles
depend on directions alone, so that the gradient in the block's values, divided by the block's size, is linear in radii:

    F_a = Σ_c M_ac(t) r_c − b_a(t).

Unknowns are the radii and the free entries t of the directions; t is bisected, radii are bounded through the radial
equations D_a·F_a = 0, whose coefficients are not negative. Second derivatives are those of `pair_terms`, written with
vectors: for a pair of neurons of lengths √s, √t, with inner product g and ρ = √(st − g²),

    2π k_ww = (ρ/s)(I − ŵŵᵀ) + ααᵀ/ρ,   2π k_wv = (π−θ)I + α_wα_vᵀ/ρ + (ρ/st) w vᵀ,   α_w = v − (g/s)w,

which are continuous at parallel neurons, since |αᵢαⱼ|/ρ is at most sin θ times lengths. Two rows of a block, of length
√N, that differ by δ on two coordinates bend by 2|δ|ηηᵀ/√(2N − δ²), η = u − (δ/N)BD. In a block of two they can be
opposite, 2N = δ²; then η is zero: ηᵀB⁻¹η = p/(p−1) − δ²/N ≤ (2N − δ²)/N, and entries are at most 2 sin θ √(BᵢᵢBⱼⱼ).
Entries are measured in powers of two near the square roots of their multiplicities: all coefficients are exact doubles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.exclusion.intervals import HALF_PI, PI, Intervals
from shallows.mathematics.exclusion.tape import Tape
from shallows.questions.relu.block_cell import WIDER, BlockCell, Entry, Row, product
from shallows.questions.relu.block_orbits import ordered
from shallows.support.checks import Array

#: M_ac: for each block a and each block c a vector of intervals.
Table = list[list[list[Intervals]]]
#: Networks whose rows are all within this angle (in radians) of each other are left to the search for parallel rows.
TUBE = 0.01
#: Sweeps of Gauss and Seidel over the lengths: a second one is worth its time, more are not.
SWEEPS = 2


@dataclass(frozen=True, eq=False)
class _Pair:
    """sin θ and π − θ for a pair of directions."""

    sine: Intervals
    rest: Intervals


class BlockSystem(BlockCell):
    """F = 0 on one cell: a face of the cube for each block's direction."""

    def __init__(
        self, sizes: Sequence[int], faces: Sequence[tuple[int, int]], tube: float = TUBE, once: bool = False
    ) -> None:
        """`once`: of a network and its image under the two neurons of a block of two, one is enough."""
        super().__init__(sizes, faces)
        self.tube = tube
        self.order = ordered(self.sizes, self.faces) if once else []

    # -- what directions say ----------------------------------------------------------------------------

    def _same(self, a: int, row: Row) -> tuple[_Pair, Intervals, list[float]]:
        """Two rows of one block differ by δ on two coordinates: cos θ = 1 − δ²/N, sin θ/2 = |δ|/√(2N)."""
        u = [0.0] * len(row.D)
        u[0], u[1 + a] = self.entries[a][0].unit, -self.entries[a][1 + a].unit
        delta = row.D[0] * u[0] + row.D[1 + a] * u[1 + a]
        ratio = (delta.abs() / (row.square * 2.0).sqrt()).meet(Intervals(0.0, 1.0))
        rest = PI - ratio.arcsin() * 2.0
        sine = delta.abs() * (row.square * 2.0 - delta.square()).sqrt() / row.square
        return _Pair(sine.meet(Intervals(0.0, 1.0)), rest), delta, u

    def _classes(self, a: int, c: int) -> list[tuple[int, int, float, int, float]]:
        """(count, entry and unit of a row of block a, entry and unit of one of block c) for each kind of coordinate."""
        found = []
        for e, size in enumerate(self.sizes):
            ia, ic = self._index(a, e), self._index(c, e)
            if e == a:
                found.append((1, 0, ic))
                if size > 1:
                    found.append((size - 1, ia, ic))
            elif e == c:
                found.append((1, ia, 0))
                if size > 1:
                    found.append((size - 1, ia, ic))
            else:
                found.append((size, ia, ic))
        mine, theirs = self.entries[a], self.entries[c]
        return [(m, i, mine[i].unit, j, theirs[j].unit) for m, i, j in found]

    def _index(self, a: int, e: int) -> int:
        """Where the value of a row of block a on (the rest of) block e stands."""
        return next((i for i, entry in enumerate(self.entries[a]) if entry.block == e), 0)

    def _across(self, a: int, c: int, mine: Row, theirs: Row) -> tuple[_Pair, Intervals, Array]:
        """Rows of two blocks: sin θ from the sum of squares of w_I v_J − w_J v_I, and Q with g = D_aᵀ Q D_c."""
        Q = np.zeros((len(mine.D), len(theirs.D)))
        values = []
        for m, i, x, j, y in self._classes(a, c):
            Q[i, j] += m * x * y
            values.append((m, mine.D[i] * x, theirs.D[j] * y))
        g = mine.square * 0.0
        for i in range(len(mine.D)):
            for j in range(len(theirs.D)):
                if Q[i, j]:
                    g = g + mine.D[i] * theirs.D[j] * float(Q[i, j])
        square = g * 0.0
        for (m, w, v), (m2, w2, v2) in combinations(values, 2):
            square = square + (w * v2 - w2 * v).square() * float(m * m2)
        size = mine.norm * theirs.norm
        return pair_of(g / size, square.sqrt() / size), g, Q

    def _taught(self, a: int, i: int, row: Row) -> tuple[_Pair, Intervals]:
        """A row and the teacher's neuron on a coordinate of entry i."""
        entry = self.entries[a][i]
        g = row.D[i] * entry.unit
        square = g * 0.0
        for j, other in enumerate(self.entries[a]):
            measure = float((entry.count - 1) * entry.unit**2 if j == i else other.measure)
            square = square + row.D[j].square() * measure
        return pair_of(g / row.norm, square.sqrt() / row.norm), g

    # -- the equations ----------------------------------------------------------------------------------

    def __call__(self, box: Intervals, derivative: bool) -> tuple[Intervals, Intervals | None]:
        """F (m, n) and its derivatives (m, n, n), times π."""
        n = self.n
        if not derivative:
            return self._values(box), None
        both = self._values_and_slopes(box)
        slopes = both[:, n:]
        return both[:, :n], Intervals(slopes.lo.reshape(-1, n, n), slopes.hi.reshape(-1, n, n))

    def centred(self, centre: Array) -> tuple[Intervals, Intervals]:
        """F at points, and its coefficients of the lengths there."""
        n, both = self.n, self._values_and_columns(Intervals.exact(centre))
        columns = both[:, n:]
        return both[:, :n], Intervals(
            columns.lo.reshape(-1, n, len(self.sizes)), columns.hi.reshape(-1, n, len(self.sizes))
        )

    @cached_property
    def _values_and_columns(self) -> Tape:
        def parts(box: Intervals) -> list[Intervals]:
            rows = [self.row(box, a) for a in self.blocks]
            M, _, _ = self._linear(rows, box, False)
            columns = self._columns(M, rows)
            return self.equations(box, False) + [x for line in zip(*columns, strict=True) for x in line]

        return Tape(parts, self.n)

    @cached_property
    def _values(self) -> Tape:
        return Tape(lambda box: self.equations(box, False), self.n)

    @cached_property
    def _values_and_slopes(self) -> Tape:
        return Tape(lambda box: self.equations(box, True), self.n)

    def equations(self, box: Intervals, derivative: bool) -> list[Intervals]:
        """F and, where asked for, its derivatives row by row, times π."""
        rows = [self.row(box, a) for a in self.blocks]
        M, b, sums = self._linear(rows, box, derivative)
        columns = self._columns(M, rows)
        values = []
        for e, taught in enumerate(x for part in b for x in part):
            total = -taught
            for column, start in zip(columns, self.starts, strict=False):
                total = total + column[e] * box[:, start]
            values.append(total)
        if not derivative:
            return values
        lengths = [self.length(box, a) / rows[a].norm for a in self.blocks]
        return values + self._slopes(M, sums, lengths, rows, columns)

    def length(self, box: Intervals, a: int) -> Intervals:
        """The length of a neuron of block a: an unknown or, for the last block, what the sum of lengths leaves."""
        if a < len(self.sizes) - 1:
            return box[:, self.starts[a]]
        total = box[:, self.starts[a]]
        for c in range(a):
            total = total - box[:, self.starts[c]] * float(self.sizes[c])
        return total / float(self.sizes[a])

    def _columns(self, M: Table, rows: list[Row]) -> list[list[Intervals]]:
        """F's coefficients of the lengths of all blocks but the last, and of the sum of all lengths."""
        each = [
            [M[a][c][i] / rows[c].norm for a in self.blocks for i in range(len(self.entries[a]))]
            for c in self.blocks
        ]
        last = [x / float(self.sizes[-1]) for x in each[-1]]
        firsts = [
            [x - y * float(self.sizes[a]) for x, y in zip(each[a], last, strict=True)]
            for a in self.blocks[:-1]
        ]
        return [*firsts, last]

    def _slopes(
        self, M: Table, sums: _Sums, radii: list[Intervals], rows: list[Row], columns: list[list[Intervals]]
    ) -> list[Intervals]:
        """Columns: those of the lengths, and for directions second derivatives, less what lengthening them does."""
        line, e = [], 0
        for a in self.blocks:
            for i in range(len(self.entries[a])):
                for c in self.blocks:
                    line.append(columns[c][e])
                    longer = M[a][c][i] * radii[c] / rows[c].square
                    for j in range(len(self.entries[c])):
                        if self.place(c, j) is not None:
                            line.append(sums.entry(a, i, c, j, radii) - longer * rows[c].BD[j])
                e += 1
        return line

    def _linear(
        self, rows: list[Row], box: Intervals, derivative: bool
    ) -> tuple[Table, list[list[Intervals]], _Sums]:
        """M_ac, b_a and, where asked for, what second derivatives are made of."""
        zero = box[:, 0] * 0.0
        sums = _Sums(zero, derivative)
        M = [[[zero] * len(self.entries[a]) for _ in self.blocks] for a in self.blocks]
        b = [[zero] * len(self.entries[a]) for a in self.blocks]
        for a in self.blocks:
            self._own(a, rows[a], M, sums)
            for i, entry in enumerate(self.entries[a]):
                pair, g = self._taught(a, i, rows[a])
                ray = pair.sine / rows[a].norm
                b[a] = [x + ray * y * float(entry.count) for x, y in zip(b[a], rows[a].BD, strict=True)]
                b[a][i] = b[a][i] + pair.rest * (entry.unit * entry.count)
                if derivative:
                    alpha = [-(g / rows[a].square) * y for y in rows[a].BD]
                    alpha[i] = alpha[i] + entry.unit
                    sums.turn(a, None, -float(entry.count), rows[a], alpha, pair.sine, self.entries[a], None)
            for c in range(a):
                self._mixed(a, c, rows, M, sums)
        return M, b, sums

    def _own(self, a: int, row: Row, M: Table, sums: _Sums) -> None:
        """Half its own square, and the pairs within the block."""
        size, count = len(row.D), self.sizes[a] - 1
        M[a][a] = [PI * x for x in row.BD]
        for i in range(size):
            sums.fixed(a, i, a, i, PI * self.entries[a][i].measure)
        if not count:
            return
        pair, delta, u = self._same(a, row)
        QD = [x - delta * y for x, y in zip(row.BD, u, strict=True)]
        M[a][a] = [
            m + (pair.sine * x + pair.rest * y) * float(count)
            for m, x, y in zip(M[a][a], row.BD, QD, strict=True)
        ]
        if not sums.wanted:
            return
        bend = delta.abs() / (row.square * 2.0 - delta.square()).sqrt() * 2.0
        eta = [-(delta / row.square) * x + y for x, y in zip(row.BD, u, strict=True)]
        for i in range(size):
            for j in range(size):
                measures = self.entries[a][i].measure * self.entries[a][j].measure
                bound = float(2.0 * np.sqrt(measures) * WIDER)
                turn = (bend * product(eta, i, j)).meet(pair.sine.mirrored(bound))
                term = turn - pair.rest * (u[i] * u[j])
                if i == j:
                    term = term + (pair.sine + pair.rest) * self.entries[a][i].measure
                sums.fixed(a, i, a, j, term * float(count))

    def _mixed(self, a: int, c: int, rows: list[Row], M: Table, sums: _Sums) -> None:
        """The pairs of two blocks, in the equations of both."""
        pair, g, Q = self._across(a, c, rows[a], rows[c])
        alphas = []
        for x, y, table in ((a, c, Q), (c, a, Q.T)):
            here, there, count = rows[x], rows[y], float(self.sizes[y])
            QD = [_combined(table[i], there.D) for i in range(len(here.D))]
            ray = pair.sine * there.norm / here.norm
            M[x][y] = [(ray * u + pair.rest * v) * count for u, v in zip(here.BD, QD, strict=True)]
            alphas.append([v - (g / here.square) * u for u, v in zip(here.BD, QD, strict=True)])
            if sums.wanted:
                sums.turn(x, y, count, here, alphas[-1], pair.sine, self.entries[x], there)
        if not sums.wanted:
            return
        size = rows[a].norm * rows[c].norm
        for i in range(len(rows[a].D)):
            for j in range(len(rows[c].D)):
                bound = float(np.sqrt(self.entries[a][i].measure * self.entries[c][j].measure) * WIDER)
                term = alphas[0][i] * alphas[1][j] / (size * pair.sine)
                term = term.meet(pair.sine.mirrored(bound))
                term = term + pair.rest * float(Q[i, j]) + pair.sine / size * rows[a].BD[i] * rows[c].BD[j]
                sums.fixed(a, i, c, j, term * float(self.sizes[c]))
                sums.fixed(c, j, a, i, term * float(self.sizes[a]))

    # -- what a search asks besides -----------------------------------------------------------------------

    def contract(self, box: Intervals) -> Intervals:
        """Lengths that solve F = 0, linear in them: preconditioned, component by component; none is negative."""
        from shallows.questions.relu._compiled.lengths import lengths

        both, p = self._in_lengths(box), len(self.sizes)
        lo, hi = box.lo.copy(), box.hi.copy()
        low, high = (np.ascontiguousarray(end[:, self.starts[:-1]]) for end in (lo, hi))
        room = [np.empty(shape) for shape in ((p, p), (p, p), (p, self.n), (p, p + 1), (p, p + 1))]
        counts = np.array(self.sizes, dtype=np.float64)
        lengths(both.lo, both.hi, self.n, counts, SWEEPS, low, high, *room)
        lo[:, self.starts[:-1]], hi[:, self.starts[:-1]] = low, high
        for a, i in self.order:
            own, other = self.place(a, 0), self.place(a, i)
            assert own is not None and other is not None
            lo[:, own], hi[:, other] = (
                np.maximum(lo[:, own], lo[:, other]),
                np.minimum(hi[:, other], hi[:, own]),
            )
        return Intervals(lo, hi)

    @cached_property
    def _in_lengths(self) -> Tape:
        """What is taught, and the coefficients of the lengths: for each equation, one a block."""

        def parts(box: Intervals) -> list[Intervals]:
            rows = [self.row(box, a) for a in self.blocks]
            M, b, _ = self._linear(rows, box, False)
            columns = self._columns(M, rows)
            return [x for part in b for x in part] + [x for line in zip(*columns, strict=True) for x in line]

        return Tape(parts, self.n)

    def excused(self, box: Intervals) -> NDArray[np.bool_]:
        """Boxes in which all rows of the network are within the tube's angle of each other."""
        if len(self.sizes) < 2:
            return np.zeros(len(box), bool)
        both = self._spread(box)
        sine, rest = both[:, 0::2], both[:, 1::2]
        return np.asarray(((sine.hi < np.sin(self.tube)) & (rest.lo > HALF_PI.hi)).all(axis=1))

    @cached_property
    def _spread(self) -> Tape:
        """sin θ and π − θ of all kinds of pairs of rows."""

        def parts(box: Intervals) -> list[Intervals]:
            rows = [self.row(box, a) for a in self.blocks]
            pairs = [self._same(a, rows[a])[0] for a in self.blocks if self.sizes[a] > 1]
            pairs += [self._across(a, c, rows[a], rows[c])[0] for a in self.blocks for c in range(a)]
            return [x for pair in pairs for x in (pair.sine, pair.rest)]

        return Tape(parts, self.n)


class _Sums:
    """Second derivatives: parts that are multiplied by the radius of their column, and parts that turn a row.

    F_a's derivative in D_c is r_c·fixed[a,c], and in D_a besides Σ_c r_c·turned[a,c] + turned[a, teacher].
    """

    def __init__(self, zero: Intervals, wanted: bool) -> None:
        self.zero, self.wanted = zero, wanted
        self.parts: dict[tuple[int, int, int, int], Intervals] = {}
        self.turned: dict[tuple[int, int | None], list[list[Intervals]]] = {}

    def fixed(self, a: int, i: int, c: int, j: int, term: Intervals) -> None:
        """Add to ∂F_a,i/∂(r_c D_c,j)."""
        if self.wanted:
            key = (a, i, c, j)
            self.parts[key] = self.parts[key] + term if key in self.parts else term + self.zero

    def turn(
        self,
        a: int,
        c: int | None,
        count: float,
        row: Row,
        alpha: list[Intervals],
        sine: Intervals,
        entries: list[Entry],
        other: Row | None,
    ) -> None:
        """Add count·[(t/n) sin θ (B − BD BDᵀ/n²) + ααᵀ/(n t sin θ)], n and t the lengths of the row and the other."""
        length = sine * 0.0 + 1.0 if other is None else other.norm
        key, size = (a, c), len(row.D)
        table = self.turned.setdefault(key, [[self.zero] * size for _ in range(size)])
        ratio = length / row.norm
        under = row.norm * length * sine
        for i in range(size):
            for j in range(i + 1):
                bound = float(np.sqrt(entries[i].measure * entries[j].measure) * WIDER)
                bend = (product(alpha, i, j) / under).meet((ratio * sine).mirrored(bound))
                flat = -(product(row.BD, i, j) / row.square)
                if i == j:
                    flat = flat + entries[i].measure
                term = (ratio * sine * flat + bend) * count
                table[i][j] = table[i][j] + term
                if i != j:
                    table[j][i] = table[j][i] + term

    def entry(self, a: int, i: int, c: int, j: int, radii: list[Intervals]) -> Intervals:
        """∂F_a,i/∂D_c,j."""
        total = self.parts.get((a, i, c, j), self.zero) * radii[c]
        if a == c:
            for (block, other), table in self.turned.items():
                if block == a:
                    total = total + (table[i][j] if other is None else table[i][j] * radii[other])
        return total


def pair_of(cosine: Intervals, sine: Intervals) -> _Pair:
    """sin θ and π − θ, the latter from the sine where that knows it better."""
    sine = sine.meet(Intervals(0.0, 1.0))
    rest = HALF_PI + cosine.meet(Intervals(-1.0, 1.0)).arcsin()
    bent = sine.arcsin()
    return _Pair(sine, rest.meet(cosine.choose(PI - bent, bent)))


def _combined(coefficients: Array, x: list[Intervals]) -> Intervals:
    total = x[0] * 0.0
    for weight, entry in zip(coefficients, x, strict=True):
        if weight:
            total = total + entry * float(weight)
    return total
