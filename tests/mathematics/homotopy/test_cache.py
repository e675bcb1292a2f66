"""The cache of compiled code: a change anywhere in what it is made from leads to new code."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

import pytest

from shallows.mathematics.homotopy._compiled import entry_points


def _imported(file: Path) -> set[Path]:
    """The files of `shallows` that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("shallows"):
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            for name in names:
                try:
                    spec = importlib.util.find_spec(name)
                except ModuleNotFoundError:  # a name inside a module
                    continue
                if spec is not None and spec.origin:
                    found.add(Path(spec.origin))
    return {each for each in found if each.name != "__init__.py"}


def test_the_digest_covers_all_that_the_entry_points_stand_on():
    covered = set(entry_points.sources())
    waiting, seen = [Path(entry_points.__file__)], set()
    while waiting:
        file = waiting.pop()
        seen.add(file)
        waiting += _imported(file) - seen
    assert seen <= covered
    assert {"linear.py", "tracker.py", "endgame.py", "tolerances.py"} <= {file.name for file in seen}


@pytest.mark.parametrize("name", ["linear.py", "tracker.py", "tolerances.py"])
def test_a_changed_callee_changes_the_digest_and_the_digest_the_key(name, tmp_path):
    copies = []
    for file in entry_points.sources():
        copy = tmp_path / file.name
        copy.write_bytes(file.read_bytes())
        copies.append(copy)
    before = entry_points.digest_of(copies)
    assert before == entry_points.digest_of(entry_points.sources())
    changed = tmp_path / name
    changed.write_text(changed.read_text(encoding="utf-8") + "\n# another line\n", encoding="utf-8")
    after = entry_points.digest_of(copies)
    assert after != before

    def keys(digest: int) -> list[object]:
        from numba.core.registry import cpu_target

        codegen = cpu_target.target_context.codegen()
        wrappers = entry_points._entry_points(digest)
        return [wrapper._cache._index_key((), codegen) for wrapper in wrappers]

    assert keys(before) == keys(before)
    assert all(one != other for one, other in zip(keys(before), keys(after), strict=True))
