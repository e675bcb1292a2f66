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

from shallows.mathematics.numerical_rank import rank_of
from shallows.mathematics.solvers.levenberg_marquardt import LevenbergMarquardt, Residual
from shallows.questions.charts.closure.term_map import TermMap
from shallows.support.checks import Array
from shallows.support.tolerances import TINY

#: Steps down, to a zero of the gradient in few unknowns, and Newton's in all.
DOWN, STEPS, LAST = 40, 60, 6
#: Eigenvalues below this share of the largest are zero, sizes of parameters taken out: merged neurons have small ones.
SINGULAR = 1e-13
#: A gradient below this share of the sizes of its terms is zero.
CRITICAL = 1e-11
#: What is added to normal equations, parameters scaled; eigenvalues of Hessians below this are not divided by.
DAMPED = 1e-14


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
    map_: TermMap, linear: NDArray[np.bool_], starts: Array, gram: Array, right: Array, rank: int
) -> Array:
    """Where steps from the starts end, those at which the gradient is zero, and Hessian and D have the `rank` of the
    map; `linear` tells the parameters that s is linear in."""
    search = _Search(Derivatives(map_), linear, gram, right)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        x = search.nearest(starts[:, ~linear])
        if not linear.all():
            x[::2] = stepped(search.residuals, x[::2], DOWN)
            x = search.nearest(stepped(search.reduced, x[:, ~linear], STEPS))
        for _ in range(LAST):
            x = x + _newton(*search.whole(x))
        gradient, hessian, size = search.derivatives.at(x, gram, right)
        arrived = np.all(np.abs(gradient) <= CRITICAL * size, axis=1) & np.isfinite(x).all(axis=1)
    there, D = x[arrived], search.derivatives.slopes(x[arrived])[1]
    regular = [
        _has_rank(H, rank) and _has_rank(S @ gram @ S.T, rank)
        for H, S in zip(hessian[arrived], D, strict=True)
    ]
    return np.asarray(there[np.array(regular, bool)])


def descended(
    map_: TermMap, linear: NDArray[np.bool_], starts: Array, gram: Array, right: Array, steps: int
) -> Array:
    """The loss, but for a constant, after so many steps down from the starts."""
    search = _Search(Derivatives(map_), linear, gram, right)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        ended = stepped(search.residuals, search.nearest(starts[:, ~linear]), steps)
        losses = (search.residuals(ended)[0] ** 2).sum(axis=1)
    return np.where(np.isfinite(losses), losses, np.inf)


def stepped(residual: Residual, starts: Array, steps: int) -> Array:
    """So many steps of all runs."""
    runs = LevenbergMarquardt(residual, starts)
    for _ in range(steps):
        runs.step()
    return runs.theta


@dataclass(frozen=True, eq=False)
class _Search:
    """What is to be zero, or small, and its derivatives."""

    derivatives: Derivatives
    linear: NDArray[np.bool_]
    gram: Array
    right: Array

    def residuals(self, x: Array) -> tuple[Array, Array]:
        """Those whose squares add up to the loss, but for a constant."""
        s, slopes = self.derivatives.slopes(x)
        root = np.linalg.cholesky(self.gram)
        return s @ root - np.linalg.solve(root, self.right), (slopes @ root).transpose(0, 2, 1)

    def whole(self, x: Array) -> tuple[Array, Array]:
        """Half the gradients and Hessians."""
        return self.derivatives.at(x, self.gram, self.right)[:2]

    def reduced(self, bent: Array) -> tuple[Array, Array]:
        """Half the gradients and Hessians of the least loss over the parameters that s is linear in."""
        g, H = self.whole(self.nearest(bent))
        own, other = np.flatnonzero(~self.linear), np.flatnonzero(self.linear)
        cross = H[:, other[:, None], own]
        along = np.stack(
            [_solved(H[:, other[:, None], other], cross[:, :, k]) for k in range(len(own))], axis=2
        )
        return g[:, own], H[:, own[:, None], own] - cross.transpose(0, 2, 1) @ along

    def nearest(self, bent: Array) -> Array:
        """All parameters, from those that s is not linear in: the others are those of the nearest function."""
        x = np.zeros((len(bent), len(self.linear)))
        x[:, ~self.linear] = bent
        s, slopes = self.derivatives.slopes(x)
        D = slopes[:, self.linear]
        rest = np.einsum("spk,sk->sp", D, self.right - s @ self.gram)
        x[:, self.linear] = _solved(D @ self.gram @ D.transpose(0, 2, 1), rest)
        return x


def _solved(matrices: Array, right: Array) -> Array:
    """M⁻¹b for M without negative eigenvalues, singular ones slightly damped."""
    M, b, scales = _finite(matrices, right)
    return np.asarray(scales * np.linalg.solve(M + DAMPED * np.eye(M.shape[1]), b)[..., 0])


def _newton(gradient: Array, hessian: Array) -> Array:
    """−H⁻¹g, the least of all such steps for singular H."""
    H, g, scales = _finite(hessian, gradient)
    return np.asarray(-scales * (np.linalg.pinv(H, rcond=DAMPED, hermitian=True) @ g)[..., 0])


def _finite(matrices: Array, right: Array) -> tuple[Array, Array, Array]:
    """Matrices and columns in scaled parameters, zero for what is not a number, and the scales."""
    scales = _scales(matrices)
    scaled, b = matrices * scales[:, :, None] * scales[:, None, :], (right * scales)[..., None]
    return np.where(np.isfinite(scaled), scaled, 0.0), np.where(np.isfinite(b), b, 0.0), scales


def _scales(hessian: Array) -> Array:
    """A size for each parameter: curvatures along it are about one."""
    return np.asarray(1 / np.sqrt(np.abs(hessian).max(axis=2) + TINY))


def _has_rank(matrix: Array, rank: int) -> bool:
    """Whether so many eigenvalues are not zero: of a Hessian, or of DGDᵀ, which has fewer where functions have fewer
    dimensions."""
    return rank_of(np.abs(np.linalg.eigvalsh(rescaled(matrix))), SINGULAR) >= rank


def rescaled(hessian: Array) -> Array:
    """In parameters along which curvatures are about one: as many eigenvalues of each sign."""
    scales = _scales(hessian[None])[0]
    return np.asarray(hessian * scales[:, None] * scales)
