"""Which critical functions in special position are critical networks of three quadratic neurons, and of which.

At a critical network Σ aᵢ ⊗ wᵢ² the slopes E_m, half the gradient of the loss as forms, vanish at every wᵢ, and
Σ_m a_mi E_m wᵢ = 0. Neurons are special where these conditions depend on each other: where two or three outer weights
are parallel, or the weights lie in one plane U. Functions are critical among all of their kind first:

- p ⊗ q + a ⊗ w², q of rank 2 on U: p·E = 0 on U. Neurons of q are the zeros of c·E on U, c ⟂ p, real where it has both
  signs (`shared_networks`).
- p ⊗ Q, Q of rank 3 on V: p·E = 0 on V and c·E(Q) = 0. With Q = LηLᵀ, η = diag(±1), neurons are L times vectors that
  are orthonormal for η and zeros of K = Lᵀ(c·E)L. ηK has no trace, so one such vector of the sign that η has once is
  enough: K is a form of both signs without trace on the plane across it. They are real where K has zeros of that sign.
- R^M ⊗ Sym²(U): E_m = 0 on U, and E_m = v_m·l with l in the quotient by U. Outer weights are determined by any three
  neurons of U, and the conditions left are C(w₁, w₂, w₃) = 0 for the cubic forms C(x, y, z) = Σ_m S_m(Jy, Jz) v_m(x),
  one a coordinate of the quotient, S_m the function and J a quarter turn: symmetric, because Σ_m S_m v_m = 0. Such
  three are the roots of cubic forms that are apolar to all C, real for some where C is one.

Other networks of these functions have a slope, unless the forms above are zero: critical ones are saddles then.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.questions.charts.outputs.shared_map import Shared
from shallows.questions.charts.outputs.shared_networks import NOTHING, shared_pair
from shallows.questions.charts.outputs.special_map import Forms
from shallows.support.checks import Array

#: Of cubic forms that depend on a few numbers so many are looked at for one with three real roots.
TRIED = 100
#: A point of the border of the disk is moved inside by this share.
INSIDE = 1e-6
#: Halvings of a segment with a zero: to rounding.
HALVINGS = 60


@dataclass(frozen=True)
class Three:
    """Three neurons (3, n) and their outer weights (M, 3); `still` if no network of the function has a slope."""

    A: Array
    W: Array
    still: bool


def pair_beside_neuron(given: list[Forms], slopes: Array, size: float) -> Three | None:
    """p ⊗ q + a ⊗ w²; None where a is parallel to p, w in the plane of q, or the neurons are not real."""
    n, (p, S) = len(given[0].U), given[0].shared
    a, w = given[1].S[:, 0, 0], given[1].U[:, 0]
    U = np.linalg.qr(given[0].U)[0]
    S = U.T @ given[0].U @ S @ given[0].U.T @ U
    apart = a - p * (p @ a), w - U @ (U.T @ w)
    if any(
        np.linalg.norm(part) <= NOTHING * np.linalg.norm(x) for part, x in zip(apart, (a, w), strict=True)
    ):
        return None
    q = np.array([S[0, 0], 2 * S[0, 1], S[1, 1]])
    across = np.linalg.svd(p[None])[2][1:]
    pair = shared_pair(n, (2,), Shared(p, U, (q,)), across @ slopes, size)
    if pair is None:
        return None
    A = np.asarray(np.column_stack([np.outer(p, pair.weights), a]), np.float64)
    return Three(A, np.asarray(np.vstack([pair.V, w]), np.float64), pair.still)


def three_shared(given: list[Forms], slopes: Array, size: float) -> Three | None:
    """p ⊗ Q; None where Q has rank 2 or its neurons are not real."""
    n, (p, S) = len(given[0].U), given[0].shared
    U = np.linalg.qr(given[0].U)[0]
    values, vectors = np.linalg.eigh(U.T @ given[0].U @ S @ given[0].U.T @ U)
    if np.abs(values).min() <= NOTHING * np.abs(values).max():
        return None
    across = np.linalg.svd(p[None])[2][1:]
    forms = coordinates.slope_matrices(across @ slopes, n)
    sizes = [float(np.abs(form).max()) for form in forms]
    lead = int(np.argmax(sizes))
    L = U @ vectors * np.sqrt(np.abs(values))
    eta = np.sign(values)
    K, still = L.T @ forms[lead] @ L, bool(sizes[lead] <= NOTHING * size)
    X = np.eye(3) if still else _zero_frame(K, eta)
    if X is None:
        return None
    weights = np.einsum("ia,a,ia->i", X, eta, X)
    return Three(np.asarray(np.outer(p, weights), np.float64), X @ L.T, still)


def _zero_frame(K: Array, eta: Array) -> Array | None:
    """Rows xᵢ with xᵢᵀηxⱼ = ±δᵢⱼ and xᵢᵀK xᵢ = 0, where tr ηK = 0; None where they are not real."""
    first = _zero_of_sign(K, eta)
    if first is None:
        return None
    one = first * eta
    plane = np.linalg.svd(one[None])[2][1:]  # across the first, for η; η has one sign there
    form = plane @ (eta[:, None] * plane.T)
    values, vectors = np.linalg.eigh(form)
    frame = (vectors / np.sqrt(np.abs(values))).T @ plane
    bends = np.linalg.eigh(frame @ K @ frame.T)[1].T
    turned = np.array([bends[0] + bends[1], bends[0] - bends[1]]) / np.sqrt(2)
    return np.vstack([first, turned @ frame])


def _zero_of_sign(K: Array, eta: Array) -> Array | None:
    """x with xᵀKx = 0 and xᵀηx of the sign that η has once, of length one for η; any x where η has one sign."""
    if abs(eta.sum()) == len(eta):
        values, vectors = np.linalg.eigh(K)
        low, high = np.sqrt(max(-values[0], 0.0)), np.sqrt(max(values[-1], 0.0))
        x = high * vectors[:, 0] + low * vectors[:, -1]
        return np.asarray(x / np.linalg.norm(x))
    odd = int(np.argmin(eta * np.sign(eta.sum())))
    order = [k for k in range(3) if k != odd] + [odd]
    K = K[np.ix_(order, order)]
    found = _zero_in_disk(K)
    if found is None:
        return None
    x = np.zeros(3)
    x[order] = found
    return np.asarray(x / np.sqrt(abs(x @ (eta * x))))


def _zero_in_disk(K: Array) -> Array | None:
    """(y, 1) with ‖y‖ < 1 at which K vanishes, between places where it is least and greatest."""

    def value(y: Array) -> float:
        x = np.append(y, 1.0)
        return float(x @ K @ x)

    # on the border K is a sine of 2θ, one of θ and a constant: its slope has at most four zeros
    half, mixed = (K[0, 0] - K[1, 1]) / 2, K[0, 1]
    slope = [mixed + 1j * half, K[1, 2] + 1j * K[0, 2], 0.0, K[1, 2] - 1j * K[0, 2], mixed - 1j * half]
    angles = np.angle(np.roots(slope)) if np.any(slope) else np.zeros(1)
    places: list[Array] = [(1 - INSIDE) * np.array([np.cos(t), np.sin(t)]) for t in angles]
    places.append(np.zeros(2))
    if abs(np.linalg.det(K[:2, :2])) > 0:
        y = np.asarray(np.linalg.solve(K[:2, :2], -K[:2, 2]), np.float64)
        places += [y] if np.linalg.norm(y) < 1 - INSIDE else []
    low, high = min(places, key=value), max(places, key=value)
    if value(low) > 0 or value(high) < 0:
        return None
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if value(middle) < 0 else (low, middle)
    return np.append((low + high) / 2, 1.0)


def three_in_a_plane(given: list[Forms], slopes: Array, size: float) -> Three | None:
    """R^M ⊗ Sym²(U); None where no three neurons are real."""
    n = len(given[0].U)
    U = np.linalg.qr(given[0].U)[0]
    S = U.T @ given[0].U @ given[0].S @ given[0].U.T @ U
    rest = np.linalg.svd(U.T)[2][2:]
    v = np.einsum(
        "kx,mxy,ya->kma", rest, coordinates.slope_matrices(slopes, n), U
    )  # v_m, one a coordinate of the quotient
    J = np.array([[0.0, -1.0], [1.0, 0.0]])
    turned = J.T @ S @ J
    cubics = np.einsum("mbc,kma->kabc", turned, v)
    table = np.array([[C[0, 0, 0], C[0, 0, 1], C[0, 1, 1], C[1, 1, 1]] for C in cubics])
    unit = float(np.abs(S).max())
    still = bool(np.abs(table).max() <= NOTHING * size * unit)
    X = _apolar_roots(np.zeros((0, 4)) if still else table, unit * size)
    if X is None:
        return None
    A = np.linalg.solve(coordinates.monomials(X, 2).T, S[:, [0, 0, 1], [0, 1, 1]].T).T
    return Three(A, X @ U.T, still)


def _apolar_roots(cubics: Array, unit: float) -> Array | None:
    """Three different real w, unit vectors in rows, with C(w₁, w₂, w₃) = 0 for all cubic forms C, given by the entries
    C₀₀₀, C₀₀₁, C₀₁₁, C₁₁₁.

    Σ dₖ Cₖ = 0 for the coefficients of Π(x wᵢ₁ + y wᵢ₂) = Σ dₖ x^(3−k) y^k.
    """
    values, basis = (np.zeros(0), np.eye(4)) if not len(cubics) else np.linalg.svd(cubics)[1:]
    free = basis[int(np.count_nonzero(values > NOTHING * unit)) :]
    rng = np.random.default_rng(len(free))
    best, widest = None, NOTHING
    for _ in range(TRIED if len(free) > 1 else len(free)):
        d = rng.standard_normal(len(free)) @ free
        roots = np.roots(d)
        if len(roots) < 3 or np.abs(roots.imag).max() > NOTHING:
            continue
        W = np.column_stack([np.ones(3), -roots.real])
        W = W / np.linalg.norm(W, axis=1, keepdims=True)
        gap = min(abs(W[a, 0] * W[b, 1] - W[a, 1] * W[b, 0]) for a, b in ((0, 1), (0, 2), (1, 2)))
        if gap > widest:
            best, widest = W, gap
    return best
