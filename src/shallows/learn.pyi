"""The public names of `shallows.learn`, each where it lives."""

from shallows.questions.learn.classifier import QuadraticNetClassifier as QuadraticNetClassifier
from shallows.questions.learn.deep.polynomial_linear import PolynomialRun as PolynomialRun
from shallows.questions.learn.deep.polynomial_linear import train_polynomial as train_polynomial
from shallows.questions.learn.deep.training import DeepRuns as DeepRuns
from shallows.questions.learn.deep.training import train_deep as train_deep
from shallows.questions.learn.deep_regressor import DeepQuadraticRegressor as DeepQuadraticRegressor
from shallows.questions.learn.frame import Frame as Frame
from shallows.questions.learn.least_squares import Undetermined as Undetermined
from shallows.questions.learn.polynomial import PolynomialNetRegressor as PolynomialNetRegressor
from shallows.questions.learn.proofs.optimality import Optimality as Optimality
from shallows.questions.learn.receptive_fields import QuadraticReceptiveField as QuadraticReceptiveField
from shallows.questions.learn.receptive_fields import receptive_field as receptive_field
from shallows.questions.learn.receptive_fields import simulate_spikes as simulate_spikes
from shallows.questions.learn.regressor import QuadraticNetRegressor as QuadraticNetRegressor
from shallows.questions.learn.statistics import Statistics as Statistics
from shallows.questions.learn.warnings import UndeterminedWarning as UndeterminedWarning
from shallows.questions.learn.warnings import WidthWarning as WidthWarning
