"""Paper 002, section 3.4 and appendix F: deep quadratic-linear networks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import comb

import numpy as np

import shallows as sh
from shallows.mathematics.tensors import coordinates
from shallows.questions.learn.deep.training import DeepRuns, train_deep
from shallows.questions.learn.fitting.spanning_powers import spanning_directions
from shallows.support.checks import Array
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.kazemipour.exact import exact_matrix
from shallows.uses.papers.mutations import DOUBLED, DROPPED, NEGATED, OFF_BY_ONE, Mutation, of_field
from shallows.uses.papers.outcome import Outcome, at_least, equal, proof

#: A distance to the optimum below this share of mean y² is none: L-BFGS leaves 1e-9 or so at full width.
EXCESS = 1e-4
OTHER_WEIGHTS = Mutation("other weights", lambda runs: replace(runs, thetas=1.1 * runs.thetas))


def features(X: Array, degree: int) -> Array:
    """All monomials of that degree: what a network of that degree can see."""
    return np.asarray(coordinates.monomials(X, degree))


def least_squares(X: Array, y: Array, degree: int) -> tuple[float, Array]:
    """The mean square residual of the best form of that degree, and its residuals."""
    F = features(X, degree)
    F = F / np.linalg.norm(F, axis=0)
    solution, *_ = np.linalg.lstsq(F, y, rcond=1e-12)
    residual = y - F @ solution
    return float(np.mean(residual**2)), residual


def data(trial: Trial, d: int, count: int) -> tuple[Array, Array]:
    """Gaussian inputs over √d and independent labels."""
    X = trial.rng.standard_normal((count, d)) / np.sqrt(d)
    return X, trial.rng.standard_normal(count)


def _moments(X: Array, residual: Array, degree: int) -> float:
    """‖Σ r x^{⊗p}‖ over ‖r‖ and the size of the features."""
    F = features(X, degree)
    return float(np.linalg.norm(F.T @ residual) / (np.linalg.norm(F) * np.linalg.norm(residual)))


def _forward(runs: DeepRuns, run: int, X: Array) -> Array:
    """The network's output layer by layer, written out: v ↦ (vᵀA_iv)_i."""
    v = X
    for layer in runs.shape.split(runs.thetas[run]):
        v = _layer(np.asarray(layer), v)
    return np.asarray(v[:, 0])


def _layer(layer: Array, v: Array) -> Array:
    """v ↦ (vᵀA_iv)_i, the A_i given by orthonormal coordinates: entries off the diagonal carry √2."""
    h = v.shape[1]
    rows, columns = np.triu_indices(h)
    forms = np.zeros((len(layer), h, h))
    forms[:, rows, columns] = layer / np.where(rows == columns, 1.0, np.sqrt(2.0))
    forms[:, columns, rows] = forms[:, rows, columns]
    return np.asarray(np.einsum("na,kab,nb->nk", v, forms, v))


@claim(
    "002",
    "Lemma F.1",
    "A network of depth L of full width is a global minimum if and only if Σ rₙ xₙ^{⊗2^L} = 0.",
    control=("the optimum of a lower degree", {"degree": 2}),
    tests={
        "shallows.learn.DeepQuadraticRegressor.predict": (DOUBLED, NEGATED),
        "shallows.learn.train_deep": (of_field("stationarity", OFF_BY_ONE), OTHER_WEIGHTS),
    },
)
def lemma_f_1(trial: Trial, degree: int = 4) -> Iterator[Outcome]:
    """Depth 2: moments of the residuals of the full-width regressor vanish and its loss is that of least squares;
    trained narrow networks are above it and have moments that do not vanish, also by the library's number."""
    for d in (2, 3):
        X, y = data(trial, d, 80)
        residual = y - sh.learn.DeepQuadraticRegressor(layers=2, affine=False).fit(X, y).predict(X)
        if degree != 4:
            residual = least_squares(X, y, degree)[1]
        best, scale = least_squares(X, y, 4)[0], float(np.mean(y**2))
        yield equal(_moments(X, residual, 4), 1e-7, f"d={d}: Σ r x^⊗4 over its size")
        yield equal(abs(float(np.mean(residual**2)) - best) / scale, 1e-9, f"d={d}: the loss is L*")
        runs = train_deep(X, y, hidden=(1,), runs=2, iterations=200, rng=trial.rng, progress=False)
        for run in range(2):
            left = y - _forward(runs, run, X)
            moments = features(X, 4) * np.sqrt(coordinates.multiplicities(d, 4))
            own = float(np.linalg.norm(moments.T @ left) / len(y))
            yield at_least(float(np.mean(left**2)) - best, 1e-6 * scale, f"d={d}, h₁=1: above L*")
            yield at_least(_moments(X, left, 4), 1e-6, f"d={d}, h₁=1: Σ r x^⊗4 ≠ 0")
            yield equal(
                abs(own / float(runs.stationarity[run]) - 1), 1e-6, f"d={d}: the library's stationarity"
            )


