"""Real critical points of a stratum from random starts: a search, which may miss some.

At a critical point the parameters that the function is linear in are those of the nearest function: they are functions
of the others, so that few unknowns are left. From random starts every second one descends at first; then all take
Levenberg-Marquardt steps to where the gradient ½∇ = D(Gs − b) is zero, in these few unknowns, at last in all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shallows.questions.charts.closure.term_map import TermMap
from shallows.support.checks import Array
from shallows.support.tolerances import TINY

#: Steps down, to a zero of the gradient in few unknowns, and in all.
DOWN, STEPS, LAST = 40, 40, 10
#: Eigenvalues below this share of the largest are zero, sizes of parameters taken out: merged neurons have small ones.
SINGULAR = 1e-13
#: A gradient below this share of the sizes of its terms is zero.
CRITICAL = 1e-11
#: Damping: at first, its factors after steps that are taken and that are not, and bounds.
FIRST, LESS, MORE, LEAST, MOST = 1e-2, 0.2, 4.0, 1e-14, 1e8


@dataclass(frozen=True, eq=False)
class Derivatives:
    """Values, slopes and curvatures of a map at many points."""

    map: TermMap

    @cached_property
    def _tables(self) -> list[tuple[tuple[int, ...], NDArray[np.intp], Array, NDArray[np.intp]]]:
        """For no, one or two parameters: exponents, coefficients and entries of the derivative's terms."""
        m, terms = self.map.unknowns, self.map.terms
        exponents = np.zeros((len(terms), m), np.intp)
        for k, term in enumerate(terms):
            for p, e in term.factors:
                exponents[k, p] = e
        coefficients = np.array([float(term.coefficient) for term in terms])
        entry = np.array([term.entry for term in terms], np.intp)
        found = []
        for along in [(), *((p,) for p in range(m)), *((p, q) for p in range(m) for q in range(p, m))]:
            left, factor = exponents.copy(), coefficients.copy()
            for p in along:
                factor = factor * left[:, p]
                left[:, p] -= 1
            kept = factor != 0
            found.append((along, left[kept], factor[kept], entry[kept]))
        return found

    def _terms(self, x: Array, order: int) -> Iterator[tuple[tuple[int, ...], Array, NDArray[np.intp]]]:
        """The terms of all derivatives of this order at all points, and their entries."""
        powers = np.stack([x**k for k in range(self.map.degree + 1)])
        for along, exponents, factor, entry in self._tables:
            if len(along) == order:
                values = np.broadcast_to(factor, (len(x), len(factor))).copy()
                for p in np.flatnonzero(exponents.any(axis=0)):
                    values *= powers[exponents[:, p], :, p].T
                yield along, values, entry

    def slopes(self, x: Array) -> tuple[Array, Array]:
        """s and D, points one a row."""
        unit = np.eye(self.map.entries)
        (s,) = (values @ unit[entry] for _, values, entry in self._terms(x, 0))
        return s, np.stack([values @ unit[entry] for _, values, entry in self._terms(x, 1)], axis=1)

    def at(self, x: Array, gram: Array, right: Array) -> tuple[Array, Array, Array]:
        """Half the gradients, half the Hessians and the sizes of the gradients' terms; points one a row."""
        s, slopes = self.slopes(x)
        e, size = s @ gram - right, np.abs(s) @ np.abs(gram) + np.abs(right)
        hessian = slopes @ gram @ slopes.transpose(0, 2, 1)
        for (p, q), values, entry in self._terms(x, 2):
            bend = (values * e[:, entry]).sum(axis=1)
            hessian[:, p, q] += bend
            if p != q:
                hessian[:, q, p] += bend
        gradient = np.einsum("spk,sk->sp", slopes, e)
        return gradient, hessian, np.einsum("spk,sk->sp", np.abs(slopes), size)


def critical_points(
    map_: TermMap, linear: NDArray[np.bool_], starts: Array, gram: Array, right: Array
) -> Array:
    """Where steps from the starts end, those at which the gradient is zero, and Hessian and D are regular; `linear`
    tells the parameters that s is linear in."""
    search = _Search(Derivatives(map_), linear, gram, right)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        x = search.nearest(starts)
        x[::2] = search.nearest(_lower(search.derivatives, x[::2], gram, right))
        x = search.run(x, STEPS, reduced=True)
        x = search.run(x, LAST, reduced=False)
        gradient, hessian, size = search.derivatives.at(x, gram, right)
        arrived = np.all(np.abs(gradient) <= CRITICAL * size, axis=1) & np.isfinite(x).all(axis=1)
    there, D = x[arrived], search.derivatives.slopes(x[arrived])[1]
    regular = [
        _is_regular(H) and _is_regular(S @ gram @ S.T) for H, S in zip(hessian[arrived], D, strict=True)
    ]
    return np.asarray(there[np.array(regular, bool)])


