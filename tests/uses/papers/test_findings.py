"""Every finding holds, fails where its hypothesis is broken, notices wrong functions, and is on the page."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest
from typer.testing import CliRunner

import shallows as sh
from shallows.support.errors import InvalidProblem
from shallows.uses.commands.cli import app
from shallows.uses.papers.claim import Claim
from shallows.uses.papers.findings.counts import centred, with_mean
from shallows.uses.papers.library import find_findings
from shallows.uses.papers.mutants import mutants
from shallows.uses.papers.page import verification_page
from shallows.uses.papers.verification import verify

ALL = sh.findings()
PAGE = Path(__file__).parents[3] / "docs" / "papers" / "findings.md"
#: Those whose wrong versions take seconds: in the thorough profile.
SLOW = {"finding-7", "finding-11", "finding-13"}


def _profiled() -> list[object]:
    marks = {True: (pytest.mark.thorough,), False: ()}
    return [pytest.param(f, id=f.name, marks=marks[f.name in SLOW]) for f in ALL]


@pytest.mark.parametrize("statement", ALL, ids=lambda f: f.name)
def test_it_holds_and_its_check_can_fail(statement: sh.Finding) -> None:
    evidence = statement.verify(rng=1)
    assert evidence.holds, evidence.detail
    control = statement.verify_control(rng=1)
    assert not control.holds and control.counterexample and not control.raised, control.detail


@pytest.mark.parametrize("statement", _profiled())
def test_wrong_versions_are_noticed(statement: sh.Finding) -> None:
    assert statement.tests
    assert not [m for m in mutants(statement, 1) if not m.noticed]


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(2, 12))
@pytest.mark.parametrize("statement", ALL, ids=lambda f: f.name)
def test_it_holds_at_other_seeds(statement: sh.Finding, seed: int) -> None:
    assert statement.verify(rng=seed).holds


def test_a_finding_says_what_it_rests_on_and_is_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for f in ALL:
        assert isinstance(f, Claim) and f.key == f"findings/{f.name}"
        assert f.title and f.known and f.basis in ("proved", "observed")
        assert f.statement.endswith(".") and len(f.statement) <= 400
        heading = f"## {f.number.split()[1]}. {f.title}"
        assert heading in page, heading
        section = (
            page[page.index(heading) :].split("\n## ")[0] + page[page.index(heading) :].split("\n## ")[1]
        )
        assert f"shallows verify --findings --claim {f.name}\n" in section
        assert "```{draw}" in section and f"**{f.basis.capitalize()}" in section.replace(
            "**Proof", "**Proved"
        )
    assert len({f.key for f in ALL}) == len(ALL)


def test_findings_are_found_by_name_and_survive_pickling() -> None:
    (third,) = find_findings("Finding 3")
    assert third.name == "finding-3" and find_findings(third.key) == [third]
    assert pickle.loads(pickle.dumps(third)) is third and copy.deepcopy(third) is third
    assert repr(third).startswith("Finding(findings/finding-3: ")
    with pytest.raises(InvalidProblem, match="no finding 'thm-35'"):
        find_findings("thm-35")


def test_the_command_and_the_page_of_evidence() -> None:
    done = CliRunner().invoke(app, ["verify", "--findings", "--claim", "finding-3", "--jobs", "1"])
    assert done.exit_code == 0 and "holds (proved)" in done.output and "findings: 1: 1 holds" in done.output
    refused = CliRunner().invoke(app, ["verify", "--findings", "--paper", "000"])
    assert isinstance(refused.exception, InvalidProblem) and "in no paper" in str(refused.exception)
    assert "Findings: what the papers do not have" in verification_page(
        verify(find_findings("finding-3"), jobs=1)
    )


def test_euler_characteristics_of_small_arrangements_by_hand() -> None:
    """n = 2: the complement of 2 + 2 + 2 points of a line has χ = 2 − 6; n = 3: a plane without three conics, two of
    them tangent at two points: 3 − 6 + (2 + 4 + 4) = 7."""
    assert with_mean(2) == 4 and with_mean(3) == 7 and centred(2) == 2
    assert [with_mean(n + 1) for n in (1, 2, 3)] == [4, 7, 10]
