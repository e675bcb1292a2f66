"""Without scikit-learn the estimators say which extra brings it; the rest works."""

import pytest

import shallows as sh
from shallows import learn


def test_a_missing_scikit_learn_names_the_extra(monkeypatch):
    def absent(name):
        raise ModuleNotFoundError("No module named 'sklearn'", name="sklearn")

    monkeypatch.setattr(learn, "import_module", absent)
    monkeypatch.delitem(vars(learn), "QuadraticNetRegressor", raising=False)
    with pytest.raises(sh.MissingExtra, match=r"shallows\[learn\]"):
        _ = learn.QuadraticNetRegressor
    with pytest.raises(AttributeError, match="no attribute"):
        _ = learn.Nothing
    assert "train_deep" in dir(learn)
