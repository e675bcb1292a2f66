"""`PolynomialNetRegressor`: networks with activation z^p (paper 002, appendix G)."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from shallows.mathematics.tensors import coordinates
from shallows.model.activations import Power
from shallows.model.network import Network
from shallows.questions.learn.estimators.base import FormRegressor, as_columns
from shallows.questions.learn.fitting.frame import homogenise
from shallows.questions.learn.fitting.low_width import best_low_width
from shallows.questions.learn.fitting.solve import solve, warn_undetermined
from shallows.questions.learn.fitting.spanning_powers import realise
from shallows.questions.learn.proofs.form import power_values
from shallows.questions.learn.proofs.optimality import mean_square_ball
from shallows.support.checks import Array, positive_integer
from shallows.support.errors import InvalidProblem


class PolynomialNetRegressor(FormRegressor):
    """f(x) = Σᵢ λᵢ(qᵢ·z)^p with z = (x, 1): every polynomial of degree ≤ p in the inputs.

    With k = C(D+p−1, p) neurons in the directions q_I = e_{i1} + … + e_{ip} the powers span all forms, and
    training λ alone is least squares (paper 002, Theorem G.1 and remark 2): the optimum is global, with a
    certificate. A smaller `width` is trained (L-BFGS from `runs` starts), and `optimality_gap_` is its distance from
    that optimum.

    `alpha` is the ridge penalty of `QuadraticNetRegressor`, or "auto" or "loo".

    Fitted: `network_` (on homogenised inputs), `filters_`, `certificate_`, `optimality_gap_`, `undetermined_`.

    >>> X = np.random.default_rng(0).standard_normal((100, 2))
    >>> model = sh.learn.PolynomialNetRegressor(degree=3).fit(X, X[:, 0] ** 3 - 2 * X[:, 1] + 1)
    >>> model.predict([[2.0, 1.0]]).round(6).tolist(), model.network_.width   # 8 − 2 + 1, C(5, 3) neurons
    ([7.0], 10)
    """

    def __init__(
        self,
        degree: int = 3,
        width: int | None = None,
        *,
        affine: bool = True,
        alpha: float | str = 0.0,
        method: str = "auto",
        runs: int = 10,
        certify: bool = True,
        random_state: int | np.random.Generator = 0,
    ) -> None:
        self.degree = degree
        self.width = width
        self.affine = affine
        self.alpha = alpha
        self.method = method
        self.runs = runs
        self.certify = certify
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit from data in memory; y may have several columns."""
        X, y, weights = self._check_samples(X, y, sample_weight, reset=True)
        self._check_common("global", ("global",))
        degree = positive_integer("degree", self.degree)
        self._single, Y = np.ndim(y) == 1, as_columns(y)
        self.alpha_, _ = self._chosen_alpha(X, Y, weights, degree)
        solution, self.certificate_ = solve(
            X, Y, weights, self.affine, degree, self.alpha_, self.method, self.certify
        )
        warn_undetermined(solution, self._column_names())
        self._form, self.undetermined_, self.n_iter_ = solution, solution.undetermined, 1
        self._trained: tuple[Array, Array] | None = None
        full = coordinates.dimension(X.shape[1] + self.affine, degree)
        self.width_ = full if self.width is None else min(positive_integer("width", self.width), full)
        if self.width_ < full:
            if self.alpha:
                raise InvalidProblem("alpha goes with the full width (width=None): a smaller one is trained.")
            self._trained = best_low_width(
                X, Y, weights, self.affine, degree, self.width_, solution, self.runs, self.random_state
            )
            W, a = self._trained
            values = power_values(W, a, degree, homogenise(X, self.affine))
            loss = mean_square_ball(values, Y, weights)
            self.certificate_ = self.certificate_.below(loss, loss, "least squares at full width")
        self.optimality_gap_ = self.certificate_.gap
        return self

    @property
    def network_(self) -> Network:
        """The neurons, shared by all outputs, on homogenised inputs."""
        check_is_fitted(self)
        W, a = self._trained or realise(self._form.original, self._form.frame.size, self.degree)
        return Network(W, a[0] if len(a) == 1 else a, Power(self.degree))

    @property
    def filters_(self) -> Array:
        """Unit directions of the neurons in x."""
        inputs = self.network_.W[:, : self.n_features_in_]
        lengths = np.linalg.norm(inputs, axis=1, keepdims=True)
        return np.asarray(np.divide(inputs, lengths, out=np.zeros_like(inputs), where=lengths > 0))

    def _values(self, X: Array) -> Array:
        if self._trained is None:
            return self._form.predict(X)
        W, a = self._trained
        return np.asarray((homogenise(X, self.affine) @ W.T) ** self.degree @ a.T)

    def predict(self, X: ArrayLike) -> Array:
        """f(x), of the shape of y."""
        values = self._values(self._check_inputs(X))
        return values[:, 0] if self._single else values
