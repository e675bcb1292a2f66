"""Problems as documents and arrays: every kind of part comes back bit for bit, and what cannot is refused."""

import io
import json
import subprocess
import sys

import numpy as np
import pytest

import shallows as sh
from shallows.model.smooth_functions import NAMED
from shallows.model.stored_problem import from_document, to_document

N = 2
_random = np.random.default_rng(7)
X = _random.standard_normal((40, N))
COVARIANCE = [[1.1, 0.3], [0.3, 0.7]]
GRAM = (lambda G: G @ G.T + np.eye(3))(_random.standard_normal((3, 3)))
MATRIX = np.array([[2.1, 0.3], [0.3, 1 / 3]])
DATA = {
    "standard": sh.Gaussian(N),
    "coloured": sh.Gaussian(N, COVARIANCE),
    "identity": sh.Gaussian(N, np.eye(N)),
    "shifted": sh.Gaussian(N, mean=[0.1, 1 / 3]),
    "moments": sh.IID(N, [1, 0.1, 1.2, 0.3, 4.1]),
    "normal": sh.IID.normal(N),
    "uniform": sh.IID.uniform(N),
    "laplace": sh.IID.laplace(N),
    "rademacher": sh.IID.rademacher(N),
    "student": sh.IID.student(N, 30 + 1 / 3),
    "radial": sh.Radial(N, [1.0, 1.1, 1.5, 2.3, 4.1]),
    "sphere": sh.Sphere(N),
    "mixture": sh.Mixture([0.3, 0.7], [sh.Gaussian(N, COVARIANCE), sh.Mixture([1.0], [sh.IID.laplace(N)])]),
    "samples": sh.Samples(X),
    "frobenius": sh.Frobenius(N),
    "metric": sh.Metric(N, 2, GRAM),
}
NEURONS = _random.standard_normal((3, N))
TANH = sh.Smooth(np.tanh, np.cos, np.sin)  # derivatives in name only: they are to come back as given
PROBLEMS = {name: sh.Problem(MATRIX, data, 2) for name, data in DATA.items()} | {
    "bias": sh.Problem(MATRIX, sh.IID.laplace(N), 2, bias=True),
    "on one and x": sh.Problem(sh.Network(NEURONS, bias=[1, 2, 3]), sh.Sphere(N), 2, bias=True).homogeneous(),
    "labelled": sh.Problem(None, sh.Samples(X, X[:, 0] ** 2), 2),
    "outputs": sh.Problem(None, sh.Samples(X, X**3), 2, activation=sh.ReLU()),
    "network": sh.Problem(
        sh.Network(NEURONS, [1.0, -0.3, 2.0], norm=1 / 7), sh.Gaussian(N), 2, norm_neuron=True
    ),
    "two-outputs": sh.Problem(sh.Network(NEURONS, NEURONS.T, norm=[0.1, 0.2]), sh.Gaussian(N), 2),
    "ones": sh.Problem(
        sh.Network(NEURONS, activation=sh.ReLU()), sh.Gaussian(N, COVARIANCE), 3, outer="ones"
    ),
    "signs": sh.Problem(MATRIX, sh.IID.laplace(N), 2, outer=[1.5, -1.0], orthogonality=0.1),
    "cubic": sh.Problem(sh.SymmetricTensor([1.0, 0.1, 0.2, 0.3], N, 3), sh.Gaussian(N), 2),
    "polynomial": sh.Problem(
        sh.Network(NEURONS, activation=sh.Polynomial([0.1, 0.2, 1 / 3])), sh.IID.laplace(N), 2
    ),
    "other student": sh.Problem(sh.Network(NEURONS), sh.Gaussian(N), 2, activation=sh.Power(3)),
    "smooth": sh.Problem(sh.Network(NEURONS / 2, activation=TANH), sh.Gaussian(N), 2),
}


