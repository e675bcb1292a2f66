"""Neurons by name: the text, the table and the picture say what was fitted."""

import numpy as np
import pandas
import pytest

import shallows as sh
from shallows.learn import QuadraticNetClassifier, QuadraticNetRegressor

X = np.random.default_rng(0).standard_normal((200, 3))


def test_directions_have_the_names_of_a_data_frame():
    frame = pandas.DataFrame(X, columns=["height", "weight", "age"])
    model = QuadraticNetRegressor(width=1).fit(frame, (X[:, 0] + X[:, 1]) ** 2)
    found = model.inspect()
    assert found.names == ("height", "weight", "age")
    assert found.eigenvalues[0] == pytest.approx(2.0, rel=1e-3)
    table = found.to_dataframe()
    assert table["height"][0] == pytest.approx(0.7071, abs=1e-3) and abs(table["age"][0]) < 1e-3
    assert "+0.707 height" in repr(found) or "+0.707 weight" in repr(found)


def test_neurons_put_together_are_the_function():
    y = np.column_stack([X[:, 0] * X[:, 1] + X[:, 2], X[:, 1] ** 2 - 1])
    model = QuadraticNetRegressor(alpha=1e-9).fit(X, y)
    table = model.inspect().to_dataframe()
    assert list(table["output"].unique()) == ["output 1", "output 2"]
    for m, name in enumerate(["output 1", "output 2"]):
        own = table[table["output"] == name]
        vectors = model._neurons.vectors[m]
        lengths = np.linalg.norm(vectors[:, :3], axis=1)
        reach = X @ own[["x1", "x2", "x3"]].to_numpy().T * lengths + own["offset"].to_numpy()
        np.testing.assert_allclose(reach**2 @ own["eigenvalue"].to_numpy(), y[:, m], atol=1e-5)


def test_classes_name_the_outputs_and_the_picture_has_a_row_a_neuron():
    labels = np.array(["a", "b", "c"])[np.argmax(X, axis=1)]
    found = QuadraticNetClassifier(width=2).fit(X, labels).inspect(["p", "q", "r"])
    assert set(found.outputs) == {"a", "b", "c"}
    figure = found.figure()
    assert np.shape(figure.data[0].z) == (6, 3) and list(figure.data[0].x) == ["p", "q", "r"]
    sizes = [abs(float(label.split(": ")[1].split(" ")[0])) for label in figure.data[0].y]
    assert sizes == sorted(sizes, reverse=True)
    two = QuadraticNetClassifier(width=1).fit(X, labels == "a").inspect()
    assert set(two.outputs) == {"True"}


def test_wrong_names_are_refused():
    model = QuadraticNetRegressor(width=1).fit(X, X[:, 0] ** 2)
    with pytest.raises(sh.InvalidProblem, match="2 names for 3 columns"):
        model.inspect(["a", "b"])
