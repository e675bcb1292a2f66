"""`DeepQuadraticRegressor`: deep quadratic-linear networks as a scikit-learn regressor (paper 002, section 3.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from shallows.mathematics.tensors import coordinates
from shallows.questions.learn.deep.full_width import full_width
from shallows.questions.learn.deep.layers import Shape, forward
from shallows.questions.learn.deep.training import DeepRuns, train_deep
from shallows.questions.learn.estimators.base import FormRegressor, as_columns
from shallows.questions.learn.fitting.frame import homogenise
from shallows.questions.learn.fitting.least_squares import Solution
from shallows.questions.learn.fitting.solve import solve, warn_undetermined
from shallows.questions.learn.proofs.form import layer_values
from shallows.questions.learn.proofs.optimality import Optimality, mean_square_ball
from shallows.support.checks import Array, positive_integer
from shallows.support.errors import InvalidProblem

#: Depth that is solved globally, at most: degree 16.
DEEPEST = 4
RELAXATION = "least squares on features of degree 2^L"


class DeepQuadraticRegressor(FormRegressor):
    """A deep quadratic-linear network of L layers, a polynomial of degree 2^L in the inputs (paper 002, Theorem 3.3).

    - `layers`: a depth L, for a network of full width, whose global optimum is least squares on features of degree 2^L
      (appendix F, remark 4); or the hidden sizes (h_1, …, h_{L−1}), for one that is trained from `runs` starts.
    - `affine`: append the homogenising coordinate; `alpha`: ridge penalty of the least squares.
    - `descent`, `penalty`, `iterations`, `runs`: see `train_deep`.

    Fitted: `certificate_` (against the least-squares optimum), `optimality_gap_`, `shape_`, `runs_` (trained networks),
    `undetermined_`.

    >>> X = np.random.default_rng(0).standard_normal((300, 2))
    >>> model = sh.learn.DeepQuadraticRegressor(layers=2).fit(X, X[:, 0] ** 4 - X[:, 0] * X[:, 1])
    >>> model.predict([[2.0, 1.0]]).round(6).tolist(), model.certificate_.proved   # 16 − 2, and no network is better
    ([14.0], True)
    """

    def __init__(
        self,
        layers: int | Sequence[int] = 2,
        *,
        affine: bool = True,
        alpha: float | str = 0.0,
        method: str = "auto",
        descent: str = "lbfgs",
        penalty: float = 0.0,
        iterations: int = 2000,
        runs: int = 10,
        certify: bool = True,
        random_state: int | np.random.Generator = 0,
    ) -> None:
        self.layers = layers
        self.affine = affine
        self.alpha = alpha
        self.method = method
        self.descent = descent
        self.penalty = penalty
        self.iterations = iterations
        self.runs = runs
        self.certify = certify
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Solve (a depth) or train (hidden sizes)."""
        X, y, weights = self._check_samples(X, y, sample_weight, reset=True)
        self._check_common("global", ("global",))
        self._single = np.ndim(y) == 1
        Y = as_columns(y)
        if isinstance(self.layers, int | np.integer):
            self._solve(X, Y, weights, positive_integer("layers", self.layers))
        else:
            self._train(X, Y, weights, tuple(self.layers))
        self.optimality_gap_ = self.certificate_.gap
        return self

    def _solve(self, X: Array, Y: Array, weights: Array, depth: int) -> None:
        if depth > DEEPEST:
            raise InvalidProblem(
                f"layers={depth} is a polynomial of degree 2^{depth}; depths up to {DEEPEST} are solved globally. "
                "Give hidden sizes, such as layers=(20, 20), to train a deeper network."
            )
        self.alpha_, _ = self._chosen_alpha(X, Y, weights, 2**depth)
        solution, self.certificate_ = solve(
            X, Y, weights, self.affine, 2**depth, self.alpha_, self.method, self.certify
        )
        warn_undetermined(solution, self._column_names())
        self.undetermined_, self.n_iter_, self.runs_ = solution.undetermined, 1, None
        self._form: Solution | None = solution
        self.shape_ = Shape((X.shape[1] + self.affine, *self._full_sizes(X.shape[1], depth), Y.shape[1]))

    def _full_sizes(self, columns: int, depth: int) -> list[int]:
        return [coordinates.dimension(columns + self.affine, 2**l) for l in range(1, depth)]

    def _train(self, X: Array, Y: Array, weights: Array, hidden: tuple[int, ...]) -> None:
        if self.alpha:
            raise InvalidProblem(
                "alpha goes with a depth (layers=2); trained networks have `penalty` (equation F.1)."
            )
        runs: Any = train_deep(
            X, Y, hidden, self.runs, affine=self.affine, method=self.descent, penalty=self.penalty,
            iterations=self.iterations, sample_weight=weights, rng=self.random_state,
        )  # fmt: skip
        self.runs_, self.shape_, self._form, self.undetermined_ = runs, runs.shape, None, None
        self.n_iter_ = int(runs.iterations.max())
        layers = runs.shape.split(runs.thetas[runs.best])
        loss = mean_square_ball(layer_values(layers, homogenise(X, self.affine)), Y, weights)
        self.certificate_ = self._relaxation(X, Y, weights, runs).below(loss, loss, RELAXATION)

    def _relaxation(self, X: Array, Y: Array, weights: Array, runs: DeepRuns) -> Optimality:
        """The certificate of least squares on features of degree 2^L, which no network of this depth is below."""
        if runs.optimum is not None:
            return solve(X, Y, weights, self.affine, runs.shape.degree, 0.0, self.method, self.certify)[1]
        slope, reason = float(runs.stationarity[runs.best]), "too many features of its degree to solve"
        return Optimality(0.0, 0.0, 0.0, float("nan"), False, reason, slope, 0.0)

    def layers_of(self) -> tuple[Shape, Array]:
        """The network itself: its shape and parameters θ (`Shape.split` gives the matrices A_i of each layer)."""
        if self.runs_ is not None:
            return self.shape_, np.asarray(self.runs_.thetas[self.runs_.best])
        assert self._form is not None
        return full_width(self._form.original, self.shape_.sizes[0], self.shape_.depth)

    def predict(self, X: ArrayLike) -> Array:
        """f(x), of the shape of y."""
        X = self._check_inputs(X)
        if self._form is not None:
            values = self._form.predict(X)
        else:
            values = forward(*self.layers_of(), homogenise(X, self.affine))
        return values[:, 0] if self._single else values
