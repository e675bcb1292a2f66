"""`QuadraticNetRegressor`: quadratic networks as a scikit-learn regressor (paper 002, sections 2 and 3)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from shallows.mathematics.tensors import coordinates
from shallows.model.network import Network
from shallows.questions.learn.estimators.base import FormEstimator, FormRegressor, as_columns
from shallows.questions.learn.estimators.inspection import Inspection, inspection
from shallows.questions.learn.fitting.folds import WIDTHS, choose
from shallows.questions.learn.fitting.frame import Frame, chunks, from_matrix, to_matrix
from shallows.questions.learn.fitting.least_squares import Solution, from_statistics
from shallows.questions.learn.fitting.quadratic_fit import (
    Neurons,
    checked_width,
    descend,
    identity_statistics,
    low_rank_certificate,
    matrices_of,
    neurons_of,
    truncate,
    useful_width,
    with_norm,
)
from shallows.questions.learn.fitting.ridge_path import RidgePath
from shallows.questions.learn.fitting.solve import frame_of_fit, solve, warn_undetermined
from shallows.questions.learn.fitting.statistics import Statistics
from shallows.questions.learn.proofs.optimality import (
    Optimality,
    check_statistics,
    point_from_statistics,
    point_on_data,
)
from shallows.support.checks import Array, positive_integer
from shallows.support.errors import InvalidProblem
from shallows.support.seeds import generator

SOLVERS = ("global", "descent")
#: `fit` keeps the statistics of so many features, so that `partial_fit` can go on from it.
KEPT_FEATURES = 500


class QuadraticForms(FormEstimator):
    """Fit Σᵢ λᵢ(qᵢ·z)² to each column of a matrix of targets; regression and classification share it."""

    width: int | str | None
    solver: str
    affine: bool
    norm_neuron: bool
    alpha: float | str
    method: str
    starts: int
    descent: str
    runs: int
    orthogonality: float
    certify: bool
    max_steps: int
    random_state: Any
    statistics_: Statistics | None
    _path: RidgePath | None

    def _check_settings(self) -> None:
        self._check_common(self.solver, SOLVERS)
        if isinstance(self.width, str) and self.width != "auto":
            raise InvalidProblem(
                f'width is {self.width!r}; expected a number of neurons, "auto", or None for all that are useful.'
            )
        if self.width is not None and not isinstance(self.width, str):
            positive_integer("width", self.width)
        for name in ("starts", "runs", "max_steps"):
            positive_integer(name, getattr(self, name), 0 if name == "starts" else 1)
        if self.solver == "descent" and not isinstance(self.alpha, str) and self.alpha:
            raise InvalidProblem(
                'solver="descent" trains the plain loss, as in the papers; alpha goes with "global".'
            )
        if self.solver == "descent" and self.width == "auto":
            raise InvalidProblem('width="auto" goes with solver="global". Fix: a number of neurons.')
        if self.orthogonality and self.solver == "global":
            raise InvalidProblem(
                'orthogonality is the penalty of solver="descent" (paper 002, equation 3.2).'
            )

    def _fit_forms(self, X: Array, Y: Array, weights: Array) -> Array:
        """Fit, to targets that may be moved by `_moved`; those are returned."""
        useful = useful_width(X.shape[1], self.affine, self.norm_neuron)
        rng = generator(self.random_state)
        self._choose(X, Y, weights, useful, rng)
        given, Y = Y, self._moved(Y)
        solution, full = solve(
            X, Y, weights, self.affine, 2, self.alpha_, self.method, self.certify, self.max_steps
        )
        self._warn(solution)
        if self.solver == "descent":
            statistics = identity_statistics(X, Y, weights, self.affine)
            own = _in_frame(solution, statistics.frame)
            matrices, norms, _ = descend(
                statistics, own, self.width_, self.norm_neuron, self.orthogonality, self.descent, self.runs,
                4 * self.max_steps, rng,
            )  # fmt: skip
            self._store(statistics.frame, matrices, norms)
            point = point_on_data(X, Y, weights, self._form, 0.0)
            self.certificate_ = full.below(point.loss, point.objective, "convex relaxation (width dropped)")
        elif self.width_ < useful:
            self._truncate(X, Y, weights, solution, full, rng)
        else:
            self._store_full(solution)
            self.certificate_ = full
        self.optimality_gap_ = self.certificate_.gap
        self.statistics_ = self._gathered(X, given, weights)
        self.n_iter_ = solution.iterations
        self.method_ = solution.method
        self.undetermined_ = solution.undetermined
        return Y

    def _moved(self, Y: Array) -> Array:
        """The targets that are fitted: those given, unless a loss moves them."""
        return Y

    def _choose(self, X: Array, Y: Array, weights: Array, useful: int, rng: np.random.Generator) -> None:
        """`width_` and `alpha_`: as given, or chosen by the data."""
        self.alpha_, self._path = (
            (0.0, None) if self.solver == "descent" else self._chosen_alpha(X, Y, weights, 2)
        )
        automatic = self.width == "auto"
        self.width_ = useful if isinstance(self.width, str) else checked_width(self.width, useful)
        if self.solver == "descent" or not (
            automatic or (self.width_ < useful and isinstance(self.alpha, str))
        ):
            return
        widths = [*(w for w in WIDTHS if w < useful), useful] if automatic else [self.width_]
        frame = Frame.standardising(X, weights, self.affine)
        choice = choose(X, Y, weights, frame, widths, self.alpha_, self.norm_neuron, rng)
        self.width_ = choice.width
        self.alpha_ = choice.alpha if isinstance(self.alpha, str) else self.alpha_

    def _truncate(
        self, X: Array, Y: Array, weights: Array, solution: Solution, full: Optimality, rng: Any
    ) -> None:
        statistics = identity_statistics(X, Y, weights, self.affine, solution.frame)
        self._search_low_rank(statistics, solution, rng)
        point = point_on_data(X, Y, weights, self._form, self.alpha_)
        self.certificate_ = low_rank_certificate(
            full, point, statistics, solution, self.width_, self.norm_neuron
        )

    def _search_low_rank(self, statistics: Statistics, solution: Solution, rng: Any) -> None:
        parts = truncate(statistics, solution, self.alpha_, self.width_, self.norm_neuron, self.starts, rng)
        self._store(solution.frame, np.array([p.matrix for p in parts]), np.array([p.norm for p in parts]))

    def _warn(self, solution: Solution) -> None:
        warn_undetermined(solution, self._column_names(), 5)
        if not solution.converged:
            warnings.warn(
                f"Conjugate gradients stopped after {solution.iterations} steps above tolerance; raise max_steps.",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _gathered(self, X: Array, Y: Array, weights: Array) -> Statistics | None:
        """Statistics for `partial_fit` to go on from, where they are small."""
        if coordinates.dimension(X.shape[1] + self.affine, 2) > KEPT_FEATURES:
            return None
        return identity_statistics(X, Y, weights, self.affine, self._stream_frame(X, weights))

    def _stream_frame(self, X: Array, weights: Array) -> Frame:
        """The frame of gathered statistics: penalties are counted in units of the samples seen first."""
        return frame_of_fit(X, weights, self.affine, float(self.alpha != 0))

    def _fit_statistics(self, X: Array, Y: Array, weights: Array) -> None:
        """Add these samples to the statistics and solve again."""
        if not hasattr(self, "statistics_"):
            self.statistics_ = Statistics.empty(self._stream_frame(X, weights), 2, Y.shape[1])
        elif self.statistics_ is None:
            raise InvalidProblem(
                f"fit kept no statistics of this many features (more than {KEPT_FEATURES}), so partial_fit cannot go "
                "on from it. Give a new estimator the first samples with partial_fit too."
            )
        self.statistics_ = self.statistics_.add(X, Y, weights)
        path = RidgePath.of_statistics(self.statistics_)
        self.alpha_ = path.best(path.generalised) if isinstance(self.alpha, str) else float(self.alpha)
        solution = from_statistics(self.statistics_, self.alpha_)
        useful = useful_width(X.shape[1], self.affine, self.norm_neuron)
        if isinstance(self.width, str):
            raise InvalidProblem(
                'width="auto" needs all samples at once: partial_fit takes a number of neurons.'
            )
        self.width_ = checked_width(self.width, useful)
        self.undetermined_, self.n_iter_, self.method_ = solution.undetermined, 1, "statistics"
        full = check_statistics(self.statistics_, solution, self.alpha_, self.certify)
        if self.width_ < useful:
            self._search_low_rank(self.statistics_, solution, generator(self.random_state))
            point = point_from_statistics(self.statistics_, self._form, self.alpha_)
            full = low_rank_certificate(
                full, point, self.statistics_, solution, self.width_, self.norm_neuron
            )
        else:
            self._store_full(solution)
        self.certificate_, self.optimality_gap_ = full, full.gap

    # -- the fitted form -------------------------------------------------------------------------------

    def _store_full(self, solution: Solution) -> None:
        """A full solution: with a norm neuron its weight is free, and a middle eigenvalue saves one neuron."""
        matrices = matrices_of(solution)
        original = solution.frame.T.T @ matrices @ solution.frame.T
        self._form = solution
        self._describe(neurons_of(original, self.width_, self.norm_neuron), original)

    def _store(self, frame: Frame, matrices: Array, norms: Array) -> None:
        """Matrices of rank ≤ width in a frame, and the weights ν of the norm neuron."""
        total = with_norm(matrices, norms, frame)
        self._form = Solution(frame, 2, from_matrix(total), None, "stored", 0)
        neurons = neurons_of(frame.T.T @ matrices @ frame.T, self.width_, self.norm_neuron, norms)
        self._describe(neurons, frame.T.T @ total @ frame.T)

    def _describe(self, neurons: Neurons, matrices: Array) -> None:
        columns = matrices.shape[-1] - self.affine
        inputs = neurons.vectors[..., :columns]
        lengths = np.linalg.norm(inputs, axis=-1, keepdims=True)
        filters = np.divide(inputs, lengths, out=np.zeros_like(inputs), where=lengths > 0)
        offsets = neurons.vectors[..., -1] if self.affine else np.zeros(neurons.vectors.shape[:2])
        one = len(matrices) == 1
        self._neurons = neurons
        self.matrix_ = matrices[0] if one else matrices
        self.eigenvalues_ = neurons.eigenvalues[0] if one else neurons.eigenvalues
        self.filters_ = filters[0] if one else filters
        self.offsets_ = offsets[0] if one else offsets
        self.norm_ = float(neurons.norms[0]) if one else neurons.norms

    @property
    def network_(self) -> Network:
        """The neurons of all outputs as one `Network` on homogenised inputs z = (x, 1)."""
        check_is_fitted(self)
        return self._neurons.network

    def inspect(self, feature_names: Sequence[str] | None = None) -> Inspection:
        """The neurons by the names of the columns, with a picture: `model.inspect().figure()`.

        Names are those of a data frame that was fitted, x1, x2, … without one, or the ones given.
        """
        check_is_fitted(self)
        parts = np.atleast_2d(self.eigenvalues_), self.filters_, np.atleast_2d(self.offsets_)
        directions = parts[1] if parts[1].ndim == 3 else parts[1][None]
        outputs = self._output_names(len(parts[0]))
        return inspection(self._column_names(), feature_names, outputs, (parts[0], directions, parts[2]))

    def _output_names(self, count: int) -> list[str]:
        """What outputs are called."""
        return [f"output {m + 1}" for m in range(count)]

    def _predict_forms(self, X: Array) -> Array:
        frame = self._form.frame
        matrices = to_matrix(self._form.entries, frame.size)
        result = np.empty((len(X), len(matrices)))
        for rows in chunks(len(X), frame.size):
            Z = frame.apply(X[rows])
            for m, A in enumerate(matrices):
                result[rows, m] = np.einsum("ij,ij->i", Z @ A, Z)
        return result


def _in_frame(solution: Solution, frame: Frame) -> Solution:
    """The same function in the data's own frame."""
    if np.array_equal(solution.frame.T, frame.T):
        return solution
    matrices = solution.frame.T.T @ matrices_of(solution) @ solution.frame.T
    return Solution(frame, 2, from_matrix(matrices), solution.undetermined, solution.method, 0)


