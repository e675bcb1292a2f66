"""Without scikit-learn the estimators say which extra brings it; the rest works."""

import importlib
import sys

import pytest

import shallows as sh
from shallows import learn


def test_a_missing_scikit_learn_names_the_extra(monkeypatch):
    for module in [m for m in sys.modules if m.split(".")[0] == "sklearn"]:
        monkeypatch.setitem(sys.modules, module, None)
    for module in [m for m in sys.modules if m.startswith("shallows.questions.learn.")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    for name in learn.__all__:
        monkeypatch.delitem(vars(learn), name, raising=False)
    with pytest.raises(sh.MissingExtra, match=r"shallows\[learn\]"):
        _ = learn.QuadraticNetRegressor
    with pytest.raises(
        sh.MissingExtra, match=r"shallows\[learn\]"
    ):  # `shallows fit` imports from the room itself
        importlib.import_module("shallows.questions.learn.estimators.quadratic_regressor")
    assert callable(learn.train_deep)
    with pytest.raises(AttributeError, match="no attribute"):
        _ = learn.Nothing
    assert "train_deep" in dir(learn)
