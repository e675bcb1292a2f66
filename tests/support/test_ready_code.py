"""Machine code that is linked without numba: the same results, and nothing stale, damaged or forgotten."""

import dis
import json
import os
import shutil
import subprocess
import sys

import pytest

from shallows.support import code_cache
from shallows.support.ready_code import digest, sources
from shallows.support.recipe import _codes, names
from shallows.uses.commands.warm import all_units

LOADS = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF"}
BLOCKS = "shallows.mathematics.homotopy._compiled.blocks"
PROGRAM = """
import sys, numpy as np, shallows as sh
if "numba first" in sys.argv:
    from shallows.mathematics.homotopy._compiled import blocks
    from shallows.questions.charts.powers._loop import powers
    from shallows.support.ready_code import ReadyCode
    ReadyCode._linked = lambda self: 0
net = sh.Network([[1.0, 0.5], [-0.25, 2.0]], a=[1.0, 0.75], activation=sh.Power(3))
metric = sh.Metric(2, 3, np.diag([1.0, 2.0, 1.5, 0.75]) + 0.1)
chart = sh.chart(sh.Problem(net, metric, width=1))
print("numba" in sys.modules, chart.completeness, chart.losses.tolist(), chart.complex_count)
"""


def run(cache, *words):
    environment = {**os.environ, "SHALLOWS_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words], env=environment, check=True, capture_output=True, text=True
    )
    loaded, _, result = done.stdout.partition(" ")
    return loaded == "True", result


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A cache in which the program has run once, and what it said; what the user has compiled is not compiled again."""
    cache = tmp_path_factory.mktemp("code") / "cache"
    mine = code_cache.folder()
    if mine is not None and mine.is_dir():
        shutil.copytree(mine, cache / mine.name)
    return cache, run(cache, "numba first")[1]


@pytest.fixture
def cache(filled, tmp_path):
    return shutil.copytree(filled[0], tmp_path / "cache")


def test_a_second_process_does_not_load_numba_and_computes_the_same(filled):
    assert run(filled[0]) == (False, filled[1])


@pytest.mark.parametrize("change", ["other sources", "other form", "no json", "a file that is gone"])
def test_an_index_that_is_not_right_is_not_followed_and_is_written_again(filled, cache, change):
    (file,) = cache.glob(f"*/{BLOCKS}.track_block.index.json")
    index = json.loads(file.read_text(encoding="utf-8"))
    if change == "other sources":
        index["made from"] = "0" * 64
    elif change == "other form":
        index["form"] = 0
    elif change == "a file that is gone":
        file.with_name(index["files"][0][1]).unlink()
    file.write_text("{" if change == "no json" else json.dumps(index), encoding="utf-8")
    assert run(cache) == (True, filled[1])
    assert run(cache) == (False, filled[1])


def test_a_damaged_object_file_is_not_linked(filled, cache):
    for file in cache.glob(f"*/{BLOCKS}.whole_path-*.code"):
        file.write_bytes(file.read_bytes()[:-64])
    assert run(cache) == (True, filled[1])
    assert run(cache) == (False, filled[1])


def test_all_that_code_is_made_from_counts(monkeypatch):
    found = sources({BLOCKS, "shallows.questions.charts.powers._loop"})
    assert {
        "shallows.mathematics.error_free",
        "shallows.support.lean_compiler",
        f"{BLOCKS[:-6]}codes",
    } <= set(found)
    imported = {name for name in sys.modules if name.startswith("shallows.") and "_compiled" in name}
    assert not {name for name in imported if name.endswith(("endgame", "tracker", "records"))} - set(found)
    before = digest(tuple(found))
    digest.cache_clear()
    monkeypatch.setattr("shallows.support.ready_code._source", lambda module: b"changed")
    assert digest(tuple(found)) != before
    digest.cache_clear()


def test_globals_are_those_that_dis_finds():
    for unit in all_units():
        function = unit.function
        code = function.__code__
        cells = dict(
            zip(code.co_freevars, (c.cell_contents for c in function.__closure__ or ()), strict=True)
        )
        scope = {**function.__globals__, **cells}
        steps = [step for inner in _codes(code) for step in dis.get_instructions(inner)]
        seen = {step.argval for step in steps if step.opname in LOADS and step.argval in scope}
        assert set(names(function)) == seen, unit


CLEARED = """
import gc, sys
for name, module in list(sys.modules.items()):
    if name.startswith("shallows."):
        for value in list(vars(module).values()):
            if callable(getattr(value, "cache_clear", None)):
                value.cache_clear()
gc.collect()
again = sh.chart(sh.Problem(net, metric, width=1))
print("numba" in sys.modules, again.completeness, again.losses.tolist(), again.complex_count)
"""


def test_code_that_may_be_called_stays_in_memory(filled):
    """Who empties every cache of the package, as checks of claims do, does not take machine code away from callers."""
    environment = {**os.environ, "SHALLOWS_CACHE_DIR": str(filled[0])}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + CLEARED], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first == second and first.startswith("False")
