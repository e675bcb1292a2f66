"""Every claim holds, and every check can fail: with its hypothesis broken it says so."""

from __future__ import annotations

import math

import numpy as np
import pytest

from shallows.support.errors import InvalidProblem
from shallows.uses.papers.claim import Claim, Trial, claim
from shallows.uses.papers.library import claims, find_claims
from shallows.uses.papers.outcome import at_least, equal, fact, proof, within

ALL = claims()
#: Checked at every commit; the rest in the thorough profile.
SAMPLE = {
    *(
        "000/thm-1",
        "000/ex-2",
        "000/lemma-5",
        "000/lemma-8",
        "000/ex-15",
        "000/eq-16",
        "000/thm-35",
        "000/prop-39",
    ),
    *("001/thm-2.1c", "001/thm-2.8", "001/thm-2.9"),
    *("002/ex-2.1", "002/lemma-c.4", "002/lemma-c.6", "002/remark-f.1-4"),
    *("003/lemma-4", "003/thm-2", "003/thm-3", "003/lemma-10", "003/lemma-12", "003/thm-10"),
}


def _profiled(chosen: list[Claim]) -> list[object]:
    marks = {True: (), False: (pytest.mark.thorough,)}
    return [pytest.param(c, id=c.key, marks=marks[c.key in SAMPLE]) for c in chosen]


@pytest.mark.parametrize("statement", _profiled(ALL))
def test_it_holds(statement: Claim) -> None:
    evidence = statement.verify(rng=1)
    assert evidence.holds, evidence.detail
    assert evidence.instances > 0
    assert evidence.status == ("holds" if statement.printed is None else statement.printed.verdict)


@pytest.mark.parametrize("statement", _profiled(ALL))
def test_its_check_can_fail(statement: Claim) -> None:
    evidence = statement.verify_control(rng=1)
    assert not evidence.holds, f"with {statement.control.text} the check still holds: {evidence.detail}"
    assert evidence.counterexample and not evidence.raised, evidence.detail


def test_names_are_unique_and_found() -> None:
    assert len({c.key for c in ALL}) == len(ALL)
    for c in ALL:
        assert c in find_claims(c.number, c.paper)
        assert find_claims(c.key) == [c]
        assert c.statement.endswith(".") and len(c.statement) <= 400


def test_an_unknown_claim_is_named_with_neighbours() -> None:
    with pytest.raises(InvalidProblem, match="000/thm-35"):
        find_claims("cor-35")
    with pytest.raises(InvalidProblem, match="no paper '007'"):
        claims("007")
    with pytest.raises(InvalidProblem, match="'quick', 'full'"):
        ALL[0].verify(effort="hard")  # type: ignore[arg-type]


def _made(**kwargs: object) -> Claim:
    @claim("000", "Lemma 99", "Two is even.", control=("an odd number", {"number": 3}), **kwargs)  # type: ignore[arg-type]
    def check(trial: Trial, number: int = 2):  # type: ignore[no-untyped-def]
        yield proof(number % 2 == 0, f"{number} is even")
        for k in trial.times(2, 5):
            yield equal(1e-3 * k, 1e-2, "a small error")

    return check


def test_evidence_counts_instances_and_keeps_the_worst_number() -> None:
    quick, full = _made().verify(rng=3), _made().verify(rng=3, effort="full")
    assert (quick.instances, full.instances) == (3, 6)
    assert full.figure == pytest.approx(4e-3) and full.figure_name == "largest error"
    assert quick.status == "holds" and not quick.proved and quick.seed == 3
    assert "1 of them proved" in quick.detail


def test_a_failing_instance_is_the_counterexample() -> None:
    evidence = _made().verify_control()
    assert evidence.status == "fails" and evidence.counterexample == "3 is even"


def test_a_correction_needs_an_instance_that_contradicts_the_paper() -> None:
    assert _made(printed=("5", {"number": 5})).verify().status == "holds with a correction"
    assert (
        _made(printed=("5", {"number": 5}), verdict="false as printed").verify().status == "false as printed"
    )
    wrong = _made(printed=("4", {"number": 4})).verify()
    assert wrong.status == "fails" and "is called wrong, but: no instance contradicts it" in wrong.detail


def test_a_sharpened_statement_needs_a_paper_that_is_right() -> None:
    assert _made(printed=("4", {"number": 4}), verdict="sharpened").verify().status == "sharpened"
    wrong = _made(printed=("5", {"number": 5}), verdict="sharpened").verify()
    assert wrong.status == "fails" and "is called true, but: 5 is even" in wrong.detail


def test_an_error_of_the_library_contradicts_no_wording() -> None:
    @claim("000", "Lemma 95", "Two is even.", control=("nothing", {}), printed=("refused", {"refuse": True}))
    def refuses(trial: Trial, refuse: bool = False):  # type: ignore[no-untyped-def]
        if refuse:
            raise InvalidProblem("the sentence")
        yield proof(True, "2 is even")

    assert refuses.verify().status == "fails"


def test_proved_is_a_matter_of_every_instance_and_of_the_counterexample() -> None:
    @claim(
        "000",
        "Lemma 96",
        "Two is even.",
        control=("an odd number", {"numbers": (3,)}),
        printed=("5", {"numbers": (5,)}),
    )
    def exact(trial: Trial, numbers: tuple[int, ...] = (2, 4)):  # type: ignore[no-untyped-def]
        for number in numbers:
            yield proof(number % 2 == 0, f"{number} is even")

    evidence = exact.verify()
    assert evidence.proved and evidence.summary == "holds with a correction (proved)"
    assert not _made(printed=("5", {"number": 5})).verify().proved


def test_a_check_without_instances_does_not_hold() -> None:
    @claim("000", "Lemma 98", "Nothing.", control=("nothing", {}))
    def empty(trial: Trial):  # type: ignore[no-untyped-def]
        yield from ()

    assert not empty.verify().holds


def test_an_error_of_the_library_is_a_failure_with_its_sentence() -> None:
    @claim("000", "Lemma 97", "It raises.", control=("nothing", {}))
    def raises(trial: Trial):  # type: ignore[no-untyped-def]
        yield fact(True, "fine so far")
        raise InvalidProblem("the sentence")

    evidence = raises.verify()
    assert evidence.counterexample == "InvalidProblem: the sentence" and evidence.raised


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_nan_and_infinity_never_hold(number: float) -> None:
    assert not equal(number, 1.0, "").holds
    assert not at_least(math.nan, 0.0, "").holds
    assert not within(number, 0.5, 3.0, 0.1, "").holds


def test_a_statistic_without_spread_must_be_exact() -> None:
    assert within(1.0, 1.0, 3.0, 0.0, "").holds
    assert not within(0.99, 1.0, 3.0, 0.0, "").holds


@pytest.mark.parametrize("key", ["000/eq-16", "000/ex-2"])
def test_the_same_seed_gives_the_same_evidence(key: str) -> None:
    (statement,) = find_claims(key)
    assert statement.verify(rng=5) == statement.verify(rng=5)
    assert statement.verify(rng=np.random.default_rng(5)).seed is None
