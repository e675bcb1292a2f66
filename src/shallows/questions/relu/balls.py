"""Loss, gradient and Hessian of a ReLU problem at balls: the closed forms of paper 003 in rigorous arithmetic.

With e = (a, −b) over students and teachers U = (W, V), s = ‖w‖², ρ = √(st − g²) and θ = atan2(ρ, g),

    ∂L/∂wᵢ = (aᵢ/π) Σⱼ eⱼ ((ρ_ij/sᵢ) wᵢ + (π−θ_ij) uⱼ),
    ∂²L/∂wᵢ∂wᵢ ∋ (aᵢeⱼ/π) (ρ/s) (I − ŵŵᵀ + n̂n̂ᵀ),    ∂²L/∂wᵢ∂wⱼ = (aᵢaⱼ/π) ((π−θ)I + n̂_w ŵ_vᵀ + n̂_v ŵ_wᵀ)

(twice equations 5 to 11, which are for ½E). Where a box meets the parallel directions ρ = 0, n̂n̂ᵀ is replaced by all
that it can be (entries in [−1, 1], and the factor ρ tends to 0): the Hessian is continuous there (Lemma 1), so this is
an enclosure. Two students that may be parallel are refused: then the minimum is not isolated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flint import arb, arb_mat

from shallows.mathematics.balls.systems import precision
from shallows.support.checks import Array
from shallows.support.errors import NotConverged

#: `float` rounds to the nearest double, perhaps down; this factor makes an upper bound of it, with room (half a unit is
#: 1.1e-16).
OUTWARD = 1 + 1e-12


class ReLUBalls:
    """∇L and ∇²L in the inner weights, W row by row; outer weights and teacher are exact doubles."""

    is_real = True

    def __init__(self, W_shape: tuple[int, int], outer: Array, V: Array, b: Array) -> None:
        self.width, self.inputs = W_shape
        self.n = self.width * self.inputs
        self.outer, self.b = [arb(float(x)) for x in outer], [arb(float(x)) for x in b]
        self.V = [[arb(float(x)) for x in row] for row in V]
        self.teacher_squares = [_dot(v, v) for v in self.V]

    def ball_evaluator(self, bits: int) -> ReLUBalls:
        """Itself: exact data serve any precision."""
        with precision(bits):
            self.teacher_squares = [_dot(v, v) for v in self.V]
        return self

    def __call__(self, x: Sequence[Any]) -> tuple[Any, Any]:
        """∇L (n×1) and ∇²L (n×n)."""
        W = self.rows(x)
        pairs = _Pairs(self, W)
        return arb_mat(self.n, 1, self._gradient(W, pairs)), self._hessian(W, pairs)

    def rows(self, x: Sequence[Any]) -> list[list[Any]]:
        """The neurons."""
        d = self.inputs
        return [list(x[i * d : (i + 1) * d]) for i in range(self.width)]

    def loss(self, x: Sequence[Any]) -> Any:
        """E(f−y)²."""
        W = self.rows(x)
        neurons, e = W + self.V, self.outer + [-b for b in self.b]
        squares = [_dot(w, w) for w in W] + self.teacher_squares
        total = arb(0)
        for i, w in enumerate(neurons):
            total = total + e[i] * e[i] * squares[i] / 2
            for j in range(i):
                g = _dot(w, neurons[j])
                rho = nonnegative_root(squares[i] * squares[j] - g * g)
                value = rho + supplement(rho, g) * g
                total = total + e[i] * e[j] * value / arb.pi()
        return total

    def _gradient(self, W: list[list[Any]], pairs: _Pairs) -> list[Any]:
        neurons = arb_mat(W + self.V)
        entries: list[Any] = []
        for i, w in enumerate(W):
            weights = [e * rest for e, rest in zip(pairs.e, pairs.rest[i], strict=True)]
            pull = (arb_mat([weights]) * neurons).entries()
            radial = sum((e * rho for e, rho in zip(pairs.e, pairs.rho[i], strict=True)), arb(0))
            radial = radial / pairs.squares[i]
            factor = self.outer[i] / arb.pi()
            entries += [factor * (radial * x + y) for x, y in zip(w, pull, strict=True)]
        return entries

    def _hessian(self, W: list[list[Any]], pairs: _Pairs) -> Any:
        k, d = self.width, self.inputs
        blocks: list[list[Any]] = [[None] * k for _ in range(k)]
        for i in range(k):
            blocks[i][i] = self._diagonal(W, pairs, i).tolist()
            for j in range(i):
                block = self._mixed(W, pairs, i, j)
                blocks[i][j], blocks[j][i] = block.tolist(), block.transpose().tolist()
        rows = [[entry for block in line for entry in block[r]] for line in blocks for r in range(d)]
        return arb_mat(rows)

    def _diagonal(self, W: list[list[Any]], pairs: _Pairs, i: int) -> Any:
        """aᵢ²I + (aᵢ/π) Σⱼ eⱼ (ρ/s)(I − ŵŵᵀ + n̂n̂ᵀ), n̂ = (s u − g w)/(√s ρ)."""
        d, s, w = self.inputs, pairs.squares[i], W[i]
        neurons = W + self.V
        level, loose = arb(0), arb(0)
        vectors, weights = [], []
        for j, u in enumerate(neurons):
            if j == i:
                continue
            rho, weight = pairs.rho[i][j], pairs.e[j] * pairs.rho[i][j] / s
            level = level + weight
            if rho > 0:
                vectors.append([(s * y - pairs.g[i][j] * x) for x, y in zip(w, u, strict=True)])
                weights.append(pairs.e[j] / (s * s * rho))
            else:
                loose = loose + weight.abs_upper()
        factor = self.outer[i] / arb.pi()
        matrix = _scalar(d, level) - arb_mat([[x] for x in w]) * arb_mat([w]) * (level / s)
        if vectors:
            rows = arb_mat(vectors)
            scaled = arb_mat(
                [[weight * x for x in row] for weight, row in zip(weights, vectors, strict=True)]
            )
            matrix = matrix + rows.transpose() * scaled
        if not loose.is_zero():
            spread = arb(0, float(loose.upper()) * OUTWARD)
            matrix = matrix + arb_mat(d, d, [spread] * (d * d))
        return matrix * factor + _scalar(d, self.outer[i] * self.outer[i])

    def _mixed(self, W: list[list[Any]], pairs: _Pairs, i: int, j: int) -> Any:
        """(aᵢaⱼ/π)((π−θ)I + (w vᵀ + v wᵀ)/ρ − g (w wᵀ/s + v vᵀ/t)/ρ)."""
        rho, g, s, t = pairs.rho[i][j], pairs.g[i][j], pairs.squares[i], pairs.squares[j]
        if not rho > 0 and g < 0:
            return self._opposite(W, pairs, i, j)
        if not rho > 0:
            raise NotConverged(
                f"Neurons {j} and {i} are parallel within the box: such a minimum is not isolated, nothing is proved."
            )
        frame = arb_mat([W[i], W[j]])
        middle = arb_mat([[-g / (s * rho), 1 / rho], [1 / rho, -g / (t * rho)]])
        block = frame.transpose() * middle * frame + _scalar(self.inputs, pairs.rest[i][j])
        return block * (self.outer[i] * self.outer[j] / arb.pi())

    def _opposite(self, W: list[list[Any]], pairs: _Pairs, i: int, j: int) -> Any:
        """The same where neurons may be opposite: (π−θ)I + (ρ/st) w vᵀ, and entries of at most sin θ for the rest."""
        rho, s, t = pairs.rho[i][j], pairs.squares[i], pairs.squares[j]
        d = self.inputs
        sine = (rho / (s * t).sqrt()).abs_upper()
        spread = arb(0, float(sine) * OUTWARD)
        matrix = _scalar(d, pairs.rest[i][j]) + arb_mat(d, d, [spread] * (d * d))
        matrix = matrix + arb_mat([[x] for x in W[i]]) * arb_mat([W[j]]) * (rho / (s * t))
        return matrix * (self.outer[i] * self.outer[j] / arb.pi())


class _Pairs:
    """g, ρ and π−θ of each student with all students and teachers; ρ = 0 and θ = 0 for a neuron with itself."""

    def __init__(self, balls: ReLUBalls, W: list[list[Any]]) -> None:
        k = balls.width
        neurons = W + balls.V
        self.e = balls.outer + [-b for b in balls.b]
        self.squares = [_dot(w, w) for w in W] + balls.teacher_squares
        product = (arb_mat(W) * arb_mat(neurons).transpose()).tolist()
        self.g: list[list[Any]] = product
        self.rho = [[arb(0)] * len(neurons) for _ in range(k)]
        self.rest = [[arb.pi()] * len(neurons) for _ in range(k)]
        for i in range(k):
            for j in range(len(neurons)):
                if j < i:
                    self.rho[i][j], self.rest[i][j] = self.rho[j][i], self.rest[j][i]
                elif j > i:
                    rho = nonnegative_root(self.squares[i] * self.squares[j] - product[i][j] * product[i][j])
                    self.rho[i][j], self.rest[i][j] = rho, supplement(rho, product[i][j])


def supplement(rho: Any, g: Any) -> Any:
    """π − θ, θ = atan2(ρ, g) with ρ ≥ 0: never across the branch cut behind."""
    return arb.atan2(rho, -g) if g < 0 else arb.pi() - arb.atan2(rho, g)


def nonnegative_root(square: Any) -> Any:
    """√ of a quantity known to be nonnegative."""
    if square > 0:
        return square.sqrt()
    top = square.abs_upper().sqrt().upper()
    return (top / 2).union(arb(0)).union(top)


def _dot(x: Sequence[Any], y: Sequence[Any]) -> Any:
    return sum((a * b for a, b in zip(x, y, strict=True)), arb(0))


def _scalar(d: int, value: Any) -> Any:
    return arb_mat(d, d, [value if i == j else arb(0) for i in range(d) for j in range(d)])
