"""scikit-learn's whole estimator check suite, for every estimator."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from shallows.learn import QuadraticNetClassifier, QuadraticNetRegressor

pytestmark = pytest.mark.filterwarnings("ignore::shallows.learn.UndeterminedWarning")


@parametrize_with_checks([QuadraticNetRegressor(), QuadraticNetClassifier()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