class QuadraticNetRegressor(QuadraticForms, FormRegressor):
    """A two-layer network with quadratic activation, f(x) = Σᵢ λᵢ(qᵢ·z)² with z = (x, 1), fitted by least squares.

    - `width`: neurons an output; "auto" takes the fewest that predict as well as any; None is D, the number that
    reaches every quadratic function (columns, plus one for the
      homogenising coordinate, less one with a norm neuron). From D on the optimum is global, with a certificate;
      below, the best found, with `optimality_gap_` from the convex relaxation.
    - `solver`: "global" (least squares, then an eigendecomposition; paper 002, equation 2.5) or "descent"
      (train as in the
      papers: `descent` names a method of `sh.ensemble`, `runs` the starts, `orthogonality` the penalty γ).
    - `affine`: linear and constant terms through the homogenising coordinate.
    - `norm_neuron`: a neuron ‖z‖² of free weight (paper 002, section 3.1).
    - `alpha`: ridge penalty, mean square error + α‖A‖²_F, with A the coefficients of columns of mean zero and variance
      1/n (`Frame.standardising`; the constant is free): the same number means the same whatever the number of
      samples and
      the units. "auto" chooses it by generalised cross-validation, "loo" by leaving out one sample at a time, both
      from one decomposition; below full width by five folds. `alpha_` is what was taken.
    - `method`: "auto", "dense", "conjugate" (large data, never forms features) or "statistics".
    - `max_steps`: limit of conjugate gradient steps; four times as many iterations of "descent".
    - `certify`: prove the optimality gap in ball arithmetic (the Gram matrix of some of the samples is factorised).
    - `random_state`: seed or NumPy Generator of random starts.

    Fitted: `eigenvalues_` λ, `filters_` (unit directions of the neurons in x), `offsets_` (their last coordinate),
    `network_` (on homogenised inputs), `matrix_` A, `certificate_`, `optimality_gap_`, `undetermined_`, `norm_`,
    `width_`, `method_`. With M outputs these have a leading axis M.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 3))
    >>> model = sh.learn.QuadraticNetRegressor().fit(X, 2 * X[:, 0] ** 2 - X[:, 1] ** 2 / 2 + 1)
    >>> (model.eigenvalues_.round(6) + 0.0).tolist()
    [2.0, 1.0, -0.5, 0.0]
    """

    def __init__(
        self,
        width: int | str | None = None,
        *,
        solver: str = "global",
        affine: bool = True,
        norm_neuron: bool = False,
        alpha: float | str = "auto",
        method: str = "auto",
        starts: int = 4,
        descent: str = "lbfgs",
        runs: int = 10,
        orthogonality: float = 0.0,
        certify: bool = True,
        max_steps: int = 500,
        random_state: int | np.random.Generator = 0,
    ) -> None:
        self.width = width
        self.solver = solver
        self.affine = affine
        self.norm_neuron = norm_neuron
        self.alpha = alpha
        self.method = method
        self.starts = starts
        self.descent = descent
        self.runs = runs
        self.orthogonality = orthogonality
        self.certify = certify
        self.max_steps = max_steps
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit from data in memory; y may have several columns."""
        X, y, weights = self._check_samples(X, y, sample_weight, reset=True)
        self._check_settings()
        self._single = np.ndim(y) == 1
        self._fit_forms(X, as_columns(y), weights)
        del self._path
        return self

    def partial_fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Add samples: statistics are additive, so the result is that of all samples seen, by `fit` too."""
        first = not hasattr(self, "statistics_")
        X, y, weights = self._check_samples(X, y, sample_weight, reset=first)
        self._check_settings()
        if self.solver != "global":
            raise InvalidProblem('partial_fit solves on gathered statistics; it needs solver="global".')
        self._single = np.ndim(y) == 1
        self._fit_statistics(X, as_columns(y), weights)
        return self

    def predict(self, X: ArrayLike) -> Array:
        """f(x), of the shape of y."""
        values = self._predict_forms(self._check_inputs(X))
        return values[:, 0] if self._single else values
