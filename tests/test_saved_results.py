"""Every result that is saved is read back as it was, by a process that knows nothing else."""

import json
import subprocess
import sys
from dataclasses import fields, is_dataclass

import numpy as np
import pytest

import shallows as sh


def same(a, b):
    """Field by field, bit for bit; objects that say how they are made, by that. Shares no code with the files."""
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    a, b = (x.item() if isinstance(x, np.generic) else x for x in (a, b))
    if type(a) is not type(b):
        return False
    if hasattr(a, "construction"):
        first, second = a.construction(), b.construction()
        return first.name == second.name and same(dict(first.arguments), dict(second.arguments))
    if is_dataclass(a):
        return all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b or (a != a and b != b) or repr(a) == repr(b)


LAPLACE = sh.IID.laplace(2)
PROBLEM = sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), width=1, outer="ones")
RESULTS = {
    "run": lambda: sh.descend(PROBLEM, sh.Network([[1.0, 0.5]]), method="newton"),
    "run with its way": lambda: sh.descend(PROBLEM, sh.Network([[1.0, 0.5]]), step=0.01, record=10),
    "diverged run": lambda: sh.descend(PROBLEM, sh.Network([[1.0, 0.5]]), step=1e9),
    "nearest critical": lambda: sh.nearest_critical(PROBLEM, sh.Network([[1.6, 0.01]])),
    "following": lambda: sh.follow(
        sh.Problem(np.diag([1.0, 1.0]), LAPLACE, width=1),
        sh.Problem(np.diag([3.0, 0.5]), LAPLACE, width=1),
        samples=5,
    ),
    "regions": lambda: sh.landscape_regions(
        sh.Problem(np.eye(2), LAPLACE, width=1), ("t00", -1, 3), ("t11", -1, 3), resolution=11
    ),
    "solutions": lambda: sh.homotopy.solve(["x^3 + y^2 - 5", "x*y - 2"]),
    "double root": lambda: sh.homotopy.solve(["(x - 1)^2*(x + 2)"]),
    "no solutions": lambda: sh.homotopy.solve(["x + y - 1", "x + y - 2"]),
    "complex coefficients": lambda: sh.homotopy.solve([{(2,): 1, (0,): 1j / 4}]),
    "more equations": lambda: sh.homotopy.solve(["x^2 + y^2 - 5", "x*y - 2", "x - y - 1"]),
}


@pytest.mark.parametrize("name", RESULTS)
def test_what_is_loaded_is_what_was_saved(name, tmp_path):
    given = RESULTS[name]()
    file = given.save(tmp_path / "a-2.5")
    assert file.name == "a-2.5.json" and (tmp_path / "a-2.5.npz").exists()
    again = type(given).load(tmp_path / "a-2.5")
    assert same(given, again) and repr(given) == repr(again)
    assert again.save(tmp_path / "b").read_text() == file.read_text()


@pytest.mark.parametrize("name", ["run", "nearest critical", "regions", "solutions"])
def test_another_process_reads_it(name, tmp_path):
    given = RESULTS[name]()
    file = given.save(tmp_path / "result")
    door = {"run": "Run", "nearest critical": "NearestCritical", "regions": "discriminants.LandscapeRegions"}
    code = (
        f"import shallows as sh\nprint(repr(sh.{door.get(name, 'homotopy.Solutions')}.load({str(file)!r})))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.rstrip("\n") == repr(given)


def test_a_loaded_result_works(tmp_path):
    found = sh.homotopy.Solutions.load(RESULTS["solutions"]().save(tmp_path / "five"))
    assert found.certify().complete and found == RESULTS["solutions"]()
    regions = sh.discriminants.LandscapeRegions.load(RESULTS["regions"]().save(tmp_path / "regions"))
    assert regions.at(2, 2).local_minima == 2 and regions.figure() is not None


def _rewritten(file, change):
    document = json.loads(file.read_text())
    document.pop("checksum")
    change(document)
    file.write_text(json.dumps(document))


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["result"]["parts"]["dict"].pop(0),
        lambda d: d["result"].update({"is": "Popen"}),
        lambda d: d.update({"result": {"make": "Network", "W": [[1.0]]}}),
        lambda d: d.update({"result": {"function": "os:system"}}),
        lambda d: d.update({"result": None}),
        lambda d: d.pop("result"),
        lambda d: d.update({"version": 99}),
        lambda d: d.update({"format": "shallows-chart"}),
    ],
)
def test_damage_is_named(change, tmp_path):
    file = RESULTS["run"]().save(tmp_path / "run")
    _rewritten(file, change)
    with pytest.raises(sh.InvalidProblem, match=r"run\.json|function"):
        sh.Run.load(file)


def test_results_of_systems_that_have_no_text_are_refused(tmp_path):
    found = sh.homotopy.solve(sh.homotopy.RankOneSystem({(0, 0, 0, 0): 1, (1, 1, 1, 1): 2}, np.eye(2)))
    with pytest.raises(sh.InvalidProblem, match="cannot be stored"):
        found.save(tmp_path / "x")
    assert not list(tmp_path.iterdir())


