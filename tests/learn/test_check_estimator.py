"""scikit-learn's whole estimator check suite, for every estimator."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from shallows.learn import (
    DeepQuadraticRegressor,
    PolynomialNetRegressor,
    QuadraticNetClassifier,
    QuadraticNetRegressor,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore::shallows.learn.warnings.UndeterminedWarning", "ignore::shallows.learn.warnings.WidthWarning"
)


ESTIMATORS = [
    QuadraticNetRegressor(),
    QuadraticNetRegressor(norm_neuron=True),
    QuadraticNetRegressor(alpha=0.1, method="conjugate"),
    QuadraticNetClassifier(),
    PolynomialNetRegressor(),
    DeepQuadraticRegressor(),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
