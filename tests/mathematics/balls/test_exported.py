"""Certificates as files: a checker that shares no code accepts them, and none that was tampered with."""

import copy
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from bench.literature import cyclic, katsura, noon
from tests import certificate_checker
from tests.certificate_checker import Refused, check

from shallows.homotopy import mixed_volume, random_rank_one, solve
from shallows.mathematics.balls.exported import document
from shallows.support.errors import InvalidProblem

CHECKER = Path(__file__).parents[2] / "certificate_checker.py"


def written(rows, **options):
    return json.loads(json.dumps(document(solve(rows, **options).certify())))


def test_the_checker_confirms_what_is_claimed():
    found = check(written(["x^2 + y^2 - 5", "x*y - 2"], start="total degree"))
    assert found == {
        "count": 4,
        "real": 4,
        "positive": 2,
        "not real": 0,
        "complete": True,
    }
    five = check(written(cyclic(5)))
    assert five["count"] == 70 and five["real"] == 10 and five["not real"] == 60
    assert five["complete"] is True, "by the mixed volume, which it computes"
    seven = check(written(katsura(5)))
    assert seven["count"] == 32 and seven["complete"] is True
    some = written(katsura(5))
    some["roots"] = [root for root in some["roots"] if root["real"]][:2]
    some |= {"count": 2, "real": 2, "positive": sum(root["positive"] is True for root in some["roots"])}
    assert check({**some, "complete": False})["complete"] is False
    for bound_by in ("total degree", "polyhedral"):
        forged = check_or_refused({**some, "bound": 2, "bound_by": bound_by, "complete": True})
        assert forged != {"complete": True}


def test_completeness_by_the_mixed_volume(monkeypatch):
    """x² − x has mixed volume 1 and two roots: the origin counts, unless exponents or the question exclude zeros."""
    four = written(noon(3))
    assert check(four)["count"] == 21 and check(four)["complete"] is True
    assert four["bound_by"] == "polyhedral"
    for other in (20, 22):  # a bound that is not the mixed volume
        with pytest.raises(Refused):
            check({**four, "bound": other, "complete": False})
    apart = written(["x*y - x", "x^2 + y^2 - 4 + 2*x"], zeros="excluded")
    assert check(apart)["complete"] is True and check(apart)["count"] == 2
    with pytest.raises(Refused):  # two roots off the axes are not all roots
        check({**apart, "zeros": "included"})
    monkeypatch.setattr(certificate_checker, "FEW", 10)
    assert check(four)["complete"] == "stated, by polyhedral", "it says no more than it checked"


@pytest.mark.parametrize("seed", range(8))
def test_the_checkers_mixed_volume_is_ours(seed):
    rng = np.random.default_rng(seed)
    n = 2 + seed % 3
    supports = [
        {tuple(map(int, key)) for key in rng.integers(0, 4, (int(rng.integers(2, 7 - n)), n))} | {(0,) * n}
        for _ in range(n)
    ]
    assert certificate_checker.mixed_volume(supports) == mixed_volume([sorted(s) for s in supports])


def check_or_refused(given):
    try:
        return {"complete": check(given)["complete"]}
    except Refused:
        return {}


@pytest.mark.parametrize("rows", [["x^2 - 2*I", "y - (1+I)*x"], ["x^3 - x"], ["(x - 1e-6)*(x - 1)*(x - 1e6)"],
                                  ["1e-12*x^2 - 1", "1e12*y^3 - x"], noon(3)])  # fmt: skip
def test_special_systems(rows):
    proof = solve(rows).certify()
    found = check(json.loads(json.dumps(document(proof))))
    assert (found["count"], found["real"], found["positive"]) == (
        proof.count, len(proof.real), len(proof.positive)
    )  # fmt: skip


def test_signs_of_real_roots():
    proof = solve(["(x - 1)*(x + 2)", "(y - 3)*(y + 4)"]).certify()
    assert proof.positive_count == 1 and proof.positive[0].point.real.tolist() == pytest.approx([1, 3])
    assert proof.real_count == 4 and all(
        root.positive is False for root in proof.real if root not in proof.positive
    )
    zero = solve(["x^2 - x"]).certify()
    assert sorted(str(root.positive) for root in zero.certified) == ["None", "True"], "0 is neither proved"


def flipped(text):
    return str(int(text) + int(text) // 1000 + 1)


TAMPERED = {
    "a midpoint": lambda d: d["roots"][0]["box"][0][0].__setitem__(0, flipped(d["roots"][0]["box"][0][0][0])),
    "a wide box": lambda d: d["roots"][0]["box"][0][0].__setitem__(3, "2"),
    "no box": lambda d: d["roots"][0]["box"][0][0].__setitem__(2, "0"),
    "a coefficient": lambda d: d["equations"][0][0].__setitem__(1, "1000001/1000000"),
    "a root twice": lambda d: d["roots"].__setitem__(0, copy.deepcopy(d["roots"][1])),
    "a real root called complex": lambda d: real_root(d).__setitem__("real", False),
    "a sign": lambda d: real_root(d).__setitem__("positive", not real_root(d)["positive"]),
    "a count": lambda d: d.__setitem__("count", d["count"] + 1),
    "a root less": lambda d: d["roots"].pop(),
    "a bound": lambda d: d.__setitem__("bound", d["bound"] + 1),
    "completeness": lambda d: d.__setitem__("complete", not d["complete"]),
    "an equation less": lambda d: d["equations"].pop(),
}


def real_root(given):
    return next(root for root in given["roots"] if root["real"])


@pytest.mark.parametrize("name", TAMPERED)
def test_tampered_certificates_are_refused(name):
    given = written(["x^3 + y^3 - 5", "x^2 - y^2 + x - 2"], start="total degree")
    check(given)
    TAMPERED[name](given)
    with pytest.raises((Refused, ZeroDivisionError)):
        check(given)


def test_the_file_and_the_script(tmp_path):
    path = solve(["x^2 + y^2 - 5", "x*y - 2"]).certify().save(tmp_path / "proof")
    done = subprocess.run([sys.executable, CHECKER, path], capture_output=True, text=True, check=True)
    assert "'count': 4" in done.stdout and "'positive': 2" in done.stdout
    source = CHECKER.read_text(encoding="utf-8")
    assert "shallows" not in source.split('"""')[2]
    code = source.split('"""', 2)[2]
    assert len([line for line in code.splitlines() if line.strip()]) <= 100


def test_zero_coordinates_excluded():
    found = check(written(["x*y - x", "x^2 + y^2 - 4 + 2*x"], zeros="excluded"))
    assert found["count"] == 2 and found["complete"]


def test_what_cannot_be_exported():
    pairs = solve(random_rank_one(3, np.random.default_rng(0))).certify()
    with pytest.raises(InvalidProblem, match="polynomial systems"):
        document(pairs)
