"""No row under the key of another file: data and functions are edited between and during runs, wherever they stand.

The quantity is E y² of the target x² + y² on the data; the test computes it from the file, with NumPy alone.
"""

import os

import numpy as np
import pytest

from shallows.support.errors import ShallowsError
from shallows.sweep import SweepStopped, load_sweep, run_sweep

CELLS = """
    import numpy as np
    import shallows as sh

    def energy(problem, x=0):
        return problem.loss(sh.Network([[0.0, 0.0]]))

    def from_file(file, rng):
        from pathlib import Path
        X = np.loadtxt(Path(__file__).parent / file, delimiter=",", skiprows=1)
        return sh.Problem(np.eye(2), sh.Samples(X), width=1)
"""
TARGET = "width = 1\ntarget = { diagonal = [1.0, 1.0] }\n"
SAMPLES = '{ law = "samples", file = "data.csv" }'
MIXTURE = f'data = {{ law = "mixture", weights = [1.0], parts = [{SAMPLES}] }}\n'
NESTED = MIXTURE.replace(SAMPLES, MIXTURE.strip().removeprefix("data = "))
COMPUTE = '[compute]\nwhat = "cells:energy"\n'
#: Where a problem can name a file.
PLACES = {
    "data": f"[problem]\n{TARGET}data = {SAMPLES}\n{COMPUTE}",
    "a part of a mixture": f"[problem]\n{TARGET}{MIXTURE}{COMPUTE}",
    "a mixture in a mixture": f"[problem]\n{TARGET}{NESTED}{COMPUTE}",
    "an axis of names": f'[problem]\n{TARGET}data = {SAMPLES}\n{COMPUTE}[[axes]]\npath = "problem.data.file"\n'
    'values = ["data.csv"]\n',
    "an axis of tables": f'[problem]\n{TARGET}data = {{ law = "frobenius", n = 2 }}\n{COMPUTE}[[axes]]\n'
    f'path = "problem.data"\nvalues = [{SAMPLES}]\n',
    "an axis of lists of tables": f"[problem]\n{TARGET}{MIXTURE}{COMPUTE}[[axes]]\n"
    f'path = "problem.data.parts"\nvalues = [[{SAMPLES}]]\n',
    "an axis into a part": f"[problem]\n{TARGET}{MIXTURE}{COMPUTE}[[axes]]\n"
    'path = "problem.data.parts.0.file"\nvalues = ["data.csv"]\n',
    "an argument of a function": f'[problem]\nmake = "cells:from_file"\nfile = "data.csv"\n{COMPUTE}',
}  # fmt: skip


def csv(scale):
    return f"a,b\n{scale},0\n0,{2 * scale}\n{scale},{scale}\n"


def energy(text):
    """E (x² + y²)², from the text of the file."""
    X = np.array([[float(x) for x in line.split(",")] for line in text.splitlines()[1:]])
    return np.mean(np.sum(X**2, axis=1) ** 2)


def stored(folder):
    return load_sweep(folder.out)["value"].tolist()


@pytest.mark.parametrize("place", PLACES)
def test_an_edited_data_file_is_computed_again_and_a_restored_one_found_again(folder, place):
    folder.write("cells.py", CELLS)
    sweep = folder.write("sweep.toml", PLACES[place])
    for scale, computed in ((1, 1), (3, 1), (1, 0), (3, 0)):
        folder.write("data.csv", csv(scale))
        assert run_sweep(sweep, folder.out, engine="process").computed == computed
        assert stored(folder) == pytest.approx([energy(csv(scale))], rel=1e-12)


EDITING = """
    from pathlib import Path
    import shallows as sh

    def energy(problem, x):
        if x == 2:
            (Path(__file__).parent / "data.csv").write_text({new!r})
        return problem.loss(sh.Network([[0.0, 0.0]]))
"""
AXIS = '[[axes]]\npath = "compute.x"\nvalues = [0, 1, 2, 3, 4, 5]\n'


