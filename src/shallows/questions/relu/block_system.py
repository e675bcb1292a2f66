"""The critical equations of block-symmetric ReLU networks over boxes of directions: radii are linear, and eliminated.

Neurons of block a are w = r_a D_a with r_a > 0 and D_a on a face of a cube: one entry ±1, the others in [−1, 1]. Angles
depend on directions alone, so that the gradient in the block's values, divided by the block's size, is linear in radii:

    F_a = Σ_c M_ac(t) r_c − b_a(t).

Unknowns are the radii and the free entries t of the directions; t is bisected, radii are bounded through the radial
equations D_a·F_a = 0, whose coefficients are not negative. Second derivatives are those of `pair_terms`, written with
vectors: for a pair of neurons of lengths √s, √t, with inner product g and ρ = √(st − g²),

    2π k_ww = (ρ/s)(I − ŵŵᵀ) + ααᵀ/ρ,   2π k_wv = (π−θ)I + α_wα_vᵀ/ρ + (ρ/st) w vᵀ,   α_w = v − (g/s)w,

which are continuous at parallel neurons, since |αᵢαⱼ|/ρ is at most sin θ times lengths. Entries are measured in powers
of two near the square roots of their multiplicities: all coefficients are exact doubles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.arrays import Ball
from shallows.mathematics.exclusion.intervals import Intervals, of_ball
from shallows.support.checks import Array

#: π and π/2 as intervals.
PI = Intervals(np.pi, np.nextafter(np.pi, 4.0))
HALF_PI = Intervals(np.pi / 2, np.nextafter(np.pi / 2, 4.0))
#: Networks whose rows are all within this angle (in radians) of each other are left to the search for parallel rows.
TUBE = 0.01


@dataclass(frozen=True)
class Entry:
    """One value of a row: on its own coordinate (block < 0), or on the other coordinates of a block, `count` of them."""

    block: int
    count: int
    unit: float

    @property
    def measure(self) -> float:
        """count·unit²: the square of the row's length is Σ measure·x²."""
        return self.count * self.unit * self.unit


def entries_of(sizes: Sequence[int], a: int) -> list[Entry]:
    """The values of a row of block a: its own coordinate, the rest of its block, each other block."""
    counts = [(-1, 1)] + [(c, p - 1 if c == a else p) for c, p in enumerate(sizes)]
    return [Entry(c, count, 2.0 ** -round(0.5 * np.log2(count))) for c, count in counts if count]


@dataclass(frozen=True, eq=False)
class _Row:
    """A block's direction: its entries, its length, and B D (the gradient of half its square)."""

    D: list[Intervals]
    BD: list[Intervals]
    norm: Intervals
    square: Intervals


@dataclass(frozen=True, eq=False)
class _Pair:
    """sin θ, π − θ, α of both rows and 1/(lengths·sin θ) for a pair of directions."""

    sine: Intervals
    rest: Intervals


