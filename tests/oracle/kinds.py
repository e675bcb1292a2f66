"""Which kinds a true critical point can be given, judged in the problem's own function space.

A point is a minimum when the Hessian on its stratum is positive definite and no idle neuron ±u^⊗d decreases the loss to
first order. Slopes ℓ′(u^⊗d) are minimised over all u, also close to the point's own neurons, where they vanish: there
their second derivative decides.
"""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
from tests.oracle.newton import DIGITS, Precise, Refined
from tests.oracle.search import Units, _raising, monomials
from tests.oracle.strata import Powers

CLEAR = 1e-9
OPEN = frozenset({"degenerate", "saddle", "local minimum", "global minimum"})
SADDLE = frozenset({"saddle"})
MINIMUM = frozenset({"minimum"})


def room(precise: Precise, positive: int, negative: int) -> tuple[bool, bool]:
    """Whether a further positive, or negative, neuron is idle."""
    most, least, total = precise.given.signs
    some = positive + negative < total
    return some and positive < most, some and negative < least


def slope_signs(precise: Precise, units: Units, slope: Any, rank: int, vectors: Any) -> tuple[int, int]:
    """Signs of the least and of the largest slope off the point's own directions; 0 where that is not clear.

    (0, 0) too where the slope vanishes altogether; `vectors` are the point's neurons (degree ≥ 3).
    """
    given = precise.given
    n, d = given.n, given.degree
    with mpmath.workdps(DIGITS):
        table = monomials(np.array([[mpmath.mpf(x.numerator) / x.denominator for x in units.scale]]), d)[0]
        scaled = np.array([x * w for x, w in zip(slope, table, strict=True)])
        largest = max(abs(x) for x in scaled)
        if not largest:
            return 0, 0
        if d == 2:
            return _matrix_signs(scaled / largest, n, rank)
        c = np.array([float(x / largest) for x in scaled])
    own = np.array([[float(x) for x in v] for v in vectors]).reshape(-1, n)
    if len(own):
        own = own / np.array([float(s) for s in units.scale])
        own = own / np.linalg.norm(own, axis=1, keepdims=True)
    return _least(c, own, n, d), -_least(-c, own, n, d)


def _matrix_signs(c: Any, n: int, rank: int) -> tuple[int, int]:
    """By eigenvalues; the matrix vanishes on the point's own r directions."""
    M = mpmath.matrix(n, n)
    k = 0
    for i in range(n):
        for j in range(i, n):
            M[i, j] = M[j, i] = c[k] if i == j else c[k] / 2
            k += 1
    values = sorted(mpmath.eigsy(M, eigvals_only=True))
    order = sorted(range(n), key=lambda i: abs(values[i]))
    others = sorted(values[i] for i in order[rank:])
    if not others:
        return 0, 0
    zero = mpmath.mpf(10) ** -25
    return tuple(0 if abs(x) <= zero else (1 if x > 0 else -1) for x in (others[0], others[-1]))  # type: ignore[return-value]


def _least(c: Any, own: Any, n: int, d: int) -> int:
    """The sign of the least value of Σ c_I u^I over unit u, other than the zeros at the point's own neurons."""
    rng = np.random.default_rng(7)
    U = [rng.standard_normal((160, n)), np.eye(n), -np.eye(n)]
    for v in own:
        U += [s * v + size * rng.standard_normal((24, n)) for s in (1, -1) for size in (0.3, 0.03)]
    u = np.concatenate(U)
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    step = np.full(len(u), 0.3)
    value = monomials(u, d) @ c
    for _ in range(200):
        gradient = np.einsum("bM,xMN,N->bx", monomials(u, d - 1), _raising(n, d), c, optimize=True)
        gradient -= np.einsum("bx,bx->b", gradient, u)[:, None] * u
        trial = u - step[:, None] * gradient / (np.linalg.norm(gradient, axis=1, keepdims=True) + 1e-300)
        trial /= np.linalg.norm(trial, axis=1, keepdims=True)
        new = monomials(trial, d) @ c
        better = new < value
        u, value = np.where(better[:, None], trial, u), np.where(better, new, value)
        step = np.where(better, step * 1.5, step / 3)
    if value.min() < -CLEAR:
        return -1
    second = np.einsum("yLM,xMN->xyLN", _raising(n, d - 1), _raising(n, d))
    for v in own:  # near a zero the slope is its second derivative, off v itself
        H = np.einsum("L,xyLN,N->xy", monomials(v, d - 2), second, c, optimize=True)
        basis = np.linalg.svd(v[None])[2][1:]
        lowest = float(np.linalg.eigvalsh(basis @ H @ basis.T)[0])
        if lowest < -CLEAR:
            return -1
        if lowest < CLEAR:
            return 0
    away = [x for x, y in zip(value, u, strict=True) if all(abs(y @ v) < 0.999 for v in own)]
    return 1 if not away or min(away) > CLEAR else 0


def allowed(precise: Precise, units: Units, point: Refined | None) -> frozenset[str]:
    """The kinds that a true critical point may have (None: the zero tensor); "minimum" may be global or local."""
    if point is None:
        positive = negative = rank = 0
        signature, faint = (0, 0, 0), False
        slope = precise.slope(np.array([mpmath.mpf(0)] * len(precise.target)))
        vectors: Any = []
    else:
        positive, negative = point.stratum.count_signs(point.p)
        rank, signature, faint, slope = point.rank, point.signature, point.faint, point.slope
        vectors = point.p.reshape(-1, precise.given.n) if isinstance(point.stratum, Powers) else []
    size = max(abs(x) for x in precise.slope(np.array([mpmath.mpf(0)] * len(precise.target))))
    if max(abs(x) for x in slope) <= size * mpmath.mpf(10) ** -40:
        return frozenset({"global minimum"})
    rooms = room(precise, positive, negative)
    plus, zero, minus = signature
    low, high = slope_signs(precise, units, slope, rank, vectors) if any(rooms) else (0, 0)
    descends = (rooms[0] and low < 0) or (rooms[1] and high > 0)
    touches = (rooms[0] and low == 0) or (rooms[1] and high == 0)
    blurred = frozenset({"degenerate"}) if faint else frozenset()
    if minus or descends:
        top = minus and not plus and not zero and not any(rooms)
        return (SADDLE | {"local maximum"} if top else SADDLE) | (blurred if not descends else frozenset())
    if zero or touches:
        return OPEN
    return MINIMUM | blurred