def through_files(problem):
    """The document through JSON, the arrays through NPZ without objects."""
    document, arrays = to_document(problem)
    file = io.BytesIO()
    np.savez(file, **arrays)
    file.seek(0)
    with np.load(file, allow_pickle=False) as stored:
        return from_document(json.loads(json.dumps(document)), {name: stored[name] for name in stored.files})


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_kind_comes_back_bit_for_bit(name):
    problem, again = PROBLEMS[name], through_files(PROBLEMS[name])
    assert repr(again) == repr(problem)
    thetas = 0.7 * np.random.default_rng(3).standard_normal((5, problem.size))
    for theta in thetas:
        net = problem.unpack(theta)
        assert again.loss(net) == problem.loss(net)
        np.testing.assert_array_equal(again.gradient(net), problem.gradient(net))
    np.testing.assert_array_equal(again.value(thetas), problem.value(thetas))
    if hasattr(problem.data, "sample"):
        np.testing.assert_array_equal(again.data.sample(9, 1), problem.data.sample(9, 1))


#: Inner products that charts make out of a problem, which is stored instead.
REDUCTIONS = {"EquivalentMetric", "GivenMetric", "ReducedMetric", "Semidefinite"}


def test_every_kind_of_data_and_activation_is_stored_here():
    """A new class without a `construction`, or left out of this file, is noticed."""
    from shallows.model.activations import Activation
    from shallows.model.data.base import InnerProduct
    from shallows.support.construction import Constructed

    def written(part):
        if isinstance(part, dict):
            return {part.get("make", "").split(".")[0]}.union(*map(written, part.values()))
        return set().union(*map(written, part)) if isinstance(part, list) else set()

    covered = set().union(*(written(to_document(problem)[0]) for problem in PROBLEMS.values()))
    kinds = {
        name
        for name, kind in Constructed.known.items()
        if issubclass(kind, Activation | InnerProduct)
        and not kind.__abstractmethods__
        and kind.__module__.startswith("shallows.")
    }
    assert kinds <= covered | REDUCTIONS


def test_a_process_that_knows_no_law_yet_reads_them_all():
    """Public names are loaded on first use: reading a document must not depend on what was used before."""
    names = ("standard", "laplace", "sphere", "frobenius")
    documents = {name: to_document(PROBLEMS[name])[0]["data"] for name in names}
    code = (
        "import json, sys\nfrom shallows.model.stored_problem import made, read\n"
        "print([repr(read(part, {}, make=made)) for part in json.load(sys.stdin).values()])"
    )
    read = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(documents), capture_output=True, text=True, check=True
    )
    assert eval(read.stdout) == [repr(DATA[name]) for name in names]


@pytest.mark.parametrize("name", NAMED)
def test_smooth_activations_by_name_are_stored_by_it(name):
    activation = sh.Smooth(name)
    document, arrays = to_document(
        sh.Problem(sh.Network(NEURONS / 2, activation=activation), sh.Gaussian(N), 2)
    )
    assert document["activation"] == {"make": "Smooth", "function": name}
    assert from_document(json.loads(json.dumps(document)), arrays).activation == activation
    alone = sh.Smooth(activation.function)  # one that knows no derivatives is not the one of this name
    document, arrays = to_document(sh.Problem(sh.Network(NEURONS / 2, activation=alone), sh.Gaussian(N), 2))
    assert from_document(json.loads(json.dumps(document)), arrays).activation == alone


def test_functions_without_a_name_cannot_be_stored():
    nameless = sh.Smooth(lambda z: np.tanh(z))
    problem = sh.Problem(sh.Network(NEURONS / 2, activation=nameless), sh.Gaussian(N), 2)
    with pytest.raises(sh.InvalidProblem, match="define it in a module"):
        to_document(problem)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"make": "os.system"}, "no constructor"),
        ({"make": "IID.mro"}, "no constructor"),
        ({"make": "Gaussian"}, "cannot be made"),
        ({"make": "Gaussian", "n": 2, "mean": {"array": "missing"}}, "'missing', which is not there"),
        ({"make": "Gaussian", "n": 2}, "expected a Problem"),
        ({"make": "Smooth", "function": {"function": "never_loaded:tanh"}}, "import never_loaded"),
        ({"make": "Smooth", "function": "never_heard_of"}, "expected one of tanh"),
    ],
)
def test_documents_that_are_no_problems_are_refused(change, what):
    with pytest.raises(sh.InvalidProblem, match=what):
        from_document(change, {})
