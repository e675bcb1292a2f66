"""Objects that are plausible and wrong, one for each required argument of every public function: no bare error."""

import inspect
import signal

import numpy as np
import pytest

import shallows as sh

DOORS = ("certify", "homotopy", "geometry", "discriminants", "quadratic", "relu")
#: What serves for an argument of this name while another one is wrong.
GOOD = {
    "problem": lambda: PROBLEM,
    "net": lambda: NET,
    "network": lambda: NET,
    "data": lambda: sh.Gaussian(2),
    "width": lambda: 1,
    "n": lambda: 2,
    "degree": lambda: 2,
    "k": lambda: 4,
    "target": lambda: np.diag([2.0, 1.0]),
    "teacher": lambda: np.diag([2.0, 1.0]),
    "points": lambda: [[1.4]],
    "polynomials": lambda: ["x^2 - 2"],
    "system": lambda: sh.homotopy.PolynomialSystem.read(["x^2 - 2"]),
    "horizontal": lambda: ("t00", -1, 1),
    "vertical": lambda: ("t11", -1, 1),
}
PROBLEM = sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), width=1)
NET = sh.Network([[1.0, 0.5]])
WRONG = {
    "a problem": lambda: PROBLEM,
    "a chart": lambda: sh.chart(PROBLEM),
    "a network": lambda: NET,
    "solutions": lambda: sh.homotopy.solve(["x^2 - 2"]),
    "a run": lambda: sh.descend(PROBLEM, NET),
    "text": lambda: "nonsense",
    "nothing": lambda: None,
    "an object": object,
    "a dictionary": lambda: {"a": 1},
}
#: Made by the library, or values of an Enum.
RESULTS = {"Status", "CriticalPoint", "CriticalFamily"}
#: An exact input may be a dictionary of exponents, which says itself what is wrong with it.
EXACT = {("sh.geometry", "real_rank"), ("sh", "real_rank")}


def functions():
    """Every public function and constructor whose required arguments all have a good value here."""
    found = []
    for door in ("", *DOORS):
        module = getattr(sh, door) if door else sh
        for name in module.__all__:
            made = getattr(module, name)
            plain = inspect.isfunction(made)
            if not plain or name in RESULTS or name.startswith(("set_", "run_", "verify", "reproduce")):
                continue
            required = [
                p.name
                for p in inspect.signature(made).parameters.values()
                if p.default is p.empty and p.kind in (0, 1, 3)
            ]
            if required and all(other in GOOD for other in required[1:]):
                found.append((f"sh.{door}".rstrip("."), name, required))
    return found


class _TooLong(Exception):
    pass


@pytest.fixture
def _limited():
    """What is no error may be work: it is cut short."""

    def stop(*_):
        raise _TooLong

    before = signal.signal(signal.SIGALRM, stop)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("_limited")
@pytest.mark.parametrize("given", WRONG)
def test_no_public_function_answers_with_a_bare_error(given):
    wrong, bare = WRONG[given](), []
    for door, name, required in functions():
        if (door, name) in EXACT:
            continue
        module = sh if door == "sh" else getattr(sh, door.removeprefix("sh."))
        others = {other: GOOD[other]() for other in required[1:]}
        signal.setitimer(signal.ITIMER_REAL, 1.0)
        try:
            getattr(module, name)(**{required[0]: wrong}, **others)
        except (sh.ShallowsError, _TooLong, OSError):
            pass
        except Exception as error:  # what the test is about
            bare.append(f"{door}.{name}({required[0]}): {type(error).__name__} {error}")
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
    assert bare == []
    assert len(functions()) > 60


def test_the_sentence_says_what_to_give():
    with pytest.raises(sh.InvalidProblem, match=r"solutions\.certify\(\), which knows its system"):
        sh.certify.certify(sh.homotopy.solve(["x^2 - 2"]), [[1.4]])
    with pytest.raises(sh.InvalidProblem, match=r"points is .* expected one point a row: 1 coordinate\."):
        sh.certify.certify(sh.homotopy.PolynomialSystem.read(["x^2 - 2"]), [[1.4, 2.0]])
    with pytest.raises(
        sh.InvalidProblem, match=r"net is .*Run.* expected a Network\. Fix: give its `network`"
    ):
        sh.flow_invariants(sh.descend(PROBLEM, NET))
    with pytest.raises(
        sh.InvalidProblem, match=r"problem is .* expected a Problem\. Fix: give its `problem`"
    ):
        sh.focal_points(sh.chart(PROBLEM), np.diag([2.0, 0.0]))
    with pytest.raises(sh.InvalidProblem, match="expected text or a path"):
        sh.load_chart(7)


def test_errors_from_inside_stay_what_they_are():
    from shallows.support.arguments import typed

    @typed
    def broken(net: sh.Network, x: float = 1.0) -> float:
        return x / 0 if x else net.nonsense

    with pytest.raises(ZeroDivisionError):
        broken(NET)
    with pytest.raises(AttributeError, match="nonsense"):
        broken(NET, 0.0)
    with pytest.raises(TypeError, match="unexpected keyword"):
        broken(NET, y=1)