class BlockSystem:
    """F = 0 on one cell: a face of the cube for each block's direction."""

    def __init__(self, sizes: Sequence[int], faces: Sequence[tuple[int, int]], tube: float = TUBE) -> None:
        """`faces`: for each block the place and the sign of the entry that is ±1."""
        self.sizes, self.faces, self.tube = tuple(sizes), tuple(faces), tube
        self.entries = [entries_of(sizes, a) for a in range(len(sizes))]
        self.starts = np.cumsum([0, *(len(e) for e in self.entries)]).tolist()
        self.n = self.starts[-1]
        self.blocks = range(len(self.sizes))

    @property
    def split(self) -> tuple[int, ...]:
        """Directions; the first unknown of each block is its radius."""
        return tuple(i for i in range(self.n) if i not in self.starts)

    def region(self) -> Intervals:
        """The whole face, and all lengths that a critical point can have.

        E f² = E f y at a critical point, so ‖f‖ ≤ ‖y‖, and Σ‖w‖ = √2π E f ≤ √2π ‖y‖ = √(kπ + k(k−1)).
        """
        k = sum(self.sizes)
        largest = float(np.sqrt(k * np.pi + k * (k - 1)) * WIDER)
        lo, hi = -np.ones(self.n), np.ones(self.n)
        for a, start in enumerate(self.starts[:-1]):
            last = a == len(self.sizes) - 1
            lo[start], hi[start] = 0.0, largest if last else largest * WIDER / self.sizes[a]
        return Intervals(lo, hi)

    def place(self, a: int, i: int) -> int | None:
        """The unknown that is entry i of D_a; None for the one that is ±1."""
        face = self.faces[a][0]
        return None if i == face else self.starts[a] + 1 + i - (i > face)

    def coordinates(self, values: Array) -> Array:
        """The unknowns of a table of block values, in this cell."""
        x, total = np.zeros(self.n), 0.0
        for a, entries in enumerate(self.entries):
            row = np.array([values[a, e.block if e.block != a else -1] if e.block >= 0 else values[a, a] for e in entries])
            D = row / np.array([e.unit for e in entries])
            length = float(np.sqrt(sum(e.measure * d * d for e, d in zip(entries, D, strict=True))))
            total += self.sizes[a] * length
            x[self.starts[a]] = length if a < len(self.sizes) - 1 else total
            for i in range(len(entries)):
                place = self.place(a, i)
                if place is not None:
                    x[place] = D[i] / abs(D[self.faces[a][0]])
        return x

    def table(self, x: Array) -> Array:
        """The inverse of `coordinates`."""
        b = len(self.sizes)
        values = np.zeros((b, b + 1))
        left = float(x[self.starts[b - 1]])
        for a, entries in enumerate(self.entries):
            length = float(x[self.starts[a]]) if a < b - 1 else left / self.sizes[a]
            left -= self.sizes[a] * length
            places = [self.place(a, i) for i in range(len(entries))]
            D = np.array([self.faces[a][1] if place is None else x[place] for place in places])
            norm = float(np.sqrt(sum(e.measure * d * d for e, d in zip(entries, D, strict=True))))
            for e, d in zip(entries, D, strict=True):
                column = a if e.block < 0 else (-1 if e.block == a else e.block)
                values[a, column] = length / norm * d * e.unit
        return values

    def moved(self, box: Intervals, other: BlockSystem) -> Intervals | None:
        """A box of this cell in the coordinates of another; None where it does not meet that."""
        lo, hi = box.lo.copy(), box.hi.copy()
        one = Intervals(box.lo[None], box.hi[None])
        for a in self.blocks:
            face, sign = other.faces[a]
            D = self._row(one, a).D
            height = D[face] * float(sign)
            if not height.lo[0] > 0:
                return None
            for i in range(len(D)):
                place = other.place(a, i)
                if place is not None:
                    there = D[i] / height
                    lo[place], hi[place] = there.lo[0], there.hi[0]
        return Intervals(lo, hi)

    # -- what directions say ----------------------------------------------------------------------------

    def _row(self, box: Intervals, a: int) -> _Row:
        D = []
        for i in range(len(self.entries[a])):
            place = self.place(a, i)
            one = Intervals.exact(np.full(len(box), float(self.faces[a][1])))
            D.append(one if place is None else box[:, place])
        square = D[0] * 0.0
        for x, entry in zip(D, self.entries[a], strict=True):
            square = square + x.square() * entry.measure
        BD = [x * entry.measure for x, entry in zip(D, self.entries[a], strict=True)]
        return _Row(D, BD, square.sqrt(), square)

    def _same(self, a: int, row: _Row) -> tuple[_Pair, Intervals, list[float]]:
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

    def _across(self, a: int, c: int, mine: _Row, theirs: _Row) -> tuple[_Pair, Intervals, Array]:
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
        for (m, x, y), (m2, x2, y2) in combinations(values, 2):
            square = square + (x * y2 - x2 * y).square() * float(m * m2)
        size = mine.norm * theirs.norm
        return pair_of(g / size, square.sqrt() / size), g, Q

    def _taught(self, a: int, i: int, row: _Row) -> tuple[_Pair, Intervals]:
        """A row and the teacher's neuron on a coordinate of entry i."""
        entry = self.entries[a][i]
        g = row.D[i] * entry.unit
        square = g * 0.0
        for j, other in enumerate(self.entries[a]):
            measure = (entry.count - 1) * entry.unit**2 if j == i else other.measure
            square = square + row.D[j].square() * measure
        return pair_of(g / row.norm, square.sqrt() / row.norm), g

    # -- the equations ----------------------------------------------------------------------------------

    def __call__(self, box: Intervals, derivative: bool) -> tuple[Intervals, Intervals | None]:
        """F (m, n) and its derivatives (m, n, n), times π."""
        rows = [self._row(box, a) for a in self.blocks]
        M, b, sums = self._linear(rows, box, derivative)
        columns = self._columns(M, rows)
        values = []
        for e, taught in enumerate(x for part in b for x in part):
            total = -taught
            for column, start in zip(columns, self.starts, strict=False):
                total = total + column[e] * box[:, start]
            values.append(total)
        if not derivative:
            return Intervals.stack(values), None
        lengths = [self.length(box, a) / rows[a].norm for a in self.blocks]
        return Intervals.stack(values), self._slopes(M, sums, lengths, rows, columns)

    def length(self, box: Intervals, a: int) -> Intervals:
        """The length of a neuron of block a: an unknown or, for the last block, what the sum of lengths leaves."""
        if a < len(self.sizes) - 1:
            return box[:, self.starts[a]]
        total = box[:, self.starts[a]]
        for c in range(a):
            total = total - box[:, self.starts[c]] * float(self.sizes[c])
        return total / float(self.sizes[a])

    def _columns(self, M: list, rows: list[_Row]) -> list[list[Intervals]]:
        """F's coefficients of the lengths of all blocks but the last, and of the sum of all lengths."""
        each = [[M[a][c][i] / rows[c].norm for a in self.blocks for i in range(len(self.entries[a]))] for c in self.blocks]
        last = [x / float(self.sizes[-1]) for x in each[-1]]
        firsts = [
            [x - y * float(self.sizes[a]) for x, y in zip(each[a], last, strict=True)] for a in self.blocks[:-1]
        ]
        return [*firsts, last]

    def _slopes(
        self, M: list, sums: _Sums, radii: list[Intervals], rows: list[_Row], columns: list[list[Intervals]]
    ) -> Intervals:
        """Columns: those of the lengths, and for directions second derivatives, less what lengthening them does."""
        table, e = [], 0
        for a in self.blocks:
            for i in range(len(self.entries[a])):
                line = []
                for c in self.blocks:
                    line.append(columns[c][e])
                    longer = M[a][c][i] * radii[c] / rows[c].square
                    for j in range(len(self.entries[c])):
                        if self.place(c, j) is not None:
                            line.append(sums.entry(a, i, c, j, radii) - longer * rows[c].BD[j])
                table.append(Intervals.stack(line))
                e += 1
        return Intervals.stack(table, axis=1)

    def _linear(self, rows: list[_Row], box: Intervals, derivative: bool) -> tuple[list, list, _Sums]:
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

    def _own(self, a: int, row: _Row, M: list, sums: _Sums) -> None:
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
                term = bend * eta[i] * eta[j] - pair.rest * (u[i] * u[j])
                if i == j:
                    term = term + (pair.sine + pair.rest) * self.entries[a][i].measure
                sums.fixed(a, i, a, j, term * float(count))

    def _mixed(self, a: int, c: int, rows: list[_Row], M: list, sums: _Sums) -> None:
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
                bound = pair.sine.hi * float(
                    np.sqrt(self.entries[a][i].measure * self.entries[c][j].measure) * WIDER
                )
                term = (alphas[0][i] * alphas[1][j] / (size * pair.sine)).meet(Intervals(-bound, bound))
                term = term + pair.rest * float(Q[i, j]) + pair.sine / size * rows[a].BD[i] * rows[c].BD[j]
                sums.fixed(a, i, c, j, term * float(self.sizes[c]))
                sums.fixed(c, j, a, i, term * float(self.sizes[a]))

    # -- what a search asks besides -----------------------------------------------------------------------

    def contract(self, box: Intervals) -> Intervals:
        """Lengths that solve F = 0, linear in them: preconditioned, component by component; none is negative."""
        rows = [self._row(box, a) for a in self.blocks]
        M, b, _ = self._linear(rows, box, False)
        columns = self._columns(M, rows)
        table = Intervals.stack([Intervals.stack(column) for column in columns], axis=2)
        taught = Intervals.stack([x for part in b for x in part])
        usable = np.isfinite(table.mid).all(axis=(1, 2))
        inverse = Ball.exact(np.linalg.pinv(np.where(usable[:, None, None], table.mid, 0.0)))
        ball = taught.ball()
        A = of_ball(inverse @ table.ball())
        right = of_ball((inverse @ Ball(ball.mid[:, :, None], ball.rad[:, :, None]))[:, :, 0])
        lo, hi = box.lo.copy(), box.hi.copy()
        found = [Intervals(lo[:, s], hi[:, s]) for s in self.starts[:-1]]
        for _ in range(SWEEPS):
            for a in self.blocks:
                total = right[:, a]
                for c in self.blocks:
                    if c != a:
                        total = total - A[:, a, c] * found[c]
                found[a] = self._bounded(found, a).meet(total / A[:, a, a])
        for s, radius in zip(self.starts[:-1], found, strict=True):
            lo[:, s], hi[:, s] = radius.lo, radius.hi
        return Intervals(lo, hi)

    def _bounded(self, found: list[Intervals], a: int) -> Intervals:
        """What the other lengths leave: p_a ρ_a + Σ p_c ρ_c ≤ sum of all."""
        last = len(self.sizes) - 1
        rest = found[last] if a < last else found[last] * 0.0
        for c in range(last):
            if c != a:
                rest = rest + found[c] * (-float(self.sizes[c]) if a < last else float(self.sizes[c]))
        if a == last:
            return found[a].meet(Intervals(rest.lo, np.inf))
        return found[a].meet(Intervals(0.0, (rest / float(self.sizes[a])).hi))

    def excused(self, box: Intervals) -> NDArray[np.bool_]:
        """Boxes in which all rows of the network are within the tube's angle of each other."""
        if len(self.sizes) < 2:
            return np.zeros(len(box), bool)
        rows = [self._row(box, a) for a in self.blocks]
        inside = np.ones(len(box), bool)
        for a in self.blocks:
            if self.sizes[a] > 1:
                pair, _, _ = self._same(a, rows[a])
                inside &= (pair.sine.hi < self.tube) & (pair.rest.lo > HALF_PI.hi)
            for c in range(a):
                pair, _, _ = self._across(a, c, rows[a], rows[c])
                inside &= (pair.sine.hi < self.tube) & (pair.rest.lo > HALF_PI.hi)
        return inside