@dataclass(frozen=True, eq=False)
class _Search:
    """Levenberg-Marquardt steps for ∇ = 0, for many points at once."""

    derivatives: Derivatives
    linear: NDArray[np.bool_]
    gram: Array
    right: Array

    def run(self, x: Array, steps: int, reduced: bool) -> Array:
        """So many of them; `reduced` to the parameters that s is not linear in, the others following."""
        damping, seen = np.full(len(x), FIRST), self._seen(x, reduced)
        for _ in range(steps):
            step = _step(*seen, damping)
            tried = x.copy()
            if reduced:
                tried[:, ~self.linear] += step
                tried = self.nearest(tried)
            else:
                tried += step
            new = self._seen(tried, reduced)
            better = _defect(new[0], seen[1]) < _defect(*seen)
            x = np.where(better[:, None], tried, x)
            seen = (
                np.where(better[:, None], new[0], seen[0]),
                np.where(better[:, None, None], new[1], seen[1]),
            )
            damping = np.clip(np.where(better, damping * LESS, damping * MORE), LEAST, MOST)
        return x

    def nearest(self, x: Array) -> Array:
        """With the parameters of the nearest function."""
        s, slopes = self.derivatives.slopes(x)
        D = slopes[:, self.linear]
        g = np.einsum("spk,sk->sp", D, s @ self.gram - self.right)
        moved = x.copy()
        moved[:, self.linear] += _step_of(g, D @ self.gram @ D.transpose(0, 2, 1))
        return moved

    def _seen(self, x: Array, reduced: bool) -> tuple[Array, Array]:
        """Half the gradients and Hessians, of the loss or of its least over the linear parameters."""
        g, H, _ = self.derivatives.at(x, self.gram, self.right)
        if not reduced:
            return g, H
        own, other = np.flatnonzero(~self.linear), np.flatnonzero(self.linear)
        cross = H[:, other[:, None], own]
        along = np.stack(
            [_step_of(cross[:, :, k], H[:, other[:, None], other]) for k in range(len(own))], axis=2
        )
        return g[:, own], H[:, own[:, None], own] + cross.transpose(0, 2, 1) @ along


def _step_of(gradient: Array, hessian: Array) -> Array:
    """−H⁻¹g for positive definite H, singular ones slightly damped."""
    scales = _scales(hessian)
    H = np.nan_to_num(hessian * scales[:, :, None] * scales[:, None, :]) + LEAST * np.eye(hessian.shape[1])
    g = np.nan_to_num(gradient * scales)
    return np.asarray(-scales * np.linalg.solve(H, g[..., None])[..., 0])


def _lower(derivatives: Derivatives, x: Array, gram: Array, right: Array) -> Array:
    """Steps of Gauss and Newton, damped, that decrease the loss."""
    damping, (s, slopes) = np.full(len(x), FIRST), derivatives.slopes(x)
    loss = _quadratic(s, gram, right)
    for _ in range(DOWN):
        normal = slopes @ gram @ slopes.transpose(0, 2, 1)
        scales = _scales(normal)
        H = np.nan_to_num(normal * scales[:, :, None] * scales[:, None, :])
        g = np.nan_to_num(np.einsum("spk,sk->sp", slopes, s @ gram - right) * scales)
        damped = H + damping[:, None, None] * np.eye(H.shape[1])
        tried = x - scales * np.linalg.solve(damped, g[..., None])[..., 0]
        new = derivatives.slopes(tried)
        lower = _quadratic(new[0], gram, right) < loss
        x, s = np.where(lower[:, None], tried, x), np.where(lower[:, None], new[0], s)
        slopes, loss = np.where(lower[:, None, None], new[1], slopes), _quadratic(s, gram, right)
        damping = np.clip(np.where(lower, damping * LESS, damping * MORE), LEAST, MOST)
    return x


def _quadratic(s: Array, gram: Array, right: Array) -> Array:
    """The loss but for a constant."""
    return np.asarray(np.einsum("sk,kl,sl->s", s, gram, s) - 2 * s @ right)


def _scales(hessian: Array) -> Array:
    """A size for each parameter: curvatures along it are about one."""
    return np.asarray(1 / np.sqrt(np.abs(hessian).max(axis=2) + TINY))


def _defect(gradient: Array, hessian: Array) -> Array:
    """The length of the gradient in these sizes; not a number is not better."""
    return np.asarray(np.linalg.norm(gradient * _scales(hessian), axis=1))


def _step(gradient: Array, hessian: Array, damping: Array) -> Array:
    """−(H² + λ)⁻¹ H g in scaled parameters."""
    scales = _scales(hessian)
    H = np.nan_to_num(hessian * scales[:, :, None] * scales[:, None, :])
    g = np.nan_to_num(gradient * scales)
    square = H @ H + damping[:, None, None] * np.eye(H.shape[1])
    return np.asarray(-scales * np.linalg.solve(square, (H @ g[..., None]))[..., 0])


def _is_regular(matrix: Array) -> bool:
    """Whether no eigenvalue is zero: of a Hessian, or of DGDᵀ, which is singular at functions of fewer dimensions."""
    values = np.abs(np.linalg.eigvalsh(rescaled(matrix)))
    return bool(values.min() > SINGULAR * values.max())


def rescaled(hessian: Array) -> Array:
    """In parameters along which curvatures are about one: as many eigenvalues of each sign."""
    scales = _scales(hessian[None])[0]
    return np.asarray(hessian * scales[:, None] * scales)
