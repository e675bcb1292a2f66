"""Paper 002, section 3.4 and appendices F and G: deep quadratic-linear and polynomial networks."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb

import numpy as np

import shallows as sh
from shallows.mathematics.tensors import coordinates
from shallows.questions.learn.deep.training import train_deep
from shallows.questions.learn.fitting.spanning_powers import spanning_directions
from shallows.support.checks import Array
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.outcome import Outcome, at_least, equal, fact


def _features(X: Array, degree: int) -> Array:
    """All monomials of that degree: what a network of that degree can see."""
    return np.asarray(coordinates.monomials(X, degree))


def _least_squares(X: Array, y: Array, degree: int) -> tuple[float, Array]:
    """The mean square residual of the best form of that degree, and its residuals."""
    F = _features(X, degree)
    solution, *_ = np.linalg.lstsq(F, y, rcond=1e-12)
    residual = y - F @ solution
    return float(np.mean(residual**2)), residual


def _data(trial: Trial, d: int, count: int) -> tuple[Array, Array]:
    X = trial.rng.standard_normal((count, d)) / np.sqrt(d)
    return X, trial.rng.standard_normal(count)


def _fitted(X: Array, y: Array) -> Array:
    """Predictions of the full-width network of two layers; its regressor needs the extra `learn`."""
    model = sh.learn.DeepQuadraticRegressor(layers=2, affine=False)
    return np.asarray(model.fit(X, y).predict(X))


@claim(
    "002",
    "Lemma F.1",
    "A deep network is global iff Σ rₙ xₙ^{⊗2^L} = 0.",
    control=("a network of too few neurons", {"hidden": 1}),
)
def lemma_f_1(trial: Trial, hidden: int | None = None) -> Iterator[Outcome]:
    """Moments of the residuals of the full-width network, and of a trained narrow one."""
    for d in (2, 3):
        X, y = _data(trial, d, 80)
        if hidden is None:
            residual = y - _fitted(X, y)
        else:
            runs = train_deep(X, y, hidden=(hidden,), runs=3, rng=trial.rng, progress=False)
            residual = y - runs.predict(X)[:, 0]
        moments = _features(X, 4).T @ residual / len(y)
        scale = float(np.linalg.norm(_features(X, 4)) / np.sqrt(len(y)))
        yield equal(float(np.linalg.norm(moments)) / scale, 1e-7, f"d={d}: Σ r x^⊗4 over its size")


@claim(
    "002",
    "Theorem F.1",
    "Deep networks of full width: stationary points are global or strict saddles (also Theorem 3.3).",
    control=("hidden width 1", {"hidden_of": lambda d: 1}),
)
def theorem_f_1(trial: Trial, hidden_of: object = None) -> Iterator[Outcome]:
    """Training errors from random orthonormal starts against least squares on degree-4 features."""
    for d in (2, 3):
        X, y = _data(trial, d, 100)
        best, _ = _least_squares(X, y, 4)
        hidden = hidden_of(d) if callable(hidden_of) else d * d
        runs = train_deep(X, y, hidden=(hidden,), runs=len(trial.times(4, 20)), rng=trial.rng, progress=False)
        for loss in runs.losses:
            yield equal(float(loss) - best, 1e-6, f"d={d}, h₁={hidden}: excess over the optimum {best:.4f}")


@claim(
    "002",
    "Remark F.1-1",
    "Two quadratic-linear layers are one regression on quartic features.",
    control=("cubic features", {"degree": 3}),
)
def remark_f_1_1(trial: Trial, degree: int = 4) -> Iterator[Outcome]:
    """Predictions of a random two-layer network are an exact form of degree four."""
    for d in (2, 3):
        X, y = _data(trial, d, 120)
        runs = train_deep(X, y, hidden=(3,), runs=1, iterations=3, rng=trial.rng, progress=False)
        outputs = runs.predict(X)[:, 0]
        left, _ = _least_squares(X, outputs, degree)
        yield equal(
            left / float(np.mean(outputs**2)),
            1e-18,
            f"d={d}: what features of degree {degree} leave of its output",
        )


@claim(
    "002",
    "Remark F.1-2",
    "Linear layers between quadratic ones can be absorbed: forms of any matrix are enough.",
    control=("forms without their off-diagonal part", {"diagonal": True}),
)
def remark_f_1_2(trial: Trial, diagonal: bool = False) -> Iterator[Outcome]:
    """QΛQᵀ with its linear layer Λ and the plain matrix A = QΛQᵀ compute the same hidden layer."""
    for d in (2, 4):
        for _ in trial.times(3, 20):
            X = trial.rng.standard_normal((30, d))
            Q, lam = trial.rng.standard_normal((d, 5)), trial.rng.standard_normal(5)
            A = (Q * lam) @ Q.T
            if diagonal:
                A = np.diag(np.diag(A))
            gap = np.abs(((X @ Q) ** 2) @ lam - np.einsum("ni,ij,nj->n", X, A, X)).max()
            yield equal(float(gap), 1e-10, f"d={d}: two layers against one form")


@claim(
    "002",
    "Remark F.1-3",
    "In practice far fewer neurons than the theorem asks for reach the optimum.",
    control=("one neuron", {"hidden": 1}),
)
def remark_f_1_3(trial: Trial, hidden: int = 4) -> Iterator[Outcome]:
    """The best of a few trained networks with d²/4 and fewer hidden neurons on planted labels."""
    d = 4
    X = trial.rng.standard_normal((400, d)) / 2
    forms = trial.rng.standard_normal((2, d, d))
    hiddens = np.einsum("ni,kij,nj->nk", X, forms, X)
    y = hiddens[:, 0] ** 2 - hiddens[:, 1] ** 2 + 0.5 * hiddens[:, 0] * hiddens[:, 1]
    runs = train_deep(X, y, hidden=(hidden,), runs=len(trial.times(6, 20)), rng=trial.rng, progress=False)
    yield equal(float(runs.nmse.min()), 1e-6, f"d={d}, h₁={hidden} of d² = {d * d}: {runs!r}")


@claim(
    "002",
    "Remark F.1-4",
    "The optimum of depth L is least squares on features of degree 2^L.",
    control=("degree 2", {"degree": 2}),
)
def remark_f_1_4(trial: Trial, degree: int = 4) -> Iterator[Outcome]:
    """The full-width regressor's loss against least squares on monomials."""
    for d in (2, 3, 4):
        X, y = _data(trial, d, 150)
        loss = float(np.mean((y - _fitted(X, y)) ** 2))
        best, _ = _least_squares(X, y, degree)
        yield equal(abs(loss - best), 1e-8, f"d={d}: {loss:.8f} against {best:.8f}")


