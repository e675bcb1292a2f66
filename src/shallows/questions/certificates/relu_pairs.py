"""E[σ^(a)(X) σ^(b)(Y)] of two ReLU neurons under any Gaussian, with a bias or a mean, at balls.

X = u·x and Y = v·x have means α, β, deviations s, r and covariance c = sr cos θ. With f the density of X at 0 and,
given X = 0, Y of mean μ = β − cα/s² and deviation τ = r sin θ, t = μ/τ, M = E[Y₊|X = 0] = μΦ(t) + τφ(t),

    e₁₁ = P(X, Y > 0),  e₂₁ = fΦ(t),  e₂₂ = fφ(t)/τ,  e₂₀ = fM,  e₃₁ = −f(αΦ(t) + cφ(t)/τ)/s²,
    e₁₀ = βe₁₁ + ce₂₁ + r²e₁₂,      e₀₀ = αe₁₀ + s²e₂₀ + ce₁₁,

and with p = Σu, n = Σ(v − (c/s²)u), m̃ = m − (α/s²)p

    ∇₁∇₁k = E[δ(X) Y₊ xxᵀ] = fM (m̃m̃ᵀ + Σ − ppᵀ/s²) + fΦ(t)(m̃nᵀ + nm̃ᵀ) + f(φ(t)/τ) nnᵀ.

Where a box meets the parallel directions τ = 0: |nᵢ| ≤ √Σᵢᵢ τ, 0 ≤ M − max(μ, 0) ≤ 0.4τ, and P is within θ/2π of its
value at θ = 0 or π, since ∂P/∂θ lies between −1/2π and 0. That is for teachers; students that may be parallel are
refused. Of one input all neurons are parallel, and those of different thresholds have no density in common.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from flint import acb, arb, arb_mat

from shallows.questions.relu.balls import nonnegative_root
from shallows.support.errors import NotConverged

#: sin θ below which P is taken from the parallel case: it is known to this share of 1/4 then.
NEARLY_PARALLEL = 2.0**-36
#: Relative error asked of the quadrature of P.
ACCURATE = 2.0**-80
#: Evaluations after which the quadrature is given up: next to parallel neurons it may need very many.
EVALUATIONS = 3_000
#: φ(0) = 0.3989…, rounded up.
PEAK = 0.4


@dataclass(frozen=True, eq=False)
class ReLUNeuron:
    """A ReLU neuron under N(m, Σ): u, Σu, mean and deviation of X."""

    u: arb_mat
    turned: arb_mat
    mean: Any
    deviation: Any

    def __post_init__(self) -> None:
        if not self.deviation > 0:
            raise NotConverged(
                "A ReLU neuron may have no weights: it is a constant, and has no derivative there."
            )

    @cached_property
    def threshold(self) -> Any:
        """α/s."""
        return self.mean / self.deviation

    @cached_property
    def density(self) -> Any:
        """f, that of X at 0."""
        return _gauss(self.threshold) / self.deviation


class OneReLU:
    """k(u, v) at v = u, E X₊²."""

    def __init__(self, law: Any, neuron: ReLUNeuron) -> None:
        self.law, self.neuron = law, neuron
        self.share = normal_cdf(neuron.threshold)
        self.level = neuron.mean * self.share + neuron.deviation * _gauss(neuron.threshold)

    @property
    def value(self) -> Any:
        """(α² + s²)Φ + αsφ = αE X₊ + s²Φ."""
        return self.neuron.mean * self.level + self.neuron.deviation**2 * self.share

    def gradient(self) -> Any:
        """m E X₊ + pΦ."""
        return self.law.mean * self.level + self.neuron.turned * self.share

    def own(self) -> Any:
        """∇₁∇₁k = E[δ(X) X₊ xxᵀ] = 0."""
        n = self.law.mean.nrows()
        return arb_mat(n, n)

    def mixed(self) -> Any:
        """E[1_X xxᵀ] = Φ(Σ + mmᵀ) + f(mpᵀ + pmᵀ) − (fα/s²) ppᵀ."""
        m, p, f = self.law.mean, self.neuron.turned, self.neuron.density
        both = m * p.transpose()
        bend = f * self.neuron.mean / self.neuron.deviation**2
        matrix = (self.law.covariance + m * m.transpose()) * self.share + (both + both.transpose()) * f
        return matrix - p * p.transpose() * bend


class ReLUPair:
    """k and its derivatives for two ReLU neurons; `line`: of one input."""

    def __init__(self, law: Any, left: ReLUNeuron, right: ReLUNeuron, line: bool) -> None:
        self.law, self.left, self.right, self.line = law, left, right, line
        self.c = (left.turned.transpose() * right.u)[0, 0]
        scale = left.deviation * right.deviation
        self.cosine = (self.c / scale).intersection(arb(0, 1))
        gram = scale * scale - self.c * self.c
        self.sine = arb(0) if line else nonnegative_root(gram) / scale

    @property
    def apart(self) -> bool:
        """Whether the neurons are proved not to be parallel."""
        return bool(self.sine > 0)

    def _given(self, left: ReLUNeuron, right: ReLUNeuron) -> tuple[Any, Any, Any, Any]:
        """μ, τ, Φ(t) and φ(t)/τ of the right neuron where the left one is 0; the last None where τ may vanish."""
        mu = right.mean - self.c * left.mean / left.deviation**2
        tau = right.deviation * self.sine
        if self.apart:
            t = mu / tau
            return mu, tau, normal_cdf(t), _gauss(t) / tau
        least, most = mu.abs_lower(), tau.abs_upper()
        if most < least:  # Φ(t) is next to 0 or 1, and φ(μ/τ)/τ grows with τ
            beyond = arb(0) if most.is_zero() else normal_cdf(-least / most).abs_upper()
            ratio = arb(0) if most.is_zero() else (_gauss(least / most) / most).abs_upper()
            share = arb(0.5, 0.5) * beyond
            return mu, tau, 1 - share if mu > 0 else share, arb(0.5, 0.5) * ratio
        return mu, tau, arb(0.5, 0.5), None

    @cached_property
    def _right(self) -> tuple[Any, Any, Any, Any]:
        return self._given(self.left, self.right)

    @cached_property
    def _left(self) -> tuple[Any, Any, Any, Any]:
        return self._given(self.right, self.left)

    @cached_property
    def M(self) -> Any:
        """E[Y₊|X = 0]."""
        mu, tau, cdf, ratio = self._right
        if ratio is not None:
            return mu * cdf + tau * tau * ratio
        return mu.max(arb(0)) + arb(0.5, 0.5) * (arb(PEAK) * tau).abs_upper()

    @cached_property
    def P(self) -> Any:
        """P(X > 0, Y > 0)."""
        h, g = self.left.threshold, self.right.threshold
        angle = arb(0.5, 0.5) * (self.sine.abs_upper() / 4)  # θ/2π ≤ sin θ/4 up to a right angle
        if self.cosine > 0:
            near = normal_cdf(h.min(g)) - angle
        elif self.cosine < 0:
            near = (normal_cdf(h) - normal_cdf(-g)).max(arb(0)) + angle
        else:
            near = arb(0.5, 0.5)
        if self.apart and self.sine > NEARLY_PARALLEL:
            found = orthant(h, g, self.cosine, self.sine)
            return found.intersection(near) if found.is_finite() else near
        return near

    @cached_property
    def e10(self) -> Any:
        """E[1_X Y₊]."""
        r = self.right.deviation
        if self._right[3] is None or self._left[3] is None:
            return self._parallel()
        first, second = self.left.density * self._right[2], self.right.density * self._left[2]
        value = self.right.mean * self.P + self.c * first + r * r * second
        steep = self.cosine > 0 or self.cosine < 0
        return value.intersection(self._parallel()) if steep else value

    def _parallel(self) -> Any:
        """E[1_X Y₊] next to parallel neurons of one threshold.

        For cos θ > 0 it is E Y₊ less at most E D₊, D = Y − (r/s)X: on X ≤ 0 < Y that is more than Y. For cos θ < 0 it
        is at most E D₊, D = Y + (r/s)X. E D₊ ≤ |E D| + r√(2 − 2|cos θ|), and that root is at most √2 sin θ.
        """
        left, right = self.left, self.right
        r, h, g = right.deviation, left.threshold, right.threshold
        wide = arb(2).sqrt() * self.sine
        if self.cosine > 0:
            whole = right.mean * normal_cdf(g) + r * _gauss(g)
            return whole - arb(0.5, 0.5) * (r * (abs(g - h) + wide)).abs_upper()
        return arb(0.5, 0.5) * (r * (abs(g + h) + wide)).abs_upper()

    @property
    def value(self) -> Any:
        """k."""
        s = self.left.deviation
        return self.left.mean * self.e10 + s * s * self.left.density * self.M + self.c * self.P

    def gradient(self) -> Any:
        """e₁₀m + e₂₀p + e₁₁q."""
        left, right = self.left, self.right
        return self.law.mean * self.e10 + left.turned * (left.density * self.M) + right.turned * self.P

    def _normal(self) -> Any:
        """n = Σ(v − (c/s²)u)."""
        return self.right.turned - self.left.turned * (self.c / self.left.deviation**2)

    def own(self) -> Any:
        """∇₁∇₁k."""
        left, law = self.left, self.law
        _, tau, cdf, ratio = self._right
        square = left.deviation**2
        m = law.mean - left.turned * (left.mean / square)
        p, f = left.turned, left.density
        matrix = (m * m.transpose() + law.covariance - p * p.transpose() / square) * (f * self.M)
        if self.line:
            if ratio is None:
                raise NotConverged(
                    "Two ReLU neurons of one input may have the same threshold: nothing is proved."
                )
            return matrix
        n = self._normal()
        both = m * n.transpose()
        matrix = matrix + (both + both.transpose()) * (f * cdf)
        if ratio is not None:
            return matrix + n * n.transpose() * (f * ratio)
        size = [law.covariance[i, i].abs_upper().sqrt() for i in range(n.nrows())]
        top = (arb(PEAK) * f * tau).abs_upper()
        return matrix + arb_mat([[arb(0, 1) * (top * a * b) for b in size] for a in size])

    def mixed(self) -> Any:
        """∇₁∇₂k."""
        left, right = self.left, self.right
        _, _, cdf, ratio = self._right
        other = self._left
        if ratio is None or other[3] is None:
            raise NotConverged(
                "Two neurons are parallel within the box: such a point is not isolated, nothing is proved."
            )
        f, g, c = left.density, right.density, self.c
        e21, e12, e22 = f * cdf, g * other[2], f * ratio
        e31 = -f * (left.mean * cdf + c * ratio) / left.deviation**2
        e13 = -g * (right.mean * other[2] + c * other[3]) / right.deviation**2
        middle = arb_mat([[self.P, e21, e12], [e21, e31, e22], [e12, e22, e13]])
        frame = arb_mat([self.law.mean.entries(), left.turned.entries(), right.turned.entries()])
        return frame.transpose() * middle * frame + self.law.covariance * self.P


def orthant(h: Any, g: Any, cosine: Any, sine: Any) -> Any:
    """P(z₁ > −h, z₂ > −g) at correlation cos θ: Φ(h)Φ(g) + ∫₀^arcsin cos θ e^(−(h² + g² − 2hg sin w)/2cos² w) dw/2π.

    The integral is at the midpoints (F. Johansson, "Numerical integration in arbitrary-precision ball arithmetic",
    2018); |∂P/∂h| and |∂P/∂g| are at most φ(0), |∂P/∂θ| at most 1/2π.
    """
    if h.is_zero() and g.is_zero():
        return arb(0.25) + arb.atan2(cosine, sine) / (2 * arb.pi())
    x, y, angle = h.mid(), g.mid(), arb.atan2(cosine, sine).mid()
    squares, product = acb(x * x + y * y), acb(2 * x * y)

    def integrand(w: Any, _: bool) -> Any:
        cos = w.cos()
        return (-(squares - product * w.sin()) / (2 * cos * cos)).exp()

    part = acb.integral(
        integrand, acb(0), acb(angle), rel_tol=arb(ACCURATE), abs_tol=arb(ACCURATE), eval_limit=EVALUATIONS
    ).real
    middle = normal_cdf(x) * normal_cdf(y) + part / (2 * arb.pi())
    spread = arb(PEAK) * (abs(h - x) + abs(g - y)) + abs(arb.atan2(cosine, sine) - angle) / (2 * arb.pi())
    return middle + arb(0, 1) * spread.abs_upper()


def normal_cdf(x: Any) -> Any:
    """Φ."""
    return (-x / arb(2).sqrt()).erfc() / 2


def _gauss(x: Any) -> Any:
    """φ."""
    return (-x * x / 2).exp() / (2 * arb.pi()).sqrt()
