"""`shallows verify`: the same evidence on one core and on two, a page, exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from typer.testing import CliRunner

from shallows import learn
from shallows.support.errors import InvalidProblem, MissingExtra
from shallows.uses.commands.cli import app
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.library import claims, find_claims
from shallows.uses.papers.many_seeds import over_seeds
from shallows.uses.papers.outcome import fact
from shallows.uses.papers.page import verification_page
from shallows.uses.papers.verification import Verification, verify

FEW = [*find_claims("000/eq-16"), *find_claims("000/prop-39"), *find_claims("003/lemma-4")]


@pytest.fixture(scope="module")
def few() -> Verification:
    return verify(FEW, rng=2, jobs=1)


def test_every_paper_has_the_claims_of_its_list() -> None:
    assert {paper: len(claims(paper)) for paper in ("000", "001", "002", "003")} == {
        "000": 44,
        "001": 14,
        "002": 46,
        "003": 28,
    }


@pytest.mark.thorough
def test_the_number_of_processes_does_not_matter(few: Verification) -> None:
    assert verify(FEW, rng=2, jobs=2).evidence == few.evidence


def test_the_summary_counts_by_paper(few: Verification) -> None:
    assert few.holds
    assert few.summary().splitlines() == [
        "000: 2 claims: 1 holds, 1 holds with a correction; 1 proved at every instance",
        "003: 1 claim: 1 holds; 0 proved at every instance",
    ]


def test_a_failing_claim_fails_the_whole() -> None:
    @claim("000", "Lemma 99", "False.", control=("nothing", {}))
    def wrong(trial: Trial):  # type: ignore[no-untyped-def]
        yield fact(False, "it is false")

    result = verify([wrong], jobs=1)
    assert not result.holds and "1 fails" in result.summary()
    assert "it is false" in verification_page(result)


def test_a_claim_that_needs_an_extra_says_so_and_does_not_fail(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """On a core install the claims are there; those with an estimator of scikit-learn say what is missing."""
    monkeypatch.setattr(learn, "__getattr__", _missing)
    monkeypatch.delitem(vars(learn), "DeepQuadraticRegressor", raising=False)
    (needs,) = find_claims("002/remark-f.1-4")
    with pytest.raises(MissingExtra, match=r"shallows\[learn\]"):
        needs.verify()
    result = verify([needs, *FEW[:1]], jobs=1)
    assert result.holds and not result.complete and not result.evidence[0].holds
    assert "1 not checked" in result.summary() and "1 could not be checked" in verification_page(result)
    out = tmp_path / "claims.json"
    done = CliRunner().invoke(app, ["verify", "--claim", needs.key, "--jobs", "1", "--out", str(out)])
    assert done.exit_code == 3 and "not checked" in done.stdout
    assert "shallows[learn]" in json.loads(out.read_text(encoding="utf-8"))["claims"][0]["detail"]


def test_a_claim_that_fails_at_one_seed_is_found_with_that_seed() -> None:
    unlucky = int(np.random.default_rng(5).integers(10**9))

    @claim("000", "Lemma 99", "No draw is unlucky.", control=("nothing", {}))
    def drawn(trial: Trial):  # type: ignore[no-untyped-def]
        yield fact(int(trial.rng.integers(10**9)) != unlucky, "the draw")

    (found,) = over_seeds([drawn], range(3, 9), jobs=1)
    assert found.seeds == (3, 4, 5, 6, 7, 8) and not found.holds
    assert [evidence.seed for evidence in found.failing] == [5]
    assert "holds at 5 of 6 seeds; seed 5: fails at instance 1: the draw" in repr(found)
    (luckier,) = over_seeds([drawn], range(6, 9), jobs=1)
    assert luckier.holds and repr(luckier) == "ManySeeds(000/lemma-99: holds at 3 of 3 seeds)"


def test_a_run_over_seeds_is_taken_up_where_it_ended(tmp_path: Path) -> None:
    looked: list[int] = []
    right = False

    @claim("000", "Lemma 99", "Seed 4 is right.", control=("nothing", {}))
    def drawn(trial: Trial):  # type: ignore[no-untyped-def]
        looked.append(int(trial.rng.integers(10**9)))
        yield fact(right or looked[-1] != int(np.random.default_rng(4).integers(10**9)), "the draw")

    file = tmp_path / "seeds.jsonl"
    (found,) = over_seeds([drawn], range(3, 6), jobs=1, resume=file)
    assert len(looked) == 3 and [evidence.seed for evidence in found.failing] == [4]
    with file.open("a") as torn:  # killed while it wrote
        torn.write('{"claim": "000/lem')
    right = True
    (found,) = over_seeds([drawn], range(3, 8), jobs=1, resume=file)
    assert found.holds and len(looked) == 3 + 3  # the one that failed, and two new ones
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(row["seed"], row["holds"]) for row in rows] == [
        (3, True), (4, False), (5, True), (4, True), (6, True), (7, True)
    ]  # fmt: skip
    over_seeds([drawn], range(3, 8), "full", jobs=1, resume=file)
    assert len(looked) == 6 + 5  # another effort is another check


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("buy milk\n")
    with pytest.raises(InvalidProblem, match=r"Line 1 of .* is 'buy milk'"):
        over_seeds(FEW[:1], range(2), jobs=1, resume=file)
    assert file.read_text() == "buy milk\n"
    with pytest.raises(InvalidProblem, match="existing folder"):
        over_seeds(FEW[:1], range(2), jobs=1, resume=tmp_path / "no" / "seeds.jsonl")


def test_the_command_resumes_on_two_processes(tmp_path: Path) -> None:
    file = tmp_path / "seeds.jsonl"
    call = ["verify", "--claim", "eq-16", "--claim", "lemma-38", "--seeds", "2", "--resume", str(file)]
    done = CliRunner().invoke(app, [*call, "--jobs", "2"])
    assert done.exit_code == 0, done.output
    text = file.read_text()
    assert len(text.splitlines()) == 4
    done = CliRunner().invoke(app, [*call, "--jobs", "1"])
    assert done.exit_code == 0 and file.read_text() == text and "holds at 2 of 2 seeds" in done.stdout
    refused = CliRunner().invoke(app, ["verify", "--claim", "eq-16", "--resume", str(file)])
    assert isinstance(refused.exception, InvalidProblem) and "--seeds" in str(refused.exception)


def test_the_command_goes_through_seeds() -> None:
    done = CliRunner().invoke(app, ["verify", "--claim", "eq-16", "--jobs", "1", "--seeds", "3"])
    assert done.exit_code == 0 and "000/eq-16: holds at 3 of 3 seeds" in done.stdout
    done = CliRunner().invoke(app, ["verify", "--claim", "eq-16", "--seed", "7", "--seeds", "2", "--json"])
    assert json.loads(done.stdout)["claims"][0]["seeds"] == [7, 8]


def _missing(name: str) -> None:
    raise MissingExtra("scikit-learn", "learn")


def test_claims_are_listed_without_the_extras() -> None:
    """No optional package is loaded by asking for them."""
    code = (
        "import sys; [sys.modules.__setitem__(m, None) for m in ('sklearn', 'pandas', 'pyarrow', 'dask', 'dash')];"
        "import shallows as sh; print(len(sh.claims()))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert int(result.stdout or 0) >= 127, result.stderr


def test_the_page_is_whole_and_needs_no_network(few: Verification) -> None:
    page = verification_page(few)
    assert "http://" not in page.replace("http://www.w3.org", "") and "https://" not in page
    for statement in FEW:
        assert f'id="{statement.key}"' in page
    body = page[page.index("<main>") : page.index("</main>") + len("</main>")]
    assert len(ElementTree.fromstring(body.replace("<br>", "<br/>")).findall(".//tbody/tr")) == len(FEW)


def test_the_command_prints_writes_and_exits(tmp_path: Path) -> None:
    out = tmp_path / "claims.html"
    done = CliRunner().invoke(
        app, ["verify", "--claim", "eq-16", "--jobs", "1", "--seed", "3", "--out", str(out), "--json"]
    )
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert document["holds"] is True and document["claims"][0]["seed"] == 3
    assert out.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--claim", "thm-99"], "no claim"),
        (["--paper", "9"], "no paper"),
        (["--effort", "hard"], "quick or full"),
        (["--out", "a.txt"], ".html"),
        (["--out", "a.html", "--seeds", "2"], "--seeds"),
        (["--mutations", "--seeds", "2"], "one seed"),
    ],
)
def test_bad_input_is_refused_before_any_check(arguments: list[str], words: str) -> None:
    done = CliRunner().invoke(app, ["verify", *arguments])
    assert done.exit_code != 0 and words in str(done.exception)
