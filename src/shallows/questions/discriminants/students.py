"""The real critical points of one (teacher, metric) on a student curve: where they are, their loss and their kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpz_poly

from shallows.mathematics.exact.binary_forms import primitive
from shallows.mathematics.newton import zeros
from shallows.mathematics.same_points import classes
from shallows.questions.discriminants.counting import count_at
from shallows.questions.discriminants.curves import EllipseCurve, RankOneCurve
from shallows.questions.discriminants.polynomial import Discriminant, as_discriminant
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem

#: Entries below this share of the largest are printed as 0: rounding.
_PRINTED_ZERO = 1e-14
#: Newton steps, each at most this long, that take zeros of F found to √ε or better to rounding.
_NEWTON_STEPS, _LONGEST_STEP = 30, 0.1
#: Where |F| is below this share of its largest Fourier coefficient, Newton's method has converged; elsewhere it is
#: still of the size of the coefficients.
_ON_THE_CURVE = 1e-9
#: Two zeros as close as this are one, found twice: teachers with a double zero were refused before.
_SAME_ANGLE = 1e-7


@dataclass(frozen=True, eq=False)
class CriticalStudent:
    """A critical point: its entries (a rank-one tensor's, or (x, y) on an ellipse), loss, kind and direction φ.

    >>> P = sh.discriminants.rank_one(2)
    >>> sh.discriminants.critical_students(P, data=sh.Frobenius(2), t00=3, t01=0, t11=1)        # Eckart-Young
    [CriticalStudent([3, 0, 0], loss=1, local minimum), CriticalStudent([0, 0, 1], loss=9, saddle)]
    """

    entries: Array
    loss: float
    kind: str
    angle: float

    def __repr__(self) -> str:
        zero = _PRINTED_ZERO * float(np.max(np.abs(self.entries)))
        shown = ", ".join(f"{value:.6g}" if abs(value) > zero else "0" for value in self.entries)
        return f"CriticalStudent([{shown}], loss={self.loss:.6g}, {self.kind})"


def critical_students(discriminant: Discriminant, **values: object) -> list[CriticalStudent]:
    """All real critical points at numbers for all variables, by increasing loss: the real zeros of F (`Discriminant`).

    Their number is proved (`landscape_at`); teachers on the discriminant or at the vertex wall are refused.

    >>> from shallows.discriminants import ellipse
    >>> critical_students(ellipse(4, 1), m11=1, m12=0, m22=1, x=5, y=0)[0]
    CriticalStudent([2, 0], loss=9, local minimum)
    """
    gram, target = as_discriminant(discriminant).numbers(**values)  # type: ignore[arg-type]
    expected = count_at(discriminant.curve, gram, target)
    if expected.on_discriminant or expected.at_vertex:
        raise InvalidProblem(
            "The teacher is on a wall: critical points have met, or one is at the zero tensor. Fix: move the teacher a "
            "little."
        )
    G, t = np.array(gram, dtype=np.float64), np.array(target, dtype=np.float64)
    angles = _angles(discriminant, gram, target, G, t)
    _, slope = discriminant.curve.lines(G, angles)
    teacher = np.concatenate([[1.0], t])
    found = [
        _student(discriminant, G, t, float(angle), float(derivative))
        for angle, derivative in zip(angles, slope @ teacher, strict=True)
    ]
    if len(found) != expected.real_count:
        raise InvalidProblem(
            f"{len(found)} critical points were found where there are {expected.real_count}."
        )
    return sorted(found, key=lambda student: student.loss)


def _angles(discriminant: Discriminant, gram: Any, target: Any, G: Array, t: Array) -> Array:
    """The directions φ of the real zeros of F."""
    curve = discriminant.curve
    if isinstance(curve, RankOneCurve):
        whole = primitive(curve.coefficients(gram, target))
        roots: Any = [root for f, _ in fmpz_poly(whole).factor_squarefree()[1] for root in f.complex_roots()]
        angles = [np.arctan(float(root.real.mid())) for root, _ in roots if root.imag == 0]
        return np.array(angles + ([np.pi / 2] if not whole[-1] else []))
    assert isinstance(curve, EllipseCurve)
    return _ellipse_angles(curve, G, t)


def _ellipse_angles(curve: EllipseCurve, G: Array, t: Array) -> Array:
    """F = Σ c_k e^{ikθ}, |k| ≤ 2, is real for real θ: its zeros on the unit circle, polished by Newton."""
    grid = 2 * np.pi * np.arange(8) / 8
    teacher = np.concatenate([[1.0], t])
    modes = np.fft.fft(curve.lines(G, grid)[0] @ teacher) / 8
    roots = np.roots([modes[2], modes[1], modes[0], modes[-1], modes[-2]])
    angles: Array = np.angle(roots).astype(np.float64)

    def loss_slope(angles: Array) -> tuple[Array, Array]:
        value, slope = curve.lines(G, angles)
        return value @ teacher, slope @ teacher

    angles = zeros(loss_slope, angles, _NEWTON_STEPS, _LONGEST_STEP)
    value, _ = loss_slope(angles)
    scale = float(np.max(np.abs(modes)))
    angles = np.mod(angles[np.abs(value) <= _ON_THE_CURVE * scale], 2 * np.pi)
    return angles[[rows[0] for rows in classes(np.exp(1j * angles)[:, None], _SAME_ANGLE)]]


def _student(discriminant: Discriminant, G: Array, t: Array, angle: float, slope: float) -> CriticalStudent:
    curve = discriminant.curve
    if isinstance(curve, EllipseCurve):
        a, b = curve.roots
        entries = np.array([a * np.cos(angle), b * np.sin(angle)])
        kind = "local minimum" if slope > 0 else "local maximum"
    else:
        d = len(t) - 1
        powers = np.cos(angle) ** np.arange(d, -1, -1) * np.sin(angle) ** np.arange(d + 1)
        strength = float(powers @ G @ t / (powers @ G @ powers))
        entries = strength * powers
        # the loss along the curve has derivative −pF/q²: a minimum where pF′ < 0
        kind = "local minimum" if strength * slope < 0 else "saddle"
    entries = entries + 0.0
    return CriticalStudent(entries, float((entries - t) @ G @ (entries - t)), kind, angle)
