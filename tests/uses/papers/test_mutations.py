"""Claims that bite: with a function that it puts to the test replaced by a wrong one, every claim fails."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from typer.testing import CliRunner

import shallows as sh
from shallows.questions.geometry.ranks import identifiability, widths
from shallows.support.errors import InvalidProblem
from shallows.uses.commands.cli import app
from shallows.uses.papers import mutations
from shallows.uses.papers.claim import ALGEBRA, Claim, Trial, claim
from shallows.uses.papers.library import claims
from shallows.uses.papers.mutants import all_mutants, mutants
from shallows.uses.papers.mutations import DOUBLED, DROPPED, NEGATED, OFF_BY_ONE, Mutation, of_field, replaced
from shallows.uses.papers.outcome import fact

CLAIMS = [c for c in claims() if c.tests]
#: At every commit, with one seed; the rest, with three, in the thorough profile.
SAMPLE = {
    *("000/thm-1", "000/eq-16", "000/prop-30", "000/thm-36", "001/thm-2.1c", "001/thm-2.8"),
    *("002/lemma-c.4", "003/lemma-4", "003/thm-3"),
}
SEEDS = (1, 2, 3)


@pytest.mark.parametrize("statement", [c for c in CLAIMS if c.key in SAMPLE], ids=lambda c: c.key)
def test_wrong_versions_are_noticed(statement: Claim) -> None:
    assert not [m for m in mutants(statement, SEEDS[0]) if not m.noticed]


@pytest.mark.thorough
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("statement", CLAIMS, ids=lambda c: c.key)
def test_wrong_versions_are_noticed_at_every_seed(statement: Claim, seed: int) -> None:
    assert not [m for m in mutants(statement, seed) if not m.noticed]


@pytest.mark.parametrize("statement", claims(), ids=lambda c: c.key)
def test_what_is_put_to_the_test_is_a_function_of_the_library(statement: Claim) -> None:
    assert statement.tests is not None, "say what it puts to the test, or that it is ALGEBRA"
    for name in statement.tests or {}:
        owner, attribute = mutations._find(name)
        found = inspect.getattr_static(owner, attribute)
        assert callable(found) or isinstance(found, property | classmethod | staticmethod), name
        home = owner if inspect.isclass(owner) else found
        assert not home.__module__.startswith("shallows.uses.papers"), name


def test_a_function_is_wrong_under_all_its_names_and_right_again_afterwards() -> None:
    right = widths.thick_width
    with replaced("shallows.thick_width", OFF_BY_ONE):
        assert sh.thick_width(3, 3) == widths.thick_width(3, 3) == right(3, 3) + 1
        assert identifiability.thick_width is widths.thick_width is not right
    assert sh.thick_width is widths.thick_width is identifiability.thick_width is right


def test_it_is_right_again_after_an_error() -> None:
    right = widths.thick_width
    with (
        pytest.raises(InvalidProblem, match="always refuses"),
        replaced("shallows.thick_width", mutations.REFUSED),
    ):
        sh.thick_width(3, 3)
    assert sh.thick_width is right


def test_methods_and_properties_are_replaced_in_their_class() -> None:
    problem = sh.Problem(np.eye(2), sh.Gaussian(2), 1)
    net = sh.Network([[1.0, 0.5]])
    loss, size = problem.loss(net), problem.size
    with replaced("shallows.Problem.loss", DOUBLED), replaced("shallows.Problem.size", OFF_BY_ONE):
        assert problem.loss(net) == 2 * loss and problem.size == size + 1
    assert problem.loss(net) == loss and problem.size == size


def test_an_inherited_method_is_replaced_in_the_named_class_only() -> None:
    right = {law: law(2).gram(2) for law in (sh.Gaussian, sh.Frobenius)}
    with replaced("shallows.Frobenius.gram", DOUBLED):
        assert np.array_equal(sh.Frobenius(2).gram(2), 2 * right[sh.Frobenius])
        assert np.array_equal(sh.Gaussian(2).gram(2), right[sh.Gaussian])
    assert np.array_equal(sh.Frobenius(2).gram(2), right[sh.Frobenius])


def test_wrong_versions_of_values() -> None:
    assert DROPPED.change(np.array([1.0, 2.0, 0.0])).tolist() == [1.0, 0.0, 0.0]
    assert DROPPED.change((1, 2)) == (1,)
    assert NEGATED.change(3) == -3
    barrier = sh.energy_barrier(np.eye(2))
    assert of_field("exact", DOUBLED).change(barrier).exact == 2 * barrier.exact


def test_an_unknown_function_is_refused() -> None:
    with pytest.raises(InvalidProblem, match=r"shallow\.nothing"), replaced("shallow.nothing", DOUBLED):
        pass


def _sized(**kwargs: object) -> Claim:
    @claim("000", "Lemma 99", "Two.", control=("nothing", {}), **kwargs)  # type: ignore[arg-type]
    def check(trial: Trial):  # type: ignore[no-untyped-def]
        yield fact(sh.thick_width(2, 2) >= 2, "at least two")

    return check


def test_a_claim_that_does_not_notice_is_a_survivor() -> None:
    found = list(mutants(_sized(tests={"shallows.thick_width": (OFF_BY_ONE, NEGATED)})))
    assert [m.noticed for m in found] == [True, False, True]
    found = list(mutants(_sized(tests={"shallows.filling_width": ()})))
    assert [(m.mutation, m.noticed) for m in found] == [("always refuses", False)]
    assert all_mutants([_sized(tests=ALGEBRA)], jobs=1) == []


def test_a_wrong_version_that_cannot_be_made_is_no_wrong_version() -> None:
    broken = Mutation("of another type", lambda width: width.points)
    (refused, found) = mutants(_sized(tests={"shallows.thick_width": (broken,)}))
    assert refused.noticed and not found.noticed and "cannot be made of 2" in found.how


def test_the_command_shows_the_table() -> None:
    done = CliRunner().invoke(app, ["verify", "--mutations", "--claim", "000/eq-16", "--jobs", "1"])
    assert done.exit_code == 0, done.output
    assert "always refuses" in done.output and "wrong versions were noticed" in done.output
    assert CliRunner().invoke(app, ["verify", "--mutations", "--out", "a.html"]).exception is not None
