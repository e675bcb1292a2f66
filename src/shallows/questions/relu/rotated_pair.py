"""Conjecture 1 of paper 003 is false: turning two neurons is a counterexample at every small angle.

The conjecture is (w−w̃)ᵀH(w)(w−w̃) ≥ ¼(‖g‖² + (1 − 2/π) Σᵢ‖gᵢ‖²) near w̃_ij = vᵢ/m, for ½E. Move the neurons of v₁ by
εv₂/m and those of v₂ by −εv₁/m (k ≥ 2, any m ≥ 1, d ≥ k): every step is orthogonal to its neuron and no longer than ε.

- Neurons of one teacher neuron stay equal, and m equal neurons p/m are one neuron p: the left side is that of m = 1.
- The other teacher neurons are met by their students: h₁(w, vₗ) is added and subtracted. It is that of k = 2.
- There p = v₁ + εv₂ and q = v₂ − εv₁ are orthogonal, and ρ = √(‖w‖²‖v‖² − (w·v)²) is ε, 1 or 1 + ε² for each pair: both
  sides are a + b/π with a, b rational functions of ε, whose numerators over (1 + ε²)² have degree at most 6. So

      left − right = −2ε³(1 − 2ε − ε³) / (π(1 + ε²)²) = −(2/π)ε³ + O(ε⁴),

  an identity because both agree at more than seven rational ε (`exact_excess`); negative for 0 < ε ≤ 9/20.

`directional_ball` encloses the left side at any rational point, by equations 5 to 7, and shares nothing with that.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import isqrt
from typing import Any

from flint import arb, fmpq

from shallows.support.errors import InvalidProblem

#: A vector with rational entries.
Vector = Sequence[Any]
#: The closed form is negative on (0, this]: 1 − 2ε − ε³ falls, and is 71/8000 here.
LARGEST = fmpq(9, 20)


def rotated_pair(
    k: int, m: int, epsilon: Any, inputs: int | None = None
) -> tuple[list[Vector], list[Vector]]:
    """The students w (mk rows, neurons of one teacher neuron together) and the steps w − w̃, with rational entries."""
    inputs = k if inputs is None else inputs
    if k < 2 or m < 1 or inputs < k:
        raise InvalidProblem(f"k, m, d are {k}, {m}, {inputs}; expected k ≥ 2, m ≥ 1 and d ≥ k.")
    share = fmpq(1, m)
    students: list[Vector] = []
    steps: list[Vector] = []
    for i in range(k):
        step = [fmpq(0)] * inputs
        if i < 2:
            step[1 - i] = epsilon * share if i == 0 else -epsilon * share
        student = list(step)
        student[i] += share
        students += [student] * m
        steps += [step] * m
    return students, steps


def rotated_excess(epsilon: Any) -> Any:
    """left − right of Conjecture 1 at a rotated pair, a ball: −2ε³(1 − 2ε − ε³)/(π(1 + ε²)²), for every k ≥ 2 and m."""
    x = arb(epsilon)
    return -2 * x**3 * (1 - 2 * x - x**3) / (arb.pi() * (1 + x * x) ** 2)


def right_side(steps: Sequence[Vector], k: int) -> tuple[Any, Any]:
    """¼(‖g‖² + (1 − 2/π) Σᵢ‖gᵢ‖²) as (a, b) with a + b/π, for steps of mk students in the order of `rotated_pair`."""
    m = len(steps) // k
    sums = [
        [sum(column, fmpq(0)) for column in zip(*steps[i * m : (i + 1) * m], strict=True)] for i in range(k)
    ]
    total = [sum(column, fmpq(0)) for column in zip(*sums, strict=True)]
    squares = sum((_dot(each, each) for each in sums), fmpq(0))
    return (_dot(total, total) + squares) / 4, -squares / 2


def directional_ball(teachers: Sequence[Vector], students: Sequence[Vector], steps: Sequence[Vector]) -> Any:
    """A ball around Σ gᵢᵀHᵢⱼgⱼ, H the Hessian of ½E at rational students (equations 5 to 7); parallel ones allowed.

    Whether two neurons are parallel is decided in rational arithmetic: h₁ = 0 and h₂ = ½I then (Lemma 2). Equal
    neurons in a row with equal steps are taken together.
    """
    neurons = [(*pair, len(list(same))) for pair, same in groupby(zip(students, steps, strict=True))]
    total = arb(0)
    for i, (w, g, count) in enumerate(neurons):
        if not any(g):
            continue
        one = arb(_dot(g, g)) / 2
        for j, (v, h, others) in enumerate(neurons):
            number = others - (i == j)
            if number:
                one += number * (_own(w, v, g) + (_mixed(w, v, g, h) if any(h) else 0))
        one -= sum((_own(w, v, g) for v in teachers), arb(0))
        total += count * one
    return total


def exact_excess(epsilon: Any) -> tuple[Any, Any]:
    """left − right at the rotated pair of k = 2, m = 1, exactly: (a, b) with a + b/π, from equations 5 to 7."""
    students, steps = rotated_pair(2, 1, epsilon)
    teachers = [[fmpq(1), fmpq(0)], [fmpq(0), fmpq(1)]]
    plain, over_pi = fmpq(0), fmpq(0)
    for i, (w, g) in enumerate(zip(students, steps, strict=True)):
        v, h = students[1 - i], steps[1 - i]
        plain += _dot(g, g) / 2 + _dot(g, h) / 4  # the students are orthogonal: (π − θ)/2π = ¼
        over_pi += _exact_own(w, v, g) + _bend(w, v, g, h, _square_root(_sine_square(w, v))) / 2
        over_pi -= sum((_exact_own(w, each, g) for each in teachers), fmpq(0))
    a, b = right_side(steps, 2)
    return plain - a, over_pi - b


def _own(w: Vector, v: Vector, g: Vector) -> Any:
    """gᵀh₁(w, v)g."""
    square = _sine_square(w, v)
    if square == 0:
        return arb(0)
    rho = arb(square).sqrt()
    return (arb(_radial(w, g)) * rho + arb(_turn(w, v, g)) / rho) / (2 * arb.pi())


def _exact_own(w: Vector, v: Vector, g: Vector) -> Any:
    """π gᵀh₁(w, v)g where ρ is rational."""
    rho = _square_root(_sine_square(w, v))
    return (_radial(w, g) * rho + _turn(w, v, g) / rho) / 2


def _radial(w: Vector, g: Vector) -> Any:
    """(‖g‖² − (g·w)²/‖w‖²)/‖w‖²."""
    s = _dot(w, w)
    return (_dot(g, g) - _dot(g, w) ** 2 / s) / s


def _turn(w: Vector, v: Vector, g: Vector) -> Any:
    """(g·v − (w·v)(g·w)/‖w‖²)²: ρ times the term of n̄_{v,w}."""
    return (_dot(g, v) - _dot(w, v) * _dot(g, w) / _dot(w, w)) ** 2


def _mixed(w: Vector, v: Vector, g: Vector, h: Vector) -> Any:
    """gᵀh₂(w, v)h."""
    square, product = _sine_square(w, v), _dot(w, v)
    if square == 0:
        if product < 0:
            raise InvalidProblem("Two students are opposite: h₂ has no limit there.")
        return arb(_dot(g, h)) / 2
    rho = arb(square).sqrt()
    angle = arb.atan2(rho, arb(product))
    return ((arb.pi() - angle) * arb(_dot(g, h)) + arb(_bend(w, v, g, h, fmpq(1))) / rho) / (2 * arb.pi())


def _bend(w: Vector, v: Vector, g: Vector, h: Vector, rho: Any) -> Any:
    """gᵀ(n̄_{w,v}v̄ᵀ + n̄_{v,w}w̄ᵀ)h: (wvᵀ + vwᵀ − (w·v)(wwᵀ/‖w‖² + vvᵀ/‖v‖²))/ρ."""
    c = _dot(w, v)
    straight = _dot(g, w) * _dot(h, v) + _dot(g, v) * _dot(h, w)
    back = _dot(g, w) * _dot(h, w) / _dot(w, w) + _dot(g, v) * _dot(h, v) / _dot(v, v)
    return (straight - c * back) / rho


def _sine_square(w: Vector, v: Vector) -> Any:
    """ρ² = ‖w‖²‖v‖² − (w·v)²."""
    return _dot(w, w) * _dot(v, v) - _dot(w, v) ** 2


def _square_root(square: Any) -> Any:
    """√ of the square of a rational."""
    top, bottom = isqrt(int(square.p)), isqrt(int(square.q))
    root = fmpq(top, bottom)
    if root * root != square:
        raise InvalidProblem(f"{square} is no square of a rational.")
    return root


def _dot(x: Vector, y: Vector) -> Any:
    return sum((a * b for a, b in zip(x, y, strict=True) if a and b), fmpq(0))
