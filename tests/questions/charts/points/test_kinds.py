"""What a signature says, what the lowest of a list is, and whether it is attained: rules that all rooms share."""

import numpy as np
import pytest

import shallows as sh
from shallows.questions.charts.points.kinds import Levels, hessian_kind, kind_at, kinds_of
from shallows.questions.charts.points.rows import ChartRow, FoundRow, attained

NET = sh.Network([[1.0, 0.0]])


@pytest.mark.parametrize(
    "seen, moves, turns, kind",
    [
        ((3, 0, 0), 0, 0, "local minimum"),
        ((2, 0, 1), 0, 0, "saddle"),
        ((0, 0, 3), 0, 0, "local maximum"),
        ((0, 1, 2), 0, 0, "saddle"),  # along a flat direction the loss may rise
        ((0, 1, 2), 1, 0, "saddle"),  # a family is no maximum
        ((0, 1, 2), 0, 1, "local maximum"),  # what no function sees does not count
        ((2, 1, 0), 0, 0, "degenerate"),
        ((2, 1, 0), 1, 0, "local minimum"),
        ((1, 2, 0), 1, 0, "degenerate"),
        ((1, 2, 0), 1, 1, "local minimum"),
    ],
)
def test_what_a_signature_says(seen, moves, turns, kind):
    assert kind_at(seen, moves, turns) == kind
    assert hessian_kind(np.diag([2.0] * seen[0] + [0.0] * seen[1] + [-3.0] * seen[2]), moves, turns) == kind


def rows_of(*kinds):
    return [FoundRow(np.zeros(1), NET, 1, (1, 0, 0), kind) for kind in kinds]


def test_the_lowest_is_global_in_a_closed_list_only():
    rows, levels = rows_of("saddle", "", "degenerate", ""), Levels(np.array([3.0, 1.0, 1.0, 2.0]), 4.0)
    assert kinds_of(levels, rows, lambda row: "local minimum", False).tolist() == [
        "saddle", "local minimum", "degenerate", "local minimum",
    ]  # fmt: skip
    assert kinds_of(levels, rows, lambda row: "local minimum", True).tolist() == [
        "saddle", "global minimum", "global minimum", "local minimum",
    ]  # fmt: skip
    among = kinds_of(levels, rows, lambda row: "local minimum", True, among=("local minimum",))
    assert among.tolist() == ["saddle", "global minimum", "degenerate", "local minimum"]


def test_what_has_the_loss_of_the_target_is_a_global_minimum_and_nobody_is_asked():
    asked = []

    def judge(row):
        asked.append(row)
        return "saddle"

    rows = rows_of("", "saddle", "")
    kinds = kinds_of(Levels(np.array([0.0, 0.0, 1.0]), 4.0), rows, judge, False)
    assert kinds.tolist() == ["global minimum", "global minimum", "saddle"]
    assert asked == [rows[2]]
    assert kinds_of(Levels(np.zeros(0), 4.0), [], judge, True).tolist() == []


@pytest.mark.parametrize(
    "limits, known, answer",
    [
        ([], True, None),
        ([False], False, True),
        ([True, False], True, True),
        ([True], True, False),
        ([True], False, None),
    ],
)
def test_a_network_among_the_lowest_attains_the_infimum(limits, known, answer):
    rows = [ChartRow(NET, 0.0, 1, (1, 0, 0), "global minimum", limit=limit) for limit in limits]
    assert attained([*rows, ChartRow(NET, 1.0, 1, (1, 0, 0), "local minimum")], known) is answer