#: Sweeps of Gauss and Seidel over the lengths: a second one is worth its time, more are not.
SWEEPS = 2
#: Makes an upper bound of a root of two exact numbers that was rounded a few times.
WIDER = 1 + 2.0**-48


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
        row: _Row,
        alpha: list[Intervals],
        sine: Intervals,
        entries: list[Entry],
        other: _Row | None,
    ) -> None:
        """Add count·[(t/n) sin θ (B − BD BDᵀ/n²) + ααᵀ/(n t sin θ)], n and t the lengths of the row and the other."""
        length = sine * 0.0 + 1.0 if other is None else other.norm
        key, size = (a, c), len(row.D)
        table = self.turned.setdefault(key, [[self.zero] * size for _ in range(size)])
        ratio = length / row.norm
        under = row.norm * length * sine
        for i in range(size):
            for j in range(i + 1):
                bound = (ratio * sine).hi * float(np.sqrt(entries[i].measure * entries[j].measure) * WIDER)
                bend = (alpha[i] * alpha[j] / under).meet(Intervals(-bound, bound))
                flat = -(row.BD[i] * row.BD[j] / row.square)
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
    ahead, behind = PI - bent, bent
    lo = np.where(cosine.lo > 0, ahead.lo, np.where(cosine.hi < 0, behind.lo, -np.inf))
    hi = np.where(cosine.lo > 0, ahead.hi, np.where(cosine.hi < 0, behind.hi, np.inf))
    return _Pair(sine, rest.meet(Intervals(lo, hi)))


def _combined(coefficients: Array, x: list[Intervals]) -> Intervals:
    total = x[0] * 0.0
    for weight, entry in zip(coefficients, x, strict=True):
        if weight:
            total = total + entry * float(weight)
    return total
