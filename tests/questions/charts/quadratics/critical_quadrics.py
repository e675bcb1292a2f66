"""Critical quadratic networks under Gaussian data by least squares from random starts: moments written by hand.

A quadric c + ℓ·x + xᵀQx is M = [[c, ℓᵀ/2], [ℓ/2, Q]] in (1, x), x ~ N(0, I), and

    E (c + ℓ·x + xᵀQx)² = (c + tr Q)² + |ℓ|² + 2 tr Q².

M = Σ ±uuᵀ is critical at its rank when Gu = 0, G the slope of the loss in M. Nothing here is from the package.
"""

import numpy as np
from scipy.optimize import least_squares

#: Where SciPy stops: at a few roundings.
STOP = 1e-15
#: Ends with a smaller slope, in units of the target, are critical; flat valleys to infinity end above it.
CRITICAL = 1e-10
#: Singular values below this share of the largest: of lower rank, and found as such.
LOWER = 1e-5
#: Vectors longer than this, in units of the target, are on their way to infinity.
FAR = 50.0
#: What is zero at points that are known to ten digits.
ZERO = 1e-8
#: Starts of several sizes: solutions are not all as large as the target.
SIZES = (0.3, 1.0, 2.0)


class Quadrics:
    """The loss of quadrics as a function of M; `constant` is "seen", "none" (c = 0) or "free" (the best there is)."""

    def __init__(self, target, constant):
        self.target, self.constant, self.size = np.array(target, float), constant, len(target)
        self.unit = np.abs(self.target).max()

    def loss(self, M):
        """E (f − y)²."""
        D = M - self.target
        mean = {"seen": D[0, 0], "none": -self.target[0, 0], "free": -np.trace(D[1:, 1:])}[self.constant]
        return (mean + np.trace(D[1:, 1:])) ** 2 + 4 * D[0, 1:] @ D[0, 1:] + 2 * np.sum(D[1:, 1:] ** 2)

    def slope(self, M):
        """G with dE = tr G dM; a constant that is no unknown has none."""
        D = M - self.target
        if self.constant == "none":
            D[0, 0] = -self.target[0, 0]
        return self.linear(D)

    def linear(self, D):
        """G of a difference, or of many."""
        trace = np.trace(D[..., 1:, 1:], axis1=-2, axis2=-1)
        mean = 0 * trace if self.constant == "free" else D[..., 0, 0] + trace
        G = 4 * D
        G[..., 1:, 1:] += 2 * mean[..., None, None] * np.eye(self.size - 1)
        G[..., 0, 0] = 2 * mean if self.constant == "seen" else 0.0
        return G

    def residual(self, M):
        """How far M is from critical, in units of the target."""
        G = self.slope(M)
        off, column = G @ M, G[:, 0]
        if self.constant != "seen" and np.abs(column).max() < ZERO * self.unit:
            return self._beside_linear(G[1:, 1:], M)
        if self.constant != "seen":  # M + c eeᵀ for some c
            off[:, 0] -= column * (column @ off[:, 0]) / (column @ column)
        return np.abs(off).max() / self.unit**2

    def _beside_linear(self, G, M):
        """At (ℓ, Q) with no slope in ℓ: GQ = 0, and uᵀGu = 0 for the part u of ℓ across Q, a vanished square."""
        Q, u = M[1:, 1:], M[1:, 0]
        u = u - Q @ np.linalg.pinv(Q, rcond=ZERO) @ u
        return max(np.abs(G @ Q).max(), abs(u @ G @ u) / self.unit) / self.unit**2

    def critical(self, rank, starts, rng):
        """Losses of critical matrices of a rank, from random ones of all signatures."""
        basis = np.eye(rank * self.size).reshape(-1, rank, self.size)
        scaled = Quadrics(self.target / self.unit, self.constant)
        for k in range(starts):
            signs = np.where(np.arange(rank) < k % (rank + 1), 1.0, -1.0)

            def matrix(x, signs=signs):
                U = x.reshape(rank, self.size)
                return U, (U.T * signs) @ U

            def equations(x):
                U, M = matrix(x)
                return (U @ scaled.slope(M)).ravel()

            def derivative(x, signs=signs):
                U, M = matrix(x)
                half = (U.T * signs) @ basis
                moved = scaled.linear(half + half.swapaxes(1, 2))
                return (basis @ scaled.slope(M) + U @ moved).reshape(len(basis), -1).T

            start = rng.choice(SIZES) * rng.standard_normal(len(basis))
            found = least_squares(equations, start, derivative, xtol=STOP, ftol=STOP, gtol=STOP, max_nfev=200)
            values = np.linalg.svd(found.x.reshape(rank, self.size))[1]
            regular = values[-1] > LOWER * values[0] and values[0] < FAR
            if np.abs(found.fun).max() < CRITICAL and regular:
                yield self.loss(matrix(found.x)[1] * self.unit)

    def networks(self, width, starts, rng):
        """Losses of critical networks Σ a(z + z²), z = w·x + b: M = Σ a(vvᵀ + (evᵀ + veᵀ)/2), v = (b, w)."""
        scaled, e = Quadrics(self.target / self.unit, "seen"), np.eye(self.size)[0]

        def matrix(x):
            a, V = x[:width], x[width:].reshape(width, self.size)
            half = (V.T * a) @ np.tile(e / 2, (width, 1))
            return a, V, (V.T * a) @ V + half + half.T

        def equations(x):
            a, V, M = matrix(x)
            G = scaled.slope(M)
            return np.concatenate([np.sum((V + e) @ G * V, axis=1), (a[:, None] * (2 * V + e) @ G).ravel()])

        for _ in range(starts):
            start = rng.choice(SIZES) * rng.standard_normal(width * (self.size + 1))
            found = least_squares(equations, start, xtol=STOP, ftol=STOP, gtol=STOP, max_nfev=100)
            if np.abs(found.fun).max() < CRITICAL and np.abs(found.x).max() < FAR:
                yield scaled.loss(matrix(found.x)[2]) * self.unit**2
