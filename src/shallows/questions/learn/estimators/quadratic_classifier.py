"""`QuadraticNetClassifier`: classes as ±1 targets of a quadratic network (paper 002, section 4.3)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, unique_labels

from shallows.questions.learn.estimators.quadratic_regressor import QuadraticForms
from shallows.questions.learn.fitting.calibration import Calibration
from shallows.questions.learn.fitting.folds import out_of_fold
from shallows.questions.learn.fitting.frame import Frame
from shallows.questions.learn.fitting.margins import LARGEST, Margin, best_margin
from shallows.questions.learn.fitting.quadratic_fit import useful_width
from shallows.questions.learn.fitting.ridge_path import RidgePath
from shallows.questions.learn.fitting.solve import require_fit
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem
from shallows.support.seeds import generator

LOSSES = ("auto", "squared", "squared_hinge")
#: Samples a coefficient from which on a narrow fit is as good as unseen: leverages are a twentieth on average.
MANY = 20


class QuadraticNetClassifier(ClassifierMixin, QuadraticForms):
    """A quadratic network fitted to targets ±1 by least squares, as in paper 002, section 4.3.

    It predicts the class of largest value; for two classes the sign decides. Parameters and fitted attributes are
    those of `QuadraticNetRegressor`, with `classes_`; more than two classes have one output each and are fitted
    together, with one penalty. `predict_proba` is calibrated.

    `loss` is "squared", mean (f − t)² as in the paper, or "squared_hinge", mean max(0, 1 − tf)², which asks for a
    margin and no more. It is least squares again, on targets t·max(1, tf), and `certificate_` is about that
    least-squares problem. "auto" takes it at full width, up to 2,000 samples, with a penalty that the data choose:
    the one that classifies samples left out with the widest margin.

    >>> X = np.random.default_rng(0).standard_normal((300, 2))
    >>> y = np.where(np.sum(X**2, axis=1) > 1, "outside", "inside")   # a circle: no line separates them
    >>> model = sh.learn.QuadraticNetClassifier().fit(X, y)
    >>> model.predict([[0.1, 0.2], [2.0, 0.0]]).tolist(), model.score(X, y) > 0.9
    (['inside', 'outside'], True)
    """

    def __init__(
        self,
        width: int | str | None = None,
        *,
        solver: str = "global",
        affine: bool = True,
        norm_neuron: bool = False,
        alpha: float | str = "auto",
        loss: str = "auto",
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
        self.loss = loss
        self.method = method
        self.starts = starts
        self.descent = descent
        self.runs = runs
        self.orthogonality = orthogonality
        self.certify = certify
        self.max_steps = max_steps
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit from data in memory."""
        X, y, weights = self._check_samples(X, y, sample_weight, reset=True, numeric=False)
        self._check_settings()
        self._asks_for_margins(*X.shape)
        check_classification_targets(y)
        self.classes_ = unique_labels(y)
        self._require_classes()
        self._margin: Margin | None = None
        Y = self._fit_forms(X, self._targets(y), weights)
        unseen, places = self._unseen(X, Y, weights), self._places(y)
        self._calibration = Calibration.fit(unseen, places, weights, levels=self._is_narrow(X.shape[1]))
        del self._path, self._margin
        return self

    def _asks_for_margins(self, samples: int, columns: int) -> bool:
        """Whether the loss is the squared hinge: as `loss` says, or where "auto" takes it."""
        if self.loss not in LOSSES:
            raise InvalidProblem(f"loss is {self.loss!r}; expected one of {', '.join(LOSSES)}.")
        searched = isinstance(self.alpha, str)
        useful = useful_width(columns, self.affine, self.norm_neuron)
        full = self.width is None or (not isinstance(self.width, str) and self.width >= useful)
        able = self.solver == "global" and full and (searched or self.alpha != 0)
        if self.loss == "squared_hinge" and not able:
            raise InvalidProblem(
                'loss="squared_hinge" is for full width and a penalty: width=None, solver="global" and alpha > 0. '
                'Fix: loss="squared".'
            )
        return self.loss == "squared_hinge" or (
            self.loss == "auto" and able and searched and samples <= LARGEST
        )

    def _chosen_alpha(
        self, X: Array, Y: Array, weights: Array, degree: int
    ) -> tuple[float, RidgePath | None]:
        """The penalty, chosen with the margins where the loss has them."""
        if not self._asks_for_margins(*X.shape):
            return super()._chosen_alpha(X, Y, weights, degree)
        require_fit("dense", len(X), X.shape[1] + self.affine, degree, Y.shape[1])
        given = None if isinstance(self.alpha, str) else float(self.alpha)
        self._margin = best_margin(X, Y, weights, self.affine, given)
        return self._margin.alpha, None

    def _moved(self, Y: Array) -> Array:
        """Targets of samples beyond the margin moved to their outputs, where `loss` asks for it."""
        return Y if self._margin is None else self._margin.targets

    def _unseen(self, X: Array, Y: Array, weights: Array) -> Array:
        """Outputs at the samples by fits that have not seen them: leaving one out at full width, in five folds below.

        With far more samples than coefficients (by conjugate gradients, or of few neurons) the outputs themselves: they
        have hardly seen a sample of so many, and narrow fits to folds may be at other minima.
        """
        if self._margin is not None:
            return self._margin.left_out
        if self.solver == "descent" or self.method_ == "conjugate":
            return self._predict_forms(X)
        coefficients = self.width_ * (X.shape[1] + self.affine)
        if self._is_narrow(X.shape[1]) and weights.sum() >= MANY * coefficients:
            return self._predict_forms(X)
        frame = Frame.standardising(X, weights, self.affine)
        if self._is_narrow(X.shape[1]):
            rng = generator(self.random_state)
            return out_of_fold(X, Y, weights, frame, self.width_, self.alpha_, self.norm_neuron, rng)
        path = RidgePath.of(X, Y, weights, frame) if self._path is None else self._path
        return path.left_out(X, Y, weights, frame, 2, self.alpha_)

    def _is_narrow(self, columns: int) -> bool:
        return self.width_ < useful_width(columns, self.affine, self.norm_neuron)

    def _places(self, y: Any) -> Any:
        return np.searchsorted(self.classes_, y)

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Add samples; the first call needs `classes`, every label that will come, unless `fit` has seen them.

        After `fit` it goes on from the samples seen there, with the same classes.
        """
        first = not hasattr(self, "statistics_")
        X, y, weights = self._check_samples(X, y, sample_weight, reset=first, numeric=False)
        self._check_settings()
        if self.solver != "global":
            raise InvalidProblem('partial_fit solves on gathered statistics; it needs solver="global".')
        if classes is None and first:
            raise InvalidProblem("The first call of partial_fit needs classes=[...], every label to come.")
        if first:
            self.classes_ = unique_labels(np.asarray(classes))
            self._require_classes()
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise InvalidProblem(f"Labels {unknown.tolist()} are not among classes {self.classes_.tolist()}.")
        self._fit_statistics(X, self._targets(y), weights)
        self._calibration = Calibration.fit(self._predict_forms(X), self._places(y), weights)
        return self

    def _output_names(self, count: int) -> list[str]:
        """Classes; for two of them the one output is the second's."""
        return [str(name) for name in (self.classes_[1:] if count == 1 else self.classes_)]

    def _require_classes(self) -> None:
        if len(self.classes_) < 2:
            raise InvalidProblem(
                f"y holds one class only ({self.classes_.tolist()}); a classifier needs at least 2 classes."
            )

    def _targets(self, y: Any) -> Array:
        """±1, one column for two classes, one a class otherwise."""
        one_hot = np.where(np.asarray(y)[:, None] == self.classes_[None, :], 1.0, -1.0)
        return one_hot[:, 1:] if len(self.classes_) == 2 else one_hot

    def decision_function(self, X: ArrayLike) -> Array:
        """The outputs: shape (rows,) for two classes, (rows, classes) otherwise.

        Below full width each has a level added, at which its class is as likely as it is at 0 elsewhere.
        """
        values = self._predict_forms(self._check_inputs(X)) + self._calibration.levels
        return values[:, 0] if len(self.classes_) == 2 else values

    def predict_proba(self, X: ArrayLike) -> Array:
        """Probabilities of the classes: a softmax of the outputs, calibrated on samples that they had not seen.

        The slope is, and below full width the level of each output.

        After `partial_fit` they are calibrated on the samples of its last call.
        """
        outputs = self._predict_forms(self._check_inputs(X))
        return self._calibration(outputs)

    def predict(self, X: ArrayLike) -> Any:
        """The class of largest output."""
        values = self.decision_function(X)
        places = (values > 0).astype(int) if values.ndim == 1 else np.argmax(values, axis=1)
        return self.classes_[places]