@claim(
    "002",
    "Theorem F.1",
    "Depth L of full width, h_l ≥ the dimension of the forms that the layer has to span, γ ≥ 0: stationary points "
    "that descent reaches are global or strict saddles (also Theorem 3.3). With γ > 0 it needs h₁ = d(d+1)/2, where"
    " Q̃ᵀQ̃ = I is possible.",
    control=("hidden width 1", {"narrow": True}),
    printed=("h₁ = d² with the penalty: Q̃ᵀQ̃ = I", {"squared": True}),
    tests={"shallows.learn.train_deep": (OTHER_WEIGHTS, of_field("losses", DOUBLED))},
)
def theorem_f_1(trial: Trial, narrow: bool = False, squared: bool = False) -> Iterator[Outcome]:
    """Two and three layers, γ = 0 and γ = mean y², from random orthonormal starts: the networks, run layer by
    layer, against least squares on features of degree 2^L, and the penalty ‖Q̃ᵀQ̃ − I‖² where γ > 0."""
    for d, depth, penalised in ((2, 2, False), (2, 2, True), (3, 2, True), (2, 3, False)):
        X, y = data(trial, d, 100)
        scale, full = float(np.mean(y**2)), d * (d + 1) // 2
        hidden = [d * d if squared else full, comb(full + 1, 2)][: depth - 1]
        hidden = [1] * (depth - 1) if narrow else hidden
        gamma = scale if penalised else 0.0
        best, _ = least_squares(X, y, 2**depth)
        runs = train_deep(
            X,
            y,
            hidden,
            runs=len(trial.times(2, 10)),
            penalty=gamma,
            rng=trial.rng,
            progress=False,
            iterations=5000,
        )
        what = f"d={d}, L={depth}, h={hidden}, γ={gamma:.2g}"
        for run in range(len(runs.losses)):
            loss = float(np.mean((y - _forward(runs, run, X)) ** 2))
            yield equal((loss - best) / scale, EXCESS, f"{what}: excess over the optimum {best:.4f}")
            yield equal(abs(loss - float(runs.losses[run])) / scale, 1e-9, f"{what}: the library's loss")
            if penalised:
                yield equal(_first_defect(runs, run, X), 1e-2, f"{what}: ‖Q̃ᵀQ̃ − I‖")


def _first_defect(runs: DeepRuns, run: int, X: Array) -> float:
    """‖Q̃ᵀQ̃ − I‖ of the first layer, in the units of training, where the mean of ‖x‖² is 2."""
    layer = np.asarray(runs.shape.split(runs.thetas[run])[0])
    Q = layer * float(np.mean(np.sum(X**2, axis=1))) / 2
    return float(np.linalg.norm(Q @ Q.T - np.eye(len(Q))))


@claim(
    "002",
    "Remark F.1-1",
    "Two quadratic-linear layers of any widths compute a form of degree four: one regression on quartic features.",
    control=("cubic features", {"degree": 3}),
    tests={"shallows.learn.DeepRuns.predict": (OFF_BY_ONE,)},
)
def remark_f_1_1(trial: Trial, degree: int = 4) -> Iterator[Outcome]:
    """Outputs of trained networks: what features of degree four leave of them, and their degree of homogeneity."""
    for d in (2, 3):
        X, y = data(trial, d, 120)
        runs = train_deep(X, y, hidden=(3,), runs=1, iterations=30, rng=trial.rng, progress=False)
        outputs = runs.predict(X)[:, 0]
        left, _ = least_squares(X, outputs, degree)
        size = float(np.mean(outputs**2))
        yield equal(left / size, 1e-18, f"d={d}: what features of degree {degree} leave of its output")
        error = float(np.abs(runs.predict(2 * X)[:, 0] - 2**degree * outputs).max() / np.abs(outputs).max())
        yield equal(error, 1e-9, f"d={d}: homogeneous of degree {degree}")


@claim(
    "002",
    "Remark F.1-2",
    "Linear layers between quadratic ones can be absorbed: (QΛ₁Qᵀ, …, QΛ_hQᵀ) are forms A_i, and any forms A_i are "
    "enough.",
    control=("forms without their off-diagonal part", {"diagonal": True}),
    tests={
        "shallows.Network.tensor": (
            Mutation("a factor 2", lambda T: sh.SymmetricTensor(2 * T.entries, T.n, T.degree)),
        )
    },
)
def remark_f_1_2(trial: Trial, diagonal: bool = False) -> Iterator[Outcome]:
    """A layer with integer Q and Λ, written out, against the matrix of the library's network, exactly."""
    for d in (2, 4):
        for _ in trial.times(3, 20):
            X = trial.rng.integers(-3, 4, (30, d))
            Q, lam = trial.rng.integers(-2, 3, (d, 5)), trial.rng.integers(-2, 3, 5)
            A = sh.Network(Q.T.astype(float), lam.astype(float)).tensor().to_matrix()
            if diagonal:
                A = np.diag(np.diag(A))
            whole = np.rint(A).astype(int)
            same = bool(np.array_equal(((X @ Q) ** 2) @ lam, np.einsum("ni,ij,nj->n", X, whole, X)))
            yield proof(same and bool(np.abs(A - whole).max() < 1e-9), f"d={d}: two layers against one form")


