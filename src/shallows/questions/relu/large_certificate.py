"""Strict minima of wide ReLU networks, proved in doubles with error bounds: thousands of weights.

Over the ball of radius r around W let H ≥ m > 0 and let ‖∇L(W)‖ < m r. Then L is strictly convex there and increases at
the border, so that exactly one critical point lies in the ball, a strict minimum, within ‖∇L(W)‖/m of W.

H over the ball is a matrix of doubles and a bound on the norm of the rest (`arrays.Ball`: rounding, and what moving
each weight by r does). Its smallest eigenvalue is bounded by a Cholesky factorization of H − σI: if that runs through
in floating point, λ ≥ σ − γ/(1−γ)·tr(H − σI), γ = γ_(N+1) (S. M. Rump, BIT 46, 433-452, 2006).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.mathematics.balls.arrays import SLACK, UNIT, Ball, gamma, raised, raised_number
from shallows.mathematics.exclusion.rounding import LIBRARY
from shallows.support.checks import Array
from shallows.support.errors import NotConverged

#: The ball is so many times wider than the distance that is expected.
ROOM = 8.0
#: The shift σ, as a share of the smallest eigenvalue as Lanczos estimates it, and Lanczos' accuracy.
SHIFT, LANCZOS = 0.9, 1e-4
#: sin θ below which a student and a teacher are treated as perhaps parallel: at more, n̂ is known to eight digits.
PARALLEL = 1e-7
#: π as a double is off by less than 1.3e-16; a square root and the bound on it are rounded once each, and so are its
#: middle and half its width where it may vanish.
PI_ERROR, ROOTED, HALVED = 4 * UNIT, 2 * UNIT, 4 * UNIT


@dataclass(frozen=True, eq=False)
class LargeProof:
    """A lower bound on eigenvalues over the ball, the estimate at its middle, how far the minimum is, and its loss."""

    bound: float
    smallest: float
    radius: float
    loss_bounds: tuple[float, float]


@dataclass(frozen=True, eq=False)
class _Angles:
    """Of each student with all students and teachers: g, ρ, π − θ, s = ‖w‖² and the squares of all; e = (a, −b)."""

    g: Ball
    rho: Ball
    rest: Ball
    s: Ball
    squares: Ball
    e: Array


def large_proof(W: Array, outer: Array, V: Array, b: Array) -> LargeProof:
    """The proof for students W with outer weights, against teachers V with outer weights b, under N(0, I)."""
    with np.errstate(all="ignore"):
        slope = _gradient(Ball.exact(W), outer, V, b).norm()
        matrix, rest = _hessian(Ball.exact(W), outer, V, b)
        smallest = _smallest(matrix)
        if not smallest > 0:
            raise NotConverged(
                f"No minimum is proved near this network: the smallest Hessian eigenvalue is about {smallest:.3g}."
            )
        del matrix
        r = ROOM * (slope + UNIT * float(np.linalg.norm(W))) / smallest
        matrix, rest = _hessian(Ball(W, np.full(W.shape, r)), outer, V, b)
        bound = _definite(matrix, SHIFT * smallest) - raised_number(rest, 8)
    if not bound * r * (1 - SLACK) > slope:
        raise NotConverged(
            f"No minimum is proved near this network: the gradient is {slope:.2g}, eigenvalues are above {bound:.2g} "
            f"within {r:.2g}. Polish it to a gradient of about 1e-10 first."
        )
    radius = raised_number(slope / bound, 2)
    loss = _loss(W, outer, V, b)
    drop = raised_number(slope * radius, 2)  # convex: no more than the slope times the way
    return LargeProof(bound, smallest, radius, (float(loss.lower) - drop, float(loss.upper)))


def _angles(W: Ball, outer: Array, V: Array, b: Array) -> _Angles:
    both = Ball(np.concatenate([W.mid, V]), np.concatenate([W.rad, np.zeros(V.shape)]))
    g = W @ both.T
    squares = (both * both).sum(axis=1)
    s = squares[: len(W.mid)]
    product = Ball(s.mid[:, None], s.rad[:, None]) * Ball(squares.mid[None], squares.rad[None])
    rho = _root(product - g * g)
    # atan2 has slope 1/√(st) at (ρ, g), and at most twice that on the way to the true point
    away = 2 * raised(rho.rad + g.rad, 2) / np.sqrt(np.maximum(product.lower, 0.0))
    rest = np.arctan2(rho.mid, -g.mid)
    known = Ball(rest, raised(np.where(away < 1.0, away, np.pi) + LIBRARY * np.pi, 3))
    own = np.arange(len(W.mid))
    rho.mid[own, own] = rho.rad[own, own] = 0.0
    known.mid[own, own], known.rad[own, own] = np.pi, PI_ERROR
    return _Angles(g, rho, known, s, squares, np.concatenate([outer, -b]))


def _loss(W: Array, outer: Array, V: Array, b: Array) -> Ball:
    """Σ eᵢeⱼ (ρ + (π−θ)g)/2π over all pairs of students and teachers."""
    everyone = np.concatenate([W, V])
    with np.errstate(all="ignore"):
        at = _angles(Ball.exact(everyone), np.concatenate([outer, -b]), V[:0], b[:0])
        terms = at.rho + at.rest * at.g
        total = (terms * Ball.rounded(np.outer(at.e, at.e), 1)).sum()
    return total * Ball.rounded(np.asarray(0.5 / np.pi), 3)


def _root(square: Ball) -> Ball:
    """√q: off by at most rad/√mid where q is positive, and between 0 and √(mid + rad) where it may vanish."""
    positive = square.lower > 0
    mid = np.sqrt(np.maximum(square.mid, 0.0))
    top = raised(np.sqrt(np.maximum(square.upper, 0.0)), 2)
    under = np.where(positive, mid, 1.0)
    rad = np.where(positive, raised(square.rad / under + ROOTED * mid, 3), 0.5 * top * (1 + HALVED))
    return Ball(np.where(positive, mid, 0.5 * top), rad)


def _gradient(W: Ball, outer: Array, V: Array, b: Array) -> Ball:
    """(aᵢ/π) Σⱼ eⱼ ((ρ_ij/sᵢ) wᵢ + (π−θ_ij) uⱼ)."""
    at = _angles(W, outer, V, b)
    weights = Ball.exact(np.broadcast_to(at.e, at.rho.mid.shape))
    both = Ball(np.concatenate([W.mid, V]), np.concatenate([W.rad, np.zeros(V.shape)]))
    radial = (weights * at.rho).sum(axis=1) / at.s
    pull = (weights * at.rest) @ both
    return _over_pi(Ball(radial.mid[:, None], radial.rad[:, None]) * W + pull, outer[:, None])


def _over_pi(x: Ball, factor: Array) -> Ball:
    """factor·x/π, with π rounded to a double."""
    ratio = Ball.rounded(np.asarray(factor / np.pi), 3)
    return Ball(np.broadcast_to(ratio.mid, x.mid.shape), np.broadcast_to(ratio.rad, x.mid.shape)) * x


def _hessian(W: Ball, outer: Array, V: Array, b: Array) -> tuple[Array, float]:
    """The lower triangle of ∇²L in doubles, and a bound on the norm of all that is left out."""
    at = _angles(W, outer, V, b)
    k, n = W.mid.shape
    H = np.zeros((k, n, k, n))
    rows = np.zeros((k, n))
    loose = 0.0
    for i in range(k):
        block, beside = _diagonal(W, V, at, outer, i)
        H[i, :, i, :] = block.mid
        rows[i] += np.maximum(block.rad, block.rad.T).sum(axis=1)
        loose = max(loose, beside)
        if i:
            mixed = _mixed(W, at, outer, i)
            H[i, :, :i, :] = mixed.mid.transpose(1, 0, 2)
            rows[i] += mixed.rad.sum(axis=(0, 2))
            rows[:i] += mixed.rad.sum(axis=1)
    spread = raised_number(float(rows.max()), k * n)
    return H.reshape(k * n, k * n), raised_number(spread + loose, 2)


def _diagonal(W: Ball, V: Array, at: _Angles, outer: Array, i: int) -> tuple[Ball, float]:
    """aᵢ²I + (aᵢ/π)[λ(I − ŵŵᵀ) + Σⱼ eⱼ vⱼvⱼᵀ/(s²ρ)], vⱼ = s uⱼ − g wᵢ, λ = Σ eⱼρ/s; perhaps parallel ones by norm."""
    n = W.mid.shape[1]
    s, w = at.s[i : i + 1], W[i]
    others = np.arange(len(at.e)) != i
    rho, g = at.rho[i][others], at.g[i][others]
    e = Ball.exact(at.e[others])
    u = Ball(np.concatenate([W.mid, V])[others], np.concatenate([W.rad, np.zeros(V.shape)])[others])
    size = np.sqrt(at.squares.mid[others] * s.mid)
    apart = rho.lower > PARALLEL * size
    level = ((e * rho).sum() if len(e.mid) else Ball.exact(np.zeros(()))) / Ball(s.mid[0], s.rad[0])
    vectors = _outer(s, u[apart]) - _outer(g[apart], w)
    scale = Ball(
        s.mid[0] * s.mid[0],
        raised(np.asarray(2 * s.mid[0] * s.rad[0] + s.rad[0] ** 2 + UNIT * s.mid[0] ** 2), 4),
    )
    weights = e[apart] / (rho[apart] * Ball(np.full(apart.sum(), scale.mid), np.full(apart.sum(), scale.rad)))
    weighted = Ball(vectors.mid.T, vectors.rad.T) * Ball(weights.mid[None], weights.rad[None])
    bend = weighted @ vectors
    square = Ball(w.mid[:, None], w.rad[:, None]) * Ball(w.mid[None], w.rad[None])
    share = Ball(level.mid, level.rad) / Ball(s.mid[0], s.rad[0])
    flat = Ball(np.eye(n) * level.mid, np.eye(n) * level.rad) - square * Ball(
        np.full((n, n), share.mid), np.full((n, n), share.rad)
    )
    whole = _over_pi(flat + bend, outer[i]) + Ball.exact(np.eye(n) * outer[i] ** 2)
    beside = raised_number(
        float(np.abs(outer[i]) / np.pi * np.sum(np.abs(e.mid) * raised(rho.upper, 1) * ~apart) / s.lower[0]),
        len(at.e) + 4,
    )
    return whole, beside


def _outer(coefficients: Ball, rows: Ball) -> Ball:
    """Each row times its coefficient; one of the two may be a single one."""
    column = Ball(coefficients.mid[:, None], coefficients.rad[:, None])
    line = rows if rows.mid.ndim == 2 else Ball(rows.mid[None], rows.rad[None])
    shape = np.broadcast_shapes(column.mid.shape, line.mid.shape)
    return Ball(np.broadcast_to(column.mid, shape), np.broadcast_to(column.rad, shape)) * Ball(
        np.broadcast_to(line.mid, shape), np.broadcast_to(line.rad, shape)
    )


def _mixed(W: Ball, at: _Angles, outer: Array, i: int) -> Ball:
    """(aᵢaⱼ/π)((π−θ)I + (w vᵀ + v wᵀ)/ρ − g (w wᵀ/s + v vᵀ/t)/ρ) for all j < i: (i, n, n)."""
    rho, g, rest = at.rho[i][:i], at.g[i][:i], at.rest[i][:i]
    if not np.all(rho.lower > 0):
        j = int(np.argmin(rho.lower))
        raise NotConverged(
            f"Neurons {j} and {i} may be parallel or opposite: nothing is proved of wide networks there."
        )
    n = W.mid.shape[1]
    one = Ball.exact(np.ones(i))
    alpha, tilt = one / rho, g / rho
    s, t = Ball(np.full(i, at.s.mid[i]), np.full(i, at.s.rad[i])), at.s[:i]
    w, v = W[i], W[:i]
    # (w + x v)ᵀ-shaped: w·p_j + v_j·q_j with p = αv − (g/ρs)w and q = αw − (g/ρt)v
    p = _outer(alpha, v) - _outer(tilt / s, w)
    q = _outer(alpha, w) - _outer(tilt / t, v)
    first = _tensor(Ball(np.broadcast_to(w.mid, p.mid.shape), np.broadcast_to(w.rad, p.mid.shape)), p)
    whole = first + _tensor(v, q)
    eye = np.broadcast_to(np.eye(n), (i, n, n))
    whole = whole + Ball(rest.mid[:, None, None] * eye, rest.rad[:, None, None] * eye)
    return _over_pi(whole, (outer[i] * outer[:i])[:, None, None])


def _tensor(x: Ball, y: Ball) -> Ball:
    """xⱼyⱼᵀ for each j."""
    return Ball(x.mid[:, :, None], x.rad[:, :, None]) * Ball(y.mid[:, None, :], y.rad[:, None, :])


def _smallest(matrix: Array) -> float:
    """An estimate of the smallest eigenvalue, from the lower triangle."""
    from scipy.linalg.blas import dsymv
    from scipy.sparse.linalg import LinearOperator, eigsh

    N = len(matrix)
    start = np.random.default_rng(0).standard_normal(N)
    upper = matrix.T  # Fortran order: its upper triangle is the lower one of the rows
    operator = LinearOperator((N, N), matvec=lambda x: dsymv(1.0, upper, x, lower=0), dtype=np.float64)
    values = eigsh(operator, k=1, which="SA", tol=LANCZOS, v0=start, return_eigenvectors=False)
    return float(values[0])


def _definite(matrix: Array, shift: float) -> float:
    """A proved lower bound on the eigenvalues of the symmetric matrix with this lower triangle, which is used up."""
    from scipy.linalg import LinAlgError, cholesky

    N = len(matrix)
    place = np.arange(N)
    before = matrix[place, place].copy()
    matrix[place, place] -= shift
    trace = raised_number(float(np.sum(np.abs(matrix[place, place]))), N)
    moved = raised_number(UNIT * float(np.max(np.abs(before)) + abs(shift)), 3)
    try:
        cholesky(matrix.T, lower=False, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return float("-inf")
    share = gamma(N + 1) / (1 - gamma(N + 1))
    return shift - raised_number(share * trace, 4) - moved
