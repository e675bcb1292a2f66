import numpy as np
import pytest

import shallows as sh
from shallows.mathematics.tensors import coordinates as co


def test_frobenius_is_the_sum_over_the_full_array(rng):
    for degree in (1, 2, 3, 4):
        S, T = (sh.SymmetricTensor(rng.standard_normal(co.dimension(3, degree)), 3, degree) for _ in range(2))
        assert S.inner(T, sh.Frobenius(3)) == pytest.approx(np.sum(S.to_array() * T.to_array()), rel=1e-12)


def test_proposition_21_no_distribution_induces_frobenius():
    assert sh.Frobenius(2).moment_defect(2) == pytest.approx(0.5)
    assert sh.Frobenius(3).moment_defect(3) > 0.1
    assert sh.Frobenius(1).moment_defect(2) == 0  # the proposition needs n ≥ 2
    assert not hasattr(sh.Frobenius(2), "sample")
    assert not hasattr(sh.Metric(2, 2, np.eye(3)), "sample")


def test_a_metric_that_comes_from_data_has_no_defect():
    assert sh.Metric(3, 2, sh.IID.laplace(3).gram(2)).moment_defect() < 1e-12


def test_a_metric_knows_one_degree():
    with pytest.raises(sh.InvalidProblem, match="degree 2; degree 3"):
        sh.Metric(2, 2, np.eye(3)).gram(3)