@claim(
    "002",
    "Remark F.1-5",
    "The number of neurons that a form of degree 2^L needs is its rank, at most dim Sym.",
    control=("at most d", {"bound_of": lambda d, degree: d}),
)
def remark_f_1_5(trial: Trial, bound_of: object = None) -> Iterator[Outcome]:
    """Upper bounds of the filling width, and ranks of spanning sets of powers."""
    for d, degree in ((2, 4), (3, 4), (2, 8)):
        bound = bound_of(d, degree) if callable(bound_of) else comb(d + degree - 1, degree)
        lower, upper = sh.filling_width(degree, d)
        yield at_least(bound, upper, f"d={d}, degree {degree}: r_fill in {lower}..{upper}, dim Sym = {bound}")


@claim(
    "002",
    "Theorem G.1",
    "Activation z^p, C(d+p−1, p) neurons q_I = Σ e_i: from λ = 0 descent reaches the global minimum.",
    control=("one neuron fewer", {"missing": 1}),
)
def theorem_g_1(trial: Trial, missing: int = 0) -> Iterator[Outcome]:
    """The powers of the q_I span all forms, and the regressor's loss is that of least squares on features."""
    for d, p in ((2, 3), (3, 3), (3, 4)):
        directions = spanning_directions(d, p)[missing:]
        rank = int(np.linalg.matrix_rank(_features(directions, p)))
        yield fact(
            rank == comb(d + p - 1, p),
            f"d={d}, p={p}: {len(directions)} neurons span {rank} of {comb(d + p - 1, p)}",
        )
        X, y = _data(trial, d, 120)
        model = sh.learn.PolynomialNetRegressor(degree=p, affine=False).fit(X, y)
        best, _ = _least_squares(X, y, p)
        yield equal(
            abs(float(np.mean((y - model.predict(X)) ** 2)) - best), 1e-8, f"d={d}, p={p}: the optimum"
        )