@pytest.mark.parametrize("engine", ["process", pytest.param("local", marks=pytest.mark.thorough)])
@pytest.mark.parametrize("place", ["data", "a part of a mixture"])
def test_a_data_file_edited_while_a_sweep_runs_stops_it(folder, place, engine):
    """Rows of the new content are not stored under the old key, and putting the file back helps."""
    folder.write("cells.py", EDITING.format(new=csv(3)))
    sweep = folder.write("sweep.toml", PLACES[place] + AXIS)
    folder.write("data.csv", csv(1))
    options = {"engine": engine} if engine == "process" else {"workers": 1}
    with pytest.raises(SweepStopped, match=r"data\.csv is not what the sweep was started with"):
        run_sweep(sweep, folder.out, **options)
    old, new = energy(csv(1)), energy(csv(3))
    assert stored(folder) == pytest.approx([old] * len(stored(folder)), rel=1e-12)
    assert run_sweep(sweep, folder.out, **options).computed == 6  # now of the new content
    assert stored(folder) == pytest.approx([new] * 6, rel=1e-12)
    folder.write("data.csv", csv(1))
    with pytest.raises(SweepStopped):  # x = 2 edits it again
        run_sweep(sweep, folder.out, **options)
    folder.write("data.csv", csv(1))
    assert all(value == pytest.approx(old, rel=1e-12) for value in stored(folder))


HELPER = "def factor():\n    return {}\n"
USER = "import helper\n\ndef value(x):\n    return helper.factor() * x\n"
LATE = "def value(x):\n    import helper\n    return helper.factor() * x\n"
VALUE = '[compute]\nwhat = "cells:value"\n[[axes]]\npath = "compute.x"\nvalues = [1, 2]\n'


@pytest.mark.parametrize("source", [USER, LATE], ids=["at the top", "in the function"])
def test_an_edited_module_that_a_function_imports_is_computed_again(folder, source):
    """In one session, within one second and with as many bytes, which is what Python's bytecode files cannot see."""
    folder.write("cells.py", source)
    sweep = folder.write("sweep.toml", VALUE)
    for factor in (2, 3, 2):
        file = folder.write("helper.py", HELPER.format(factor))
        os.utime(file, (10**9, 10**9))
        run_sweep(sweep, folder.out, engine="process")
        assert stored(folder) == [factor, 2 * factor]


def test_an_edited_function_of_the_same_second_and_size_is_the_edited_one(folder):
    sweep = folder.write("sweep.toml", VALUE)
    for factor in (2, 3):
        file = folder.write("cells.py", f"def value(x):\n    return {factor} * x\n")
        os.utime(file, (10**9, 10**9))
        assert run_sweep(sweep, folder.out, engine="process").computed == 2
        assert stored(folder) == [factor, 2 * factor]


def test_two_folders_have_their_own_helpers(folder):
    for name, factor in (("one", 2), ("two", 3), ("one", 2)):
        path = folder.path / name
        path.mkdir(exist_ok=True)
        (path / "cells.py").write_text(USER)
        (path / "helper.py").write_text(HELPER.format(factor))
        (path / "sweep.toml").write_text(VALUE)
        run_sweep(path / "sweep.toml", path / "results", engine="process")
        assert load_sweep(path / "results")["value"].tolist() == [factor, 2 * factor]


EDITS_ITSELF = """
    from pathlib import Path

    def value(x):
        if x == 2:
            Path(__file__).write_text("def value(x): return -1")
        return x
"""


def test_a_function_edited_while_a_sweep_runs_stops_it(folder):
    folder.write("cells.py", EDITS_ITSELF)
    sweep = folder.write("sweep.toml", VALUE.replace("[1, 2]", "[1, 2, 3, 4]"))
    with pytest.raises(SweepStopped, match="The file of cells:value"):
        run_sweep(sweep, folder.out, engine="process")
    folder.write("cells.py", EDITS_ITSELF)
    frame = load_sweep(folder.out)
    assert (frame["value"] == frame["x"]).all()


def test_a_file_that_is_not_there_is_named(folder):
    folder.write("cells.py", CELLS)
    for place, text in PLACES.items():
        sweep = folder.write("sweep.toml", text)
        with pytest.raises((ShallowsError, FileNotFoundError), match=r"data\.csv") as caught:
            run_sweep(sweep, folder.out, engine="process")
        assert isinstance(caught.value, ShallowsError) or "function" in place
