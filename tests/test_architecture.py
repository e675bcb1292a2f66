"""The five storeys, held to by every module: what may import what, and no cycle between modules.

A module imports from its own storey and from those below. The doors (`shallows/learn.py`, …) and `__init__.py` export
public names and may use every storey; nobody inside imports from them, but the papers and other uses, which are users
of the library, may `import shallows as sh`. Imports for type checking do not count; imports inside functions do.
"""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "shallows"
STOREYS = ("support", "mathematics", "model", "questions", "uses")
DOORS = {
    "certify",
    "exclusion",
    "discriminants",
    "geometry",
    "homotopy",
    "learn",
    "quadratic",
    "relu",
    "sweep",
    "training",
    "__main__",
}
#: Methods that hand their result on to a higher storey, or to a room that builds on theirs: (module, imported module).
HAND_OVERS: dict[tuple[str, str], str] = {
    ("questions.charts.result", "questions.connections.connections"): "chart.connections()",
    ("questions.charts.result", "uses.report.build"): "chart.report()",
    ("questions.descent.results.ensemble", "uses.report.build"): "runs.report()",
    ("questions.diagnosis.diagnosis", "uses.report.diagnosis"): "diagnosis.report()",
}


#: Imports of modules by their names; below the uses only what reads the lists of public names and of compiled code.
BY_NAME = {"import_module", "__import__"}
COMPUTES_NAMES = {"support.first_use", "support.ready_code"}


def name_of(file: Path) -> str:
    return ".".join(file.relative_to(SOURCE).with_suffix("").parts).removesuffix("__init__").rstrip(".")


MODULES = {name_of(file): file.read_text(encoding="utf-8") for file in sorted(SOURCE.rglob("*.py"))}


@functools.cache
def imported(text: str) -> tuple[str, ...]:
    """The modules of `shallows` that a text imports, at once or inside functions; "" is `shallows` itself."""
    found: list[str] = []
    waiting: list[ast.AST] = [ast.parse(text)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            waiting += node.orelse
            continue
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in BY_NAME:
            named = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            found += (name[9:] for name in named if name.split(".")[0] == "shallows")
        if isinstance(node, ast.Import):
            found += (alias.name[9:] for alias in node.names if alias.name.split(".")[0] == "shallows")
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports are not used here"
            if node.module and node.module.split(".")[0] == "shallows":
                package = node.module[9:]
                inner = [f"{package}.{alias.name}".lstrip(".") for alias in node.names]
                found += (name if name in MODULES else package for name in inner)
        waiting += ast.iter_child_nodes(node)
    return tuple(found)


def strays(module: str, text: str) -> list[str]:
    """The imports that go up, or through a door."""
    level = STOREYS.index(module.split(".")[0])
    found = []
    for other in imported(text):
        storey = other.split(".")[0]
        if storey in STOREYS:
            right = STOREYS.index(storey) <= level or (module, other) in HAND_OVERS
        else:  # the public names and doors
            right = level == STOREYS.index("uses")
        if not right:
            found.append(other)
    return sorted(set(found))


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of more than one module (Tarjan 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for other in sorted(graph.get(module, set())):
            if other not in index:
                visit(other)
                low[module] = min(low[module], low[other])
            elif other in stack:
                low[module] = min(low[module], index[other])
        if low[module] == index[module]:
            component = stack[stack.index(module) :]
            del stack[stack.index(module) :]
            if len(component) > 1:
                found.append(sorted(component))

    for module in sorted(graph):
        if module not in index:
            visit(module)
    return found


def graph() -> dict[str, set[str]]:
    inside = {m: t for m, t in MODULES.items() if m.split(".")[0] in STOREYS}
    return {
        m: {o for o in imported(t) if o in inside and o != m and (m, o) not in HAND_OVERS}
        for m, t in inside.items()
    }


@pytest.mark.parametrize("storey", STOREYS)
def test_nothing_imports_upwards(storey: str) -> None:
    wrong = {m: strays(m, t) for m, t in MODULES.items() if m.split(".")[0] == storey}
    assert not {module: found for module, found in wrong.items() if found}


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert cycles(graph()) == []


def test_every_module_is_in_a_storey_or_is_a_door() -> None:
    assert {m.split(".")[0] for m in MODULES} - {""} == {*STOREYS, *DOORS}


def test_names_of_modules_are_computed_in_the_uses_only() -> None:
    """`import_module(f"shallows.{…}")` could go anywhere, and no reader of imports would see where."""
    calling = re.compile(rf"\b({'|'.join(BY_NAME)})\(")
    found = {m for m, t in MODULES.items() if calling.search(t) and m.split(".")[0] != "uses"}
    assert found == COMPUTES_NAMES


def test_hand_overs_are_real() -> None:
    for module, other in HAND_OVERS:
        assert other in imported(MODULES[module]), (module, other)


def test_a_wrong_import_is_noticed() -> None:
    module = "model.kernels.new"
    assert strays(module, "from shallows.questions.descent.descend import descend") == [
        "questions.descent.descend"
    ]
    assert strays(module, "def f():\n    import shallows.uses.report") == ["uses.report"]
    assert strays(module, "import shallows as sh") == [""]
    assert strays(module, "from shallows.learn import Frame") == ["learn"]
    assert strays("uses.papers.new", "import shallows as sh") == []
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from shallows.uses.report import page"
    assert strays(module, typed) == []
    for runs in ("if not TYPE_CHECKING:\n    ", "if TYPE_CHECKING:\n    pass\nelse:\n    "):
        assert strays(module, runs + "import shallows.uses.report") == ["uses.report"]
    for late in ('importlib.import_module("shallows.uses.report")', '__import__("shallows.uses.report")'):
        assert strays(module, f"def f():\n    return {late}") == ["uses.report"]


def test_a_circle_is_noticed_through_functions_too() -> None:
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]
    assert cycles({"a": {"b"}, "b": set()}) == []
    late = "def f():\n    from shallows.model.problem import Problem"
    assert list(imported(late)) == ["model.problem"]


def test_the_storeys_in_the_documentation_are_these() -> None:
    page = (ROOT / "docs" / "developers" / "house.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d) \| `(\w+)/` \|", page, re.M)
    assert rows == [(str(number), storey) for number, storey in enumerate(STOREYS, 1)]
