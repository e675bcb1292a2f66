"""What the estimators share: validation at the edge, targets as matrices, predictions from the fitted form."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from shallows.questions.learn.fitting.ridge_path import SAMPLED_ROWS, RidgePath, chosen_penalty
from shallows.questions.learn.fitting.solve import METHODS, choose_method, require_fit
from shallows.support.budget import require
from shallows.support.checks import Array, finite_number, require_no_graph
from shallows.support.errors import InvalidProblem

#: Ways to choose the penalty.
CRITERIA = ("auto", "loo")


class FormEstimator(BaseEstimator):
    """An estimator whose prediction is a polynomial form of the homogenised inputs."""

    alpha: float | str
    method: str
    affine: bool

    def _chosen_alpha(
        self, X: Array, Y: Array, weights: Array, degree: int
    ) -> tuple[float, RidgePath | None]:
        """The penalty: the number given, or the one that the data choose, with the path of all of them."""
        if not isinstance(self.alpha, str):
            return float(self.alpha), None
        method = choose_method(self.method, len(X), X.shape[1] + self.affine, degree, penalised=True)
        require_fit(method, len(X), X.shape[1] + self.affine, degree, Y.shape[1])
        limit = SAMPLED_ROWS if method == "conjugate" else None
        return chosen_penalty(X, Y, weights, self.affine, degree, self.alpha, limit)

    def _check_samples(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, reset: bool, numeric: bool = True
    ) -> tuple[Array, Any, Array]:
        """X, y and positive weights; rows of weight zero are left out, as if they had not been given."""
        for name, value in (("X", X), ("y", y), ("sample_weight", sample_weight)):
            require_no_graph(name, value)
        require_numeric_columns(X)
        X, y = validate_data(
            self,
            X,
            y,
            reset=reset,
            dtype=np.float64,
            accept_sparse="csr",
            multi_output=numeric,
            y_numeric=numeric,
            ensure_min_samples=2 if reset else 1,
        )
        X = as_dense(X)
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        used = weights > 0
        if not used.any():
            raise InvalidProblem("Every sample has weight zero; give some of them a positive weight.")
        if used.all():
            return X, y, weights
        return X[used], np.asarray(y)[used], weights[used]

    def _check_inputs(self, X: Any) -> Array:
        check_is_fitted(self)
        require_no_graph("X", X)
        require_numeric_columns(X)
        return as_dense(validate_data(self, X, reset=False, dtype=np.float64, accept_sparse="csr"))

    def __sklearn_tags__(self) -> Any:
        """Sparse inputs are taken; their products are not sparse, and are kept as arrays."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _column_names(self) -> list[str]:
        """The names of the columns, or x1, x2, … when they have none."""
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            return [f"x{i + 1}" for i in range(self.n_features_in_)]
        return [str(name) for name in names]

    def _check_common(self, solver: str, solvers: tuple[str, ...]) -> None:
        if solver not in solvers:
            raise InvalidProblem(f"solver is {solver!r}; expected one of {', '.join(solvers)}.")
        if isinstance(self.alpha, str) and self.alpha not in CRITERIA:
            raise InvalidProblem(
                f'alpha is {self.alpha!r}; expected a number, "auto" (generalised cross-validation) or "loo" '
                "(leave one out)."
            )
        if not isinstance(self.alpha, str):
            finite_number("alpha", self.alpha, minimum=0.0)
        if self.method not in METHODS:
            raise InvalidProblem(f"method is {self.method!r}; expected one of {', '.join(METHODS)}.")


class FormRegressor(MultiOutputMixin, RegressorMixin, FormEstimator):
    """A `FormEstimator` for regression, of one or several outputs."""

    def __sklearn_tags__(self) -> Any:
        """Without the homogenising coordinate there is no linear term: a line is then fitted poorly, by design."""
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = not self.affine
        return tags


def require_numeric_columns(X: Any) -> None:
    """Refuse a data frame with text or categories, naming the columns; numbers and booleans pass."""
    dtypes = getattr(X, "dtypes", None)
    if dtypes is None or not hasattr(X, "columns"):
        return
    kinds = {str(name): getattr(dtype, "kind", "O") for name, dtype in zip(X.columns, dtypes, strict=True)}
    bad = [name for name, kind in kinds.items() if kind not in "biuf"]
    if bad:
        raise InvalidProblem(
            f"Columns {', '.join(bad)} are not numeric; a quadratic network multiplies its inputs. Encode them first, "
            "for example with sklearn.preprocessing.OneHotEncoder in a pipeline, or drop them."
        )


def as_dense(X: Any) -> Array:
    """A sparse matrix as an array, if it fits."""
    if not issparse(X):
        return np.asarray(X)
    rows, columns = X.shape
    require(
        f"{rows:,} × {columns:,} sparse inputs as an array",
        size=8.0 * rows * columns,
        fix="Use fewer columns.",
    )
    return np.asarray(X.toarray())


def as_columns(y: Any) -> Array:
    """Targets as a matrix, one column an output."""
    array = np.asarray(y, dtype=np.float64)
    return array[:, None] if array.ndim == 1 else array
