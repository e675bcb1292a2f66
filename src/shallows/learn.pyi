"""The public names of `shallows.learn`, each where it lives."""

from shallows.questions.learn.deep.network import DeepNetwork as DeepNetwork
from shallows.questions.learn.deep.polynomial_linear import PolynomialRun as PolynomialRun
from shallows.questions.learn.deep.polynomial_linear import train_polynomial as train_polynomial
from shallows.questions.learn.deep.problem import DeepProblem as DeepProblem
from shallows.questions.learn.deep.training import DeepRuns as DeepRuns
from shallows.questions.learn.deep.training import train_deep as train_deep
from shallows.questions.learn.estimators.deep_regressor import (
    DeepQuadraticRegressor as DeepQuadraticRegressor,
)
from shallows.questions.learn.estimators.polynomial_regressor import (
    PolynomialNetRegressor as PolynomialNetRegressor,
)
from shallows.questions.learn.estimators.quadratic_classifier import (
    QuadraticNetClassifier as QuadraticNetClassifier,
)
from shallows.questions.learn.estimators.quadratic_regressor import (
    QuadraticNetRegressor as QuadraticNetRegressor,
)
from shallows.questions.learn.estimators.receptive_fields import (
    QuadraticReceptiveField as QuadraticReceptiveField,
)
from shallows.questions.learn.estimators.receptive_fields import receptive_field as receptive_field
from shallows.questions.learn.estimators.receptive_fields import simulate_spikes as simulate_spikes
from shallows.questions.learn.fitting.frame import Frame as Frame
from shallows.questions.learn.fitting.least_squares import Undetermined as Undetermined
from shallows.questions.learn.fitting.statistics import Statistics as Statistics
from shallows.questions.learn.proofs.optimality import Optimality as Optimality
from shallows.questions.learn.warnings import UndeterminedWarning as UndeterminedWarning
from shallows.questions.learn.warnings import WidthWarning as WidthWarning
