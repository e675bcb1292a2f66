"""What `shallows warm` compiles is everything there is to compile, and each of it compiles."""

import inspect
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from numba import types

import shallows
from shallows.support import compiling
from shallows.uses.commands.warm import all_units

SOURCE = Path(shallows.__file__).parent
#: Loads every unit and says how many there are, how many were compiled for it, and how many are kept.
LOAD_ALL = """
import json
import numba.core.event as event
from shallows.support import code_cache
from shallows.uses.commands.warm import all_units

compiled = []

class Listener(event.Listener):
    def on_start(self, happening):
        compiled.append(happening.data["dispatcher"].py_func.__qualname__)
    def on_end(self, happening):
        pass

units = all_units()
with event.install_listener("numba:compile", Listener()):
    for unit in units:
        unit.load()
print(json.dumps([len(units), len(compiled), code_cache.contents()[0]]))
"""


@pytest.fixture(scope="module")
def units():
    return all_units()


def test_no_unit_is_left_out(units):
    """Modules are found by what they import; no unit may hide in a function, or under the symbol of another."""
    made = [unit for unit in compiling._loaded if unit.function.__module__.startswith("shallows.")]
    known = {id(unit) for unit in units}
    assert len(units) >= 170 and len({unit.symbol for unit in units}) == len(units)
    assert [unit for unit in made if id(unit) not in known and "<locals>" not in unit.symbol] == []


def test_every_unit_is_called_from_python_or_by_one_that_is(units):
    text = "\n".join(file.read_text(encoding="utf-8") for file in SOURCE.rglob("*.py"))
    words = Counter(re.findall(r"\w+", text))
    doors = [unit for unit in units if (unit.python or unit.c) and words[unit.__name__] > 1]
    reached = {other.symbol for unit in doors for other in unit.closure()}
    assert [unit for unit in units if unit.symbol not in reached] == []


def test_every_signature_has_a_type_for_each_parameter(units):
    for unit in units:
        parameters = inspect.signature(unit.function).parameters
        assert len(parameters) == len(unit.signature.args), unit
        assert all(isinstance(kind, types.Type) and kind.is_precise() for kind in unit.signature.args), unit


@pytest.mark.thorough
def test_all_units_compile_from_an_empty_cache_and_are_all_kept(units, tmp_path):
    environment = {**os.environ, "SHALLOWS_CACHE_DIR": str(tmp_path)}
    first, second = (
        json.loads(
            subprocess.run(
                [sys.executable, "-c", LOAD_ALL], env=environment, stdout=subprocess.PIPE, check=True
            ).stdout
        )
        for _ in range(2)
    )
    assert (
        first[0] == first[2] == len(units) <= first[1]
    )  # functions that become part of others are compiled, not kept
    assert second == [len(units), 0, len(units)]
