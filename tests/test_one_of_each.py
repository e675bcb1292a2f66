"""One of each: loops and comparisons that the house has one home for are not written again elsewhere."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from tests.test_house_rules import FILES, parse

#: Linear systems that are solved: what is made of their solutions and added to a place is a step of Newton's.
SOLVES = {"solve", "lstsq", "inv", "inverses", "pinv", "cho_solve", "lu_solve", "spsolve", "eigh"}
NEWTON = "mathematics/newton.py"
#: Singular values that count; those of an image, by the size of another matrix.
RANKS = {"mathematics/numerical_rank.py", "mathematics/homotopy/sets/images.py"}
#: Claims measure distances as part of their statements.
PAPERS = "uses/papers/"


def _called(node: ast.AST) -> set[str]:
    calls = (inner.func for inner in ast.walk(node) if isinstance(inner, ast.Call))
    return {getattr(function, "attr", getattr(function, "id", "")) for function in calls}


def _names(*nodes: ast.AST) -> set[str]:
    return {inner.id for node in nodes for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def _sums(node: ast.AST) -> Iterator[ast.BinOp]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Add | ast.Sub):
            yield inner


def newton_loops(text: str) -> Iterator[int]:
    """Lines of loops that add what a linear system gave to what it was made at: x = x − solve(J, F), also in lists."""
    solving = any(f"{name}(" in text for name in SOLVES)
    for loop in ast.walk(parse(text)) if solving else []:
        if not isinstance(loop, ast.For | ast.While) or not _called(loop) & SOLVES:
            continue
        inside = [inner for line in loop.body for inner in ast.walk(line)]
        lines = [
            (_names(*([node.target] if isinstance(node, ast.AugAssign) else node.targets)), node.value, node)
            for node in inside
            if isinstance(node, ast.Assign | ast.AugAssign)
            and not isinstance(node.value, ast.List | ast.IfExp)
        ]
        solved = {name for own, value, _ in lines if _called(value) & SOLVES for name in own}
        for _ in lines if solved else []:
            more = {name for own, value, _ in lines if _names(value) & solved for name in own}
            if more <= solved:
                break
            solved |= more
        if any(_is_step(own, value, solved, node) for own, value, node in lines):
            yield loop.lineno


def _is_step(own: set[str], value: ast.expr, solved: set[str], node: ast.stmt) -> bool:
    if isinstance(node, ast.AugAssign):
        return isinstance(node.op, ast.Add | ast.Sub) and bool(_names(value) & solved)
    for total in _sums(value):
        if own & _names(total) and ((_names(total) & solved) - own or _called(total) & SOLVES):
            return True
    for table in (inner for inner in ast.walk(value) if isinstance(inner, ast.ListComp)):
        over = _names(*(part.iter for part in table.generators))
        if own & over and (solved - own) & over and any(_sums(table.elt)):
            return True
    return False


def sameness(text: str) -> Iterator[int]:
    """Lines that ask whether a point is near any of a list: any(np.abs(x − y).max() < SAME for y in known)."""
    asking = re.search(r"\b(any|all)\(", text) and re.search(r"\b(abs|norm)\(", text)
    for node in ast.walk(parse(text)) if asking else []:
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"any", "all"} and node.args:
            (asked,) = node.args[:1]
            if isinstance(asked, ast.GeneratorExp) and isinstance(asked.elt, ast.Compare):
                distance = _called(asked.elt) & {"abs", "norm"} and _called(asked.elt) & {"max", "norm"}
                if distance and any(_sums(asked.elt)):
                    yield node.lineno


def switches(text: str, laws: set[str]) -> Iterator[int]:
    """Lines that ask of which class a law is; whether it is a law at all, `Distribution`, may be asked."""
    for node in ast.walk(parse(text)):
        called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
        asked = node.args[1:] if isinstance(node, ast.Call) and called in {"isinstance", "issubclass"} else []
        if isinstance(node, ast.Compare) and "type" in _called(node):
            asked = [node]
        if isinstance(node, ast.MatchClass):
            asked = [node.cls]
        if _names(*asked) & laws:
            yield node.lineno


def test_a_law_answers_for_itself() -> None:
    """Charts, barriers, descent and discriminants ask methods of `model/data/base.py`, and never for the class."""
    home = "model/data/"
    inside = (parse(text).body for name, text in FILES.items() if name.startswith(home))
    laws = {node.name for body in inside for node in body if isinstance(node, ast.ClassDef)}
    laws -= {"InnerProduct", "Distribution"}
    assert {"Gaussian", "IID", "Mixture", "Radial", "Samples", "Frobenius"} <= laws
    found = {name: list(switches(text, laws)) for name, text in FILES.items() if not name.startswith(home)}
    assert not {name: lines for name, lines in found.items() if lines}


def test_newton_is_written_once() -> None:
    found = {name: list(newton_loops(text)) for name, text in FILES.items() if name != NEWTON}
    assert not {name: lines for name, lines in found.items() if lines}, "see mathematics/newton.py"


def test_the_same_point_is_asked_in_one_place() -> None:
    # "as close as a step" along a drawn curve is no question of sameness
    found = {name: list(sameness(text)) for name, text in FILES.items() if not name.startswith(PAPERS)}
    assert {name for name, lines in found.items() if lines} <= {"questions/discriminants/focal_slices.py"}


@pytest.mark.parametrize(
    ("pattern", "home"),
    [
        (r"\bcpu_count\(|sched_getaffinity", {"support/cores.py"}),
        (r"rich\.progress", {"support/progress.py"}),
        (r"np\.savez", {"support/files.py", "support/npz.py"}),
        (r"connected_components|\.query_pairs\(", {"mathematics/same_points.py"}),
        (r"def (lm|levenberg_marquardt)\b", {"mathematics/solvers/levenberg_marquardt.py"}),
        (r"def (cg|conjugate_gradients)\b", {"mathematics/solvers/conjugate_gradients.py"}),
        (r"134217729", {"mathematics/error_free.py"}),
        (r"np\.(sum|count_nonzero)\(\w+ > [^)\n]+ \* [^\n]*(max|\[0\])", RANKS),
    ],
)
def test_plumbing_has_one_home(pattern: str, home: set[str]) -> None:
    code = {name: re.sub(r"^\s*>>>.*|^\s*\.\.\. .*", "", text, flags=re.M) for name, text in FILES.items()}
    assert {name for name, text in code.items() if re.search(pattern, text)} <= home


def test_the_rules_notice() -> None:
    assert list(newton_loops("for _ in range(9):\n    x = x - np.linalg.solve(J(x), F(x))")) == [1]
    assert list(newton_loops("while True:\n    s = lstsq(J, F)[0]\n    x = x + min(1.0, c) * s")) == [1]
    assert list(newton_loops("while True:\n    s = J.solve(F).entries()\n    x -= s")) == [1]
    lists = "for _ in range(9):\n    s = J.solve(F)\n    x = [(a - b).mid() for a, b in zip(x, s)]"
    assert list(newton_loops(lists)) == [1]
    assert list(newton_loops("for i in r:\n    y = np.linalg.solve(A, b)\n    rows += [y]")) == []
    assert list(sameness("any(np.abs(x - y).max() < SAME for y in known)")) == [1]
    assert list(sameness("all(abs(x) < SAME for x in known)")) == []
    assert list(switches("isinstance(data, Gaussian | IID)", {"IID"})) == [1]
    assert list(switches("type(data) is IID", {"IID"})) == [1]
    assert list(switches("isinstance(data, Distribution)", {"IID"})) == []
