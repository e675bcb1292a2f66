"""Data flows one way: what may import what, read from the imports of every file.

The layers are those of docs/developers/house.md. A module imports from its own package and from smaller layers. A
method that hands its result on to a later layer (`chart.report()`) imports it when it is called; these hand-overs are
listed, one by one.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "shallows"
LAYERS = (
    {"errors"},
    {"_checks"},
    {"coordinates", "parameters", "activations", "homotopy", "certify"},
    {"polynomial_text", "forms"},
    {"tensors"},
    {"data", "network"},
    {"kernels"},
    {"objective"},
    {"problem"},
    {"diagnostics", "problem_file", "geometry", "charts"},
    {"descent"},
    {"critical"},
    {"discriminants", "quadratic", "relu", "learn"},
    {"report", "sweep"},
    {"papers", "citation", "explorer"},
    {"commands"},
    {"cli"},
    {"__main__"},
)
LEVEL = {package: level for level, packages in enumerate(LAYERS) for package in packages}
#: The two halves of one engine: solutions are certified, and certificates are made for solutions.
PARTNERS = {frozenset({"homotopy", "certify"})}
#: Imports inside functions that go to a later layer: (file, package).
HAND_OVERS: dict[tuple[str, str], str] = {
    ("charts/result.py", "critical"): "chart.points are classified in parameter space on demand",
    ("charts/result.py", "report"): "chart.report()",
    ("descent/outcome.py", "report"): "runs.report()",
}
FILES = sorted(SOURCE.rglob("*.py"))


class Imports(ast.NodeVisitor):
    """The packages of `shallows` that a file imports: at once, and inside functions. Types do not count."""

    def __init__(self) -> None:
        self.depth = 0
        self.at_once: set[str] = set()
        self.later: set[str] = set()

    def visit_If(self, node: ast.If) -> None:
        if "TYPE_CHECKING" not in ast.dump(node.test):
            self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.depth += 1
        self.generic_visit(node)
        self.depth -= 1

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._add(alias.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        assert node.level == 0, "relative imports are not used here"
        names = (
            [f"shallows.{a.name}" for a in node.names] if node.module == "shallows" else [node.module or ""]
        )
        for name in names:
            self._add(name)

    def _add(self, name: str) -> None:
        if name == "shallows" or name.startswith("shallows."):
            package = name.split(".")[1] if "." in name else "shallows"
            (self.later if self.depth else self.at_once).add(package)


def imports_of(text: str) -> Imports:
    visitor = Imports()
    visitor.visit(ast.parse(text))
    return visitor


def package_of(file: Path) -> str:
    return file.relative_to(SOURCE).parts[0].removesuffix(".py")


def allowed(package: str, other: str) -> bool:
    if (
        other == "shallows"
    ):  # the public names: for papers and what comes after them, which are users of the library
        return LEVEL[package] >= LEVEL["papers"]
    return other == package or frozenset({package, other}) in PARTNERS or LEVEL[other] < LEVEL[package]


def strays(file: str, package: str, text: str) -> list[str]:
    found = imports_of(text)
    late = {other for other in found.later if (file, other) not in HAND_OVERS}
    return sorted(other for other in found.at_once | late if not allowed(package, other))


@pytest.mark.parametrize("package", sorted(LEVEL))
def test_imports_flow_one_way(package: str) -> None:
    files = [file for file in FILES if package_of(file) == package]
    names = {str(file.relative_to(SOURCE)): file.read_text(encoding="utf-8") for file in files}
    wrong = {name: strays(name, package, text) for name, text in names.items()}
    assert not {name: found for name, found in wrong.items() if found}, (
        f"{package} imports from a later layer"
    )


def test_every_package_has_a_layer() -> None:
    assert {package_of(file) for file in FILES} - {"__init__"} == set(LEVEL)


def test_hand_overs_are_real() -> None:
    for file, package in HAND_OVERS:
        assert package in imports_of((SOURCE / file).read_text(encoding="utf-8")).later, (file, package)


def test_a_wrong_import_is_noticed() -> None:
    assert strays("kernels/new.py", "kernels", "from shallows.descent import descend") == ["descent"]
    assert strays("kernels/new.py", "kernels", "def f():\n    import shallows.report") == ["report"]
    assert strays("kernels/new.py", "kernels", "import shallows as sh") == ["shallows"]
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from shallows.descent import Run"
    assert strays("kernels/new.py", "kernels", typed) == []


def test_the_table_of_layers_in_the_documentation_is_this_one() -> None:
    page = (ROOT / "docs" / "developers" / "house.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| ((?:`\w+`(?:, )?)+) \|$", page, re.M)
    table = {int(level): set(re.findall(r"`(\w+)`", names)) for level, names in rows}
    assert table == dict(enumerate(LAYERS))
