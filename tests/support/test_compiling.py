"""Compiled functions and their cache, in fresh processes: what is kept, what is compiled again, what is said."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

CALLER = """
from numba import types
from shallows.support.compiling import entry
from callee import shifted, by_address

@entry(types.float64(types.float64))
def called(x):
    return shifted(x) + 100.0 * by_address(x)
"""
CALLEE = """
from numba import types
from shallows.support.compiling import part, unit
from numbers_apart import SHIFT, FACTOR

@part
def shifted(x):
    return x + SHIFT

@unit(types.float64(types.float64))
def by_address(x):
    return FACTOR * x
"""
PROGRAM = """
import numba.core.event as event
compiled = []

class Listener(event.Listener):
    def on_start(self, happening):
        compiled.append(happening.data["dispatcher"].__name__)
    def on_end(self, happening):
        pass

with event.install_listener("numba:compile", Listener()):
    from caller import called
    print(called(1.0), sorted(compiled))
"""


def _run(program: str, folder: Path, cache: Path, **more: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join([str(folder), *sys.path])
    environment = {**os.environ, "PYTHONPATH": paths, "SHALLOWS_CACHE_DIR": str(cache), **more}
    return subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )


def _write(folder: Path) -> Path:
    for name, text in {
        "caller": CALLER,
        "callee": CALLEE,
        "numbers_apart": "SHIFT, FACTOR = 1.0, 2.0",
    }.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def modules(tmp_path):
    return _write(tmp_path)


@pytest.fixture(scope="module")
def first_process(tmp_path_factory):
    """A folder in which the modules have run once, and what that process said; for all tests: they copy it."""
    folder = _write(tmp_path_factory.mktemp("modules"))
    return folder, _run(PROGRAM, folder, folder / "cache").stdout


@pytest.fixture
def compiled(first_process, tmp_path):
    """The modules, and a cache that another process has filled."""
    return shutil.copytree(first_process[0], tmp_path / "copy")


def _change(folder: Path, name: str, old: str, new: str) -> None:
    file = folder / f"{name}.py"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def test_a_second_process_compiles_nothing(first_process, compiled):
    assert first_process[1] == "202.0 ['by_address', 'called']\n"
    assert _run(PROGRAM, compiled, compiled / "cache").stdout == "202.0 []\n"


@pytest.mark.parametrize(
    ("name", "old", "new", "value", "again"),
    [
        ("callee", "x + SHIFT", "x - SHIFT", "200.0", ["called"]),  # what becomes part of the caller
        ("callee", "FACTOR * x", "FACTOR * x * x + 1", "302.0", ["by_address"]),  # what is called by address
        ("callee", "types.float64(types.float64)", "types.float64(types.int64)", "202.0", ["by_address", "called"]),
        ("numbers_apart", "1.0, 2.0", "5.0, 2.0", "206.0", ["called"]),  # a constant in a third file
        ("numbers_apart", "1.0, 2.0", "1.0, 2.0  # a comment", "202.0", []),
    ],
)  # fmt: skip
def test_what_is_changed_in_another_file_is_compiled_again(compiled, name, old, new, value, again):
    _change(compiled, name, old, new)
    assert _run(PROGRAM, compiled, compiled / "cache").stdout == f"{value} {again}\n"


def test_a_place_that_cannot_be_written_is_no_obstacle(modules):
    (modules / "file").write_text("not a folder", encoding="utf-8")
    for _ in range(2):
        assert _run(PROGRAM, modules, modules / "file" / "cache").stdout.startswith("202.0 ['by_address'")


def test_no_home_is_no_obstacle(modules):
    homeless = {"SHALLOWS_CACHE_DIR": "", "XDG_CACHE_HOME": "/dev/null/none", "HOME": "/dev/null/none"}
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(modules), *sys.path]), **homeless}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("202.0")


def test_a_damaged_file_is_compiled_again_and_mended(compiled):
    cache = compiled / "cache"
    for file in cache.rglob("*.code"):
        file.write_bytes(file.read_bytes()[:-100])
    assert _run(PROGRAM, compiled, cache).stdout == "202.0 ['by_address', 'called']\n"
    assert _run(PROGRAM, compiled, cache).stdout == "202.0 []\n"


def test_code_that_names_what_cannot_be_described_is_refused(modules):
    _change(modules, "numbers_apart", "1.0, 2.0", "object(), 2.0")
    with pytest.raises(subprocess.CalledProcessError) as failed:
        _run(PROGRAM, modules, modules / "cache")
    assert "expected numbers, records, compiled functions, or NumPy" in failed.value.stderr


SLOW = """
import time
from shallows.support import compiling, progress
from caller import called
progress.NOTICEABLE = 0.0
called(1.0)
"""


def test_one_line_says_that_something_compiles(modules):
    first, second = (_run(SLOW, modules, modules / "cache").stderr for _ in range(2))
    assert first.count("compiling once for this machine, about") == 1
    assert second == ""


ESTIMATE = """
from shallows.support import progress
import caller, callee
progress.NOTICEABLE, progress.PACE, progress.slowness = 0.0, 1000.0, lambda: 3.0
caller.called(1.0)
parts = caller.called.function, callee.shifted.py_func, callee.by_address.function
print(sum(len(part.__code__.co_code) for part in parts))
"""


def test_the_estimate_is_by_what_is_to_be_compiled(modules):
    """A made-up pace: 1000 s a byte, on a machine three times as slow. Seconds that the test itself takes are few."""
    run = _run(ESTIMATE, modules, modules / "cache")
    said = int(run.stderr.split("about ")[1].split()[0])
    assert said // 3000 == int(run.stdout)


def test_the_estimate_counts_what_is_imported_and_called_later(modules):
    (modules / "other.py").write_text(CALLEE.replace("FACTOR * x", "FACTOR * x - SHIFT"), encoding="utf-8")
    more = ESTIMATE.replace(
        "callee.by_address.function", "callee.by_address.function, other.by_address.function"
    )
    run = _run(more.replace("import caller", "import other, caller"), modules, modules / "cache")
    assert int(run.stderr.split("about ")[1].split()[0]) // 3000 == int(run.stdout)


def test_the_estimate_is_not_by_the_first_function(monkeypatch, capsys):
    """A path tracker as measured: after a second one of 36 functions, 64 of 17,242 bytes, is done; it took 5.4 s.

    By functions it was 36 s.
    """
    from shallows.support import progress

    clock, said = iter([100.0, 101.0]), threading.Event()

    class Now(threading.Thread):
        def __init__(self, _seconds, function):
            super().__init__(target=lambda: (said.wait(), function()))

        def cancel(self):
            said.set()
            self.join()

    monkeypatch.setattr(progress.time, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(progress.threading, "Timer", Now)
    monkeypatch.setattr(progress, "slowness", lambda: 1.0)
    monkeypatch.setattr(progress, "_said_that_it_compiles", False)
    with progress.compiling_line(17_242) as compiled:
        compiled(64)
    assert "about 6 s" in capsys.readouterr().err


def test_nothing_is_said_inside_silence(modules):
    quiet = SLOW.replace("called(1.0)", "with progress.silent(): called(1.0)")
    assert _run(quiet, modules, modules / "cache").stderr == ""


BOTH = """
from numba import carray, types
from shallows.support.compiling import call_at, callback, entry, pointer, unit