@claim(
    "002",
    "Remark F.1-3",
    "In practice far fewer neurons than the theorem asks for reach the optimum (observed): h₁ = 4 of d² = 16 on "
    "planted labels.",
    control=("one neuron", {"hidden": 1}),
    tests={"shallows.learn.train_deep": (OTHER_WEIGHTS,)},
)
def remark_f_1_3(trial: Trial, hidden: int = 4) -> Iterator[Outcome]:
    """The best of a few trained networks, run layer by layer, on labels of a network with two hidden forms."""
    d = 4
    X = trial.rng.standard_normal((400, d)) / 2
    forms = trial.rng.standard_normal((2, d, d))
    hiddens = np.einsum("ni,kij,nj->nk", X, forms, X)
    y = hiddens[:, 0] ** 2 - hiddens[:, 1] ** 2 + 0.5 * hiddens[:, 0] * hiddens[:, 1]
    runs = train_deep(X, y, hidden=(hidden,), runs=len(trial.times(8, 20)), rng=trial.rng, progress=False)
    nmse = min(
        float(np.mean((y - _forward(runs, run, X)) ** 2) / np.mean(y**2)) for run in range(len(runs.losses))
    )
    yield equal(nmse, 1e-6, f"d={d}, h₁={hidden} of d² = {d * d}: {runs!r}")


@claim(
    "002",
    "Remark F.1-4",
    "The optimum of a network of depth L and full width is that of least squares on features of degree 2^L.",
    control=("degree 2", {"degree": 2}),
    tests={
        "shallows.learn.DeepQuadraticRegressor.predict": (DOUBLED, NEGATED),
        "shallows.learn.DeepQuadraticRegressor.layers_of": (),
        "shallows.learn.train_deep": (of_field("optimum", DOUBLED), OTHER_WEIGHTS),
    },
)
def remark_f_1_4(trial: Trial, degree: int = 4) -> Iterator[Outcome]:
    """The full-width regressor, its layers run one by one, and trained networks of full width, against least
    squares on monomials, by NumPy."""
    for d in (2, 3):
        X, y = data(trial, d, 150)
        best, scale = least_squares(X, y, degree)[0], float(np.mean(y**2))
        model = sh.learn.DeepQuadraticRegressor(layers=2, affine=False).fit(X, y)
        loss = float(np.mean((y - model.predict(X)) ** 2))
        yield equal(abs(loss - best) / scale, 1e-8, f"d={d}: {loss:.8f} against {best:.8f}")
        shape, theta = model.layers_of()
        v = X
        for layer in shape.split(theta):
            v = _layer(np.asarray(layer), v)
        yield equal(float(np.abs(v[:, 0] - model.predict(X)).max()), 1e-6, f"d={d}: its layers, one by one")
        runs = train_deep(X, y, (d * (d + 1) // 2,), runs=2, rng=trial.rng, progress=False, iterations=5000)
        trained = float(np.mean((y - _forward(runs, runs.best, X)) ** 2))
        yield equal((trained - best) / scale, EXCESS, f"d={d}: a trained network")
        yield equal(abs((runs.optimum or 0.0) - best) / scale, 1e-8, f"d={d}: the library's optimum")


@claim(
    "002",
    "Remark F.1-5",
    "Every form of degree p = 2^L in d variables is a sum of at most dim Sym^p(R^d) = C(d+p−1, p) ≤ d^p powers of "
    "linear forms.",
    control=("at most d", {"fewer": True}),
    tests={
        "shallows.questions.learn.fitting.spanning_powers.spanning_directions": (DROPPED,),
        "shallows.filling_width": (Mutation("twenty more", lambda pair: (pair[0] + 20, pair[1] + 20)),),
    },
)
def remark_f_1_5(trial: Trial, fewer: bool = False) -> Iterator[Outcome]:
    """The powers of C(d+p−1, p) integer directions span all forms, by an exact rank; random integer forms are
    written by them, exactly; and the library's filling width is at most that."""
    for d, degree in ((2, 4), (3, 4), (2, 8)):
        size = comb(d + degree - 1, degree)
        directions = np.rint(spanning_directions(d, degree)).astype(int)[: d if fewer else None]
        table = exact_matrix(
            [
                [int(x) for x in row]
                for row in np.rint(features(directions.astype(float), degree)).astype(object)
            ]
        )
        what = f"d={d}, degree {degree}: {len(directions)} powers of rank {table.rank()} of {size}"
        yield proof(table.rank() == size <= d**degree, what)
        form = exact_matrix([[int(x)] for x in trial.rng.integers(-9, 10, size)])
        written = table.transpose().solve(form)
        yield proof(table.transpose() * written == form, f"{what}: a random form")
        lower, upper = sh.filling_width(degree, d)
        yield proof(
            lower <= upper <= size, f"d={d}, degree {degree}: r_fill in {lower}..{upper}, dim Sym = {size}"
        )