LAMBDA = sh.Smooth(lambda z: np.tanh(z))
DIAGNOSES = {
    "local minimum": (
        sh.Problem(np.diag([2.0, -1.0]), sh.Gaussian(2), width=1),
        sh.Network([[0.001, 0.81]], a=[-0.5]),
    ),
    "saddle with a way out": (
        sh.Problem(np.diag([3.0, 2.0, 1.0]), sh.Gaussian(3), width=2),
        sh.Network([[1.6, 0.0, 0.0], [0.0, 0.0, 0.0]], a=[1.0, 1.0]),
    ),
    "not critical": (
        sh.Problem(np.diag([3.0, 1.0]), sh.IID.laplace(2), width=2),
        sh.Network([[1.0, 2.0], [0.3, -1.0]], a=[1.0, 0.5]),
    ),
    "bias": (
        sh.Problem(sh.Network([[1.0]], bias=[0.5]), sh.Gaussian(1), width=1, bias=True),
        sh.Network([[0.9]], a=[1.0], bias=[0.4]),
    ),
    "ReLU": (sh.relu_problem(2), sh.Network([[0.8, 0.8], [0.81, 0.8]], activation=sh.ReLU())),
}


@pytest.mark.parametrize("name", DIAGNOSES)
def test_a_diagnosis_is_read_back(name, tmp_path):
    problem, net = DIAGNOSES[name]
    given = sh.diagnose(problem, net)
    file = given.save(tmp_path / "trained-0.1")
    assert json.loads(file.read_text())["kind"] == given.kind  # for scripts, as before
    again = sh.Diagnosis.load(tmp_path / "trained-0.1")
    first, second = given.to_dict(), again.to_dict()
    for document in (first, second):  # whose losses are compared below: they come from another formula
        document["escape"].pop("path")
    assert repr(again) == repr(given) and first == second
    for part in ("network", "spectrum", "critical", "minimum", "notes", "lowest", "gap"):
        assert same(getattr(given, part), getattr(again, part)), part
    assert (given.chart is None) == (again.chart is None) and (given.tree is None) == (again.tree is None)
    if given.chart is not None:
        assert [p.loss for p in again.chart.critical] == [p.loss for p in given.chart.critical]
        assert repr(again.point) == repr(given.point) and repr(again.listed) == repr(given.listed)
    if given.escape:
        for t in (0.0, 0.3, 1.0):
            assert same(given.escape.path(t), again.escape.path(t))
        np.testing.assert_allclose(again.escape.path.losses(5), given.escape.path.losses(5), rtol=1e-12)


def test_a_diagnosis_that_cannot_be_stored_whole_says_so(tmp_path):
    problem = sh.Problem(sh.Network([[1.0]], activation=LAMBDA), sh.Gaussian(1), width=1)
    file = sh.diagnose(problem, sh.Network([[0.5]], activation=LAMBDA), chart=False).save(tmp_path / "x")
    assert json.loads(file.read_text())["loss"] > 0
    with pytest.raises(sh.InvalidProblem, match="no name in a module"):
        sh.Diagnosis.load(file)


def test_a_diagnosis_of_the_first_version_says_what_to_do(tmp_path):
    file = tmp_path / "old.json"
    file.write_text(json.dumps({"format": "shallows-diagnosis", "version": 1, "kind": "saddle"}))
    with pytest.raises(sh.InvalidProblem, match="compute it again"):
        sh.Diagnosis.load(file)


POINTS = [[1.0, 2.0], [2.0, 1.0], [1.0 + 1e-9, 2.0], [-1.0, -2.0], [1.0, 1.0]]


def test_proofs_are_proved_again_when_they_are_read(tmp_path):
    system = sh.homotopy.PolynomialSystem.read(["x^2 + y^2 - 5", "x*y - 2"])
    proof = sh.certify.certify(system, POINTS, bound=4)
    file = proof.save(tmp_path / "proof-0.5")
    again = sh.certify.Certification.load(file)
    assert repr(again) == repr(proof) and file.name == "proof-0.5.json"
    assert (again.distinct, again.repeated, again.uncertified) == (proof.distinct, proof.repeated, (4,))
    assert proof.repeated == (2,) and again.roots[2].real is True
    for mine, theirs in zip(proof.certified, again.certified, strict=True):
        assert not mine.is_disjoint(theirs) and np.allclose(mine.point, theirs.point, rtol=1e-9)

    def moved(document):
        document["roots"][0]["box"][0][0][0] = str(int(document["roots"][0]["box"][0][0][0]) * 2)

    def twice(document):
        document["roots"][1] = document["roots"][0]

    for change, words in ((moved, "not proved"), (twice, "one root")):
        _rewritten(proof.save(tmp_path / "other"), change)
        with pytest.raises(sh.InvalidProblem, match=words):
            sh.certify.Certification.load(tmp_path / "other")


def test_a_proof_of_the_first_version_still_loads(tmp_path):
    proof = sh.homotopy.solve(["x^2 + y^2 - 5", "x*y - 2"]).certify()
    file = proof.save(tmp_path / "old")

    def first(document):
        for key in ("points", "places", "repeated", "parameters"):
            del document[key]
        document["version"] = 1

    _rewritten(file, first)
    assert repr(sh.certify.Certification.load(file)) == repr(proof)