FORM = types.float64(types.CPointer(types.float64), types.int64)
at = call_at(FORM)

def summed(values, count):
    total = 0.0
    for i in range(count):
        total += values[i] * (i + 1)
    return max(total, 0.0)

often, seldom, called = unit(FORM)(summed), unit(FORM, rare=True)(summed), callback(FORM)(summed)
seldom.symbol, called.symbol = "seldom", "called"

@entry(types.UniTuple(types.float64, 3)(types.float64[::1], types.int64))
def three(values, address):
    first = pointer(values)
    return often(first, len(values)), seldom(first, len(values)), at(address, first, len(values))
"""


def test_units_little_optimised_ones_and_callbacks_compute_the_same(modules):
    """All three ways to call a loop, fresh and from the cache, against Python; numba brings `max` from elsewhere."""
    (modules / "both.py").write_text(BOTH, encoding="utf-8")
    program = """
import numpy as np, both
values = np.array([0.5, -2.0, 3.25, 1.0])
print(both.three(values, both.called.address), both.summed(values, 4))
"""
    first, second = (_run(program, modules, modules / "cache").stdout for _ in range(2))
    assert first == second == "(10.25, 10.25, 10.25) 10.25\n"


def test_what_is_no_callback_has_no_address(modules):
    program = "import callee; callee.by_address.address"
    with pytest.raises(subprocess.CalledProcessError) as failed:
        _run(program, modules, modules / "cache")
    assert "by_address> has no address: expected a function made with `callback`" in failed.value.stderr
