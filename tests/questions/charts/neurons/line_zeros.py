"""Critical networks in one input, saddles too, by least squares on the gradient: quadrature and derivatives by hand."""

import numpy as np

#: Steps of each run, and how far weights may run.
STEPS, FAR = 120, 1e4
#: A gradient below this, parameters scaled by curvatures, is zero; curvatures below this share are, too.
AT_REST, FLAT = 1e-9, 1e-7
#: Losses that agree so well are one.
ONE = 1e-7


class Quartics:
    """E (Σ aᵢ p(wᵢx + bᵢ) − y)² under N(0, 1), θ = (a, w, b)."""

    def __init__(self, coefficients, width, W, a, b):
        self.r = width
        self.p = np.polynomial.Polynomial(coefficients)
        self.x, mass = np.polynomial.hermite_e.hermegauss(2 * len(coefficients) + 2)
        self.mass = mass / mass.sum()
        self.y = sum(c * self.p(w * self.x + s) for c, w, s in zip(a, W, b, strict=True))
        self.size = float(self.mass @ self.y**2)

    def theta(self, network):
        return np.concatenate([np.ravel(network.a), network.W[:, 0], network.bias])

    def at(self, theta):
        """The loss, half its gradient and half its Hessian."""
        a, w, b = theta.reshape(3, self.r)
        z = w[:, None] * self.x + b[:, None]
        p, q, s = self.p(z), self.p.deriv()(z), self.p.deriv(2)(z)
        rest = a @ p - self.y
        rows = np.concatenate([p, a[:, None] * q * self.x, a[:, None] * q])
        H = (rows * self.mass) @ rows.T
        for i in range(self.r):
            own = [[0.0, q[i] * self.x, q[i]], [q[i] * self.x, a[i] * s[i] * self.x**2, a[i] * s[i] * self.x]]
            own.append([q[i], a[i] * s[i] * self.x, a[i] * s[i]])
            for j in range(3):
                for k in range(3):
                    H[j * self.r + i, k * self.r + i] += self.mass @ (rest * own[j][k])
        return float(self.mass @ rest**2), (rows * self.mass) @ rest, H

    @staticmethod
    def scaled(H):
        scales = 1 / np.sqrt(np.abs(H).max(axis=1))
        return H * scales[:, None] * scales

    def zeros(self, starts, rng):
        """Losses of isolated zeros, each once, by Levenberg and Marquardt's steps on the gradient."""
        found = []
        for k in range(starts):
            theta = self._ended(self._start(k, rng))
            loss, g, H = self.at(theta)
            scales = 1 / np.sqrt(np.abs(H).max(axis=1))
            values = np.abs(np.linalg.eigvalsh(self.scaled(H)))
            at_rest = np.linalg.norm(g * scales) < AT_REST * np.sqrt(self.size) and np.abs(theta).max() < FAR
            if at_rest and values.min() > FLAT and not any(abs(loss - x) < ONE * self.size for x in found):
                found.append(loss)
        return found

    def _start(self, k, rng):
        w = rng.standard_normal(self.r) * np.exp(rng.standard_normal(self.r))
        b = rng.standard_normal(self.r) * np.exp(0.5 * rng.standard_normal(self.r))
        root = np.sqrt(self.mass)
        values = self.p(w[:, None] * self.x + b[:, None])
        a = np.linalg.lstsq((values * root).T, self.y * root)[0]
        return np.concatenate([a * (rng.standard_normal(self.r) if k % 3 == 0 else 1.0), w, b])

    def _ended(self, theta):
        damping = 1e-2
        _, g, H = self.at(theta)
        for _ in range(STEPS):
            scales = 1 / np.sqrt(np.abs(H).max(axis=1) + 1e-300)
            M, own = H * scales[:, None] * scales, g * scales
            step = -scales * np.linalg.solve(M.T @ M + damping * np.eye(len(g)), M.T @ own)
            if not np.isfinite(step).all() or np.abs(theta + step).max() > FAR:
                return theta
            _, other, turned = self.at(theta + step)
            if np.linalg.norm(other * scales) < np.linalg.norm(own):
                theta, g, H, damping = theta + step, other, turned, max(damping / 5, 1e-15)
            else:
                damping = min(damping * 4, 1e6)
        return theta
