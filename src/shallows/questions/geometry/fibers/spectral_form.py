"""From any quadratic network, inside its fiber, to a spectral form (the first half of paper 000, Theorem 37's proof).

A spectral form has a = ±1 on exactly rank S neurons, W₊ᵀW₊ = S₊ and W₋ᵀW₋ = S₋ (the positive and negative parts of
S), and all other neurons zero. It minimises the energy Σ|aᵢ|‖wᵢ‖² in the fiber, and the energy decreases all the way:

1. idle neurons (a = 0 or w = 0) go to zero, the others are rescaled to a = ±1;
2. W → W(Π + (1−t)(1−Π)), Π the projector onto the range of S. As S = ΠSΠ this keeps S. It removes at one stroke
   what the paper treats as the isotropic case: neurons that cancel along null vectors of S;
3. the columns of W now span a subspace of R^r on which J = diag(a) is non-degenerate, so with a J-orthonormal basis of
   its complement W = M D for M ∈ O(p, q) and D the rows √|λ|vᵀ. In Cartan's coordinates M = exp(P) K, and the boost
   exp(−tP) W leads to K D, K ∈ O(p) × O(q);
4. within each sign a rotation gathers the s₊ (s₋) independent rows, and the cancelled ones are zero: now idle.
"""

from __future__ import annotations

import numpy as np

from shallows.questions.geometry.fibers.components import Spectrum
from shallows.questions.geometry.fibers.motions import PlaneMotion, Rescale, Rows, in_rows
from shallows.questions.geometry.paths import State, Trail
from shallows.support.checks import Array

#: Neurons with a smaller share of Σ|aᵢ|‖wᵢ‖² have no part in S: below ε of it.
IDLE = 1e-17
#: W₊W₋ᵀ below this share of ‖W‖² is rounding; a second boost removes what rounding left of the first, a third is spare.
COUPLING = 1e-13
BOOSTS = 3


def to_spectral_form(state: State, spectrum: Spectrum) -> Trail:
    """The trail from (a, W) to a spectral form."""
    trail = Trail(state)
    rest_idle_neurons(trail)
    if np.any(np.abs(trail.state[0][trail.state[0] != 0.0]) != 1.0):
        trail.add(Rescale.to_signs(trail.state))
    if spectrum.rank < trail.state[1].shape[1]:
        trail.go("contract the null space of S", W=trail.state[1] @ spectrum.projector)
    for _ in range(BOOSTS):
        if not _boost(trail, spectrum):
            break
    for sign in (1, -1):
        _gather(trail, spectrum, sign)
    return trail


def rest_idle_neurons(trail: Trail) -> None:
    """Neurons without a part in S (a = 0, w = 0, or a term below rounding) go to a = 0, then to w = 0."""
    a, W = trail.state
    terms = np.abs(a) * np.sum(W * W, axis=1)
    idle = terms <= IDLE * np.sum(terms)
    trail.go("let idle neurons rest", a=np.where(idle, 0.0, a))
    trail.go("let idle neurons rest", W=np.where(idle[:, None], 0.0, W))


def _boost(trail: Trail, spectrum: Spectrum) -> bool:
    """One boost that makes W₊W₋ᵀ = 0; False when there is nothing to do. A second one removes rounding."""
    a, W = trail.state
    plus, minus = np.flatnonzero(a > 0), np.flatnonzero(a < 0)
    if not len(plus) or not len(minus):
        return False
    coupling = np.linalg.norm(W[plus] @ W[minus].T)
    if coupling <= COUPLING * np.sum(W * W):
        return False
    top, bottom = _negative_frame(W[plus], W[minus], spectrum)
    planes = boost_planes(top, bottom, plus, minus, len(a))
    trail.add(
        PlaneMotion.of("boost positive against negative neurons", trail.state, *planes, hyperbolic=True)
    )
    return True


def boost_planes(
    top: Array, bottom: Array, plus: Rows, minus: Rows, width: int
) -> tuple[Array, Array, Array]:
    """Planes (U, V) and angles of exp(−P), M = exp(P) K, from the negative columns (top; bottom) of M ∈ O(p, q)."""
    U, sinh, R = np.linalg.svd(top, full_matrices=False)
    V, triangle = np.linalg.qr(bottom @ R.T / np.sqrt(1 + sinh**2))
    V = V * np.where(np.diag(triangle) < 0, -1.0, 1.0)
    return in_rows(U, plus, width), in_rows(V, minus, width), np.arcsinh(sinh)


def _negative_frame(W_plus: Array, W_minus: Array, spectrum: Spectrum) -> tuple[Array, Array]:
    """The negative columns of M ∈ O(p, q) with W = M D, in rows of a > 0 (p × q) and of a < 0 (q × q)."""
    p, q = len(W_plus), len(W_minus)
    stacked = np.vstack([W_plus, W_minus])
    negative = stacked @ spectrum.factor(-1)
    if negative.shape[1] < q:
        positive = stacked @ spectrum.factor(1)
        J = np.concatenate([np.ones(p), -np.ones(q)])[:, None]
        basis = np.linalg.qr(J * np.hstack([positive, negative]), mode="complete")[0][:, spectrum.rank :]
        values, vectors = np.linalg.eigh(basis.T @ (J * basis))
        count = q - negative.shape[1]
        negative = np.hstack([negative, basis @ vectors[:, :count] / np.sqrt(np.abs(values[:count]))])
    return negative[:p], negative[p:]


def _gather(trail: Trail, spectrum: Spectrum, sign: int) -> None:
    """Rotate the neurons of one sign so that only as many as S has eigenvalues of that sign are not zero.

    The direct rotation of the column space of K = W₊ V₊ λ₊^(−1/2) onto the first s₊ coordinates, by principal angles.
    """
    a, W = trail.state
    rows = np.flatnonzero(np.sign(a) == sign)
    factor = spectrum.factor(sign)
    keep = factor.shape[1]
    if len(rows) == keep:
        return
    kept, dropped = rows[:keep], rows[keep:]
    if keep and np.any(W[dropped]):
        K = W[rows] @ factor
        A, _, B = np.linalg.svd(K[:keep])
        planes = slice(
            -1, -min(keep, len(dropped)) - 1, -1
        )  # widest angles first: the direction of a zero is noise
        start, off = A[:, planes], (K[keep:] @ B.T)[:, planes]
        V, triangle = np.linalg.qr(off)
        V = V * np.where(np.diag(triangle) < 0, -1.0, 1.0)
        cosine = np.sum(start * (K[:keep] @ B.T)[:, planes], axis=0)
        angles = -np.arctan2(np.abs(np.diag(triangle)), cosine)
        width = len(a)
        U, V = in_rows(start, kept, width), in_rows(V, dropped, width)
        trail.add(PlaneMotion.of("rotate cancelled neurons to zero", trail.state, U, V, angles))
    gone = np.zeros(len(a), dtype=bool)
    gone[dropped] = True
    trail.go("let cancelled neurons rest", W=np.where(gone[:, None], 0.0, trail.state[1]))
    trail.go("let cancelled neurons rest", a=np.where(gone, 0.0, trail.state[0]))
