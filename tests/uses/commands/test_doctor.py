"""`shallows doctor`: what is there, what is missing, and whether the engines work."""

import json

import pytest

import shallows as sh
from shallows.uses.commands import doctor, self_check


def test_it_tells_what_is_there_and_what_is_not(monkeypatch, invoke):
    document = json.loads(invoke("doctor", "--no-check", "--json").stdout)
    parts = {part["name"]: part for part in document["parts"]}
    assert parts["numpy"]["found"] and parts["dash"]["fix"] == "pip install 'shallows[explore]'"
    assert document["checks"] == []
    versions = {"numpy": "2"}
    monkeypatch.setattr(doctor, "_version", lambda name: versions.get(name, ""))
    text = invoke("doctor", code=3).output
    assert "not installed" in text and "Broken" in text and "shallows[explore]" in text
    assert "Tried on" not in text, "what is broken is not tried"


def test_what_it_writes_is_what_it_says(tmp_path, invoke):
    out = tmp_path / "folder" / "doctor.json"
    said = invoke("doctor", "--json", "--out", out, "--seed", "3")
    document = json.loads(said.stdout)
    assert json.loads(out.read_text(encoding="utf-8")) == document
    assert f"written: {out}" in said.stderr
    assert document["seed"] == 3 and all(check["passed"] for check in document["checks"])
    assert {"homotopy", "ball arithmetic", "training"} <= {check["engine"] for check in document["checks"]}


@pytest.mark.parametrize("seed", [0, 11])
def test_the_problem_has_thirteen_complex_critical_points(seed):
    """13 = the generic ED degree of symmetric 3×3 matrices of rank one (polar degrees 3, 6, 4)."""
    from shallows.mathematics.ed_degree import low_rank_degree

    assert self_check.EXPECTED == low_rank_degree(3, 1) == 3 + 6 + 4
    trial = self_check.Trial(seed)
    assert trial.chart.complex_count[1] == 13
    assert (trial.problem.data.gram(2) == trial.problem.data.gram(2).round()).all()


def test_another_seed_is_another_problem():
    first, second = (self_check.Trial(seed).problem.target_tensor().entries for seed in (1, 2))
    assert (first != second).any()


def test_an_engine_that_is_wrong_or_raises_is_an_exit_status(monkeypatch, invoke):
    monkeypatch.setattr(self_check, "EXPECTED", 12)
    assert "Not working: homotopy." in invoke("doctor", code=1).output
    monkeypatch.undo()

    def raises(*arguments, **options):
        raise ZeroDivisionError("of [everything]")

    monkeypatch.setattr("shallows.questions.descent.ensemble.ensemble", raises)
    text = invoke("doctor", code=1).output
    assert "ZeroDivisionError: of [everything]" in text and "Not working: training." in text


def test_msolve_is_held_against_homotopy(monkeypatch):
    trial = self_check.Trial(0)
    losses = trial.chart.losses

    class Other:
        def __init__(self, losses):
            self.losses = losses

    for answer, passed in ((losses, True), (losses[:-1], False), (losses * 1.0001, False)):
        monkeypatch.setattr(
            "shallows.questions.charts.chart.chart", lambda *a, answer=answer, **o: Other(answer)
        )
        assert trial.msolve()[0] is passed
    assert "msolve" not in {check.engine for check in self_check.self_check(0, msolve=False)}
    assert isinstance(trial.problem, sh.Problem)


def test_warm_fills_the_cache_and_the_doctor_shows_and_clears_it(invoke, tmp_path, monkeypatch):
    from shallows.mathematics.homotopy._compiled import linear
    from shallows.uses.commands import warm

    assert {"follow", "powers", "relu_lanes", "adam_loop"} <= {unit.__name__ for unit in warm.all_units()}
    cubic = next(p for p in warm.common_problems() if p.degree == 3)
    sh.chart(cubic, certify=False)  # what it needs is compiled elsewhere
    monkeypatch.setenv("SHALLOWS_CACHE_DIR", str(tmp_path))
    fresh = type(linear.solve)(linear.solve.function, linear.solve.signature, {})
    monkeypatch.setattr(warm, "all_units", lambda: [fresh])
    monkeypatch.setattr(warm, "common_problems", lambda: [cubic])
    monkeypatch.setattr("shallows.questions.charts.continuation.generic_members.SOLVED", {})
    done = json.loads(invoke("warm", "--json").stdout)
    assert done["compiled"] == 1 and done["members"] == 1
    cache = json.loads(invoke("doctor", "--no-check", "--json").stdout)["cache"]
    assert cache["functions"] >= 1 and cache["members"] == 1 and cache["folder"] == str(tmp_path)
    assert f"{cache['functions']} functions" in invoke("doctor", "--no-check").output
    assert json.loads(invoke("doctor", "--no-check", "--json", "--clear").stdout)["cache"]["functions"] == 0
    assert not list(tmp_path.rglob("*.code"))
