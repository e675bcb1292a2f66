"""Curves of powers: the Taylor coefficients in t of (w + tv + t²z)^⊗d."""

from __future__ import annotations

from typing import Any

import numpy as np

from shallows.mathematics.tensors import coordinates


def curve_coefficients(w: Any, v: Any, z: Any, degree: int) -> Any:
    """The entries of the coefficients of t⁰, …, t^(2d), (…, 2d+1, N), from values at roots of unity.

    >>> w, v = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    >>> np.rint(curve_coefficients(w, v, 0 * v, 2)[:3]).astype(int).tolist()     # (x + ty)²: xy has half of 2t
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    """
    count = 2 * degree + 1
    t = np.exp(2j * np.pi * np.arange(count) / count)[:, None]
    w, v, z = (np.asarray(vector) for vector in (w, v, z))
    values = coordinates.monomials(w[..., None, :] + t * v[..., None, :] + t * t * z[..., None, :], degree)
    found = np.fft.fft(values, axis=-2) / count
    is_real = not any(np.iscomplexobj(vector) for vector in (w, v, z))
    return found.real if is_real else found
