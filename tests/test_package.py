"""The package as a whole: what importing it costs, what it exports, and that docstring examples are true."""

import doctest
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import numpy as np
import pytest

import shallows as sh
from shallows.support import version
from shallows.support.first_use import reading_order

ROOT = Path(__file__).resolve().parent.parent


def test_importing_loads_neither_numba_nor_plotly():
    code = "import sys, shallows; print(sorted({'numba', 'plotly', 'dash', 'pandas', 'sklearn'} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


DOORS = [name for name in sh.__all__ if inspect.ismodule(getattr(sh, name))]


@pytest.mark.parametrize("where", ["shallows", *(f"shallows.{door}" for door in DOORS)])
def test_public_names_are_sorted_there_and_documented(where):
    module = importlib.import_module(where)
    assert module.__all__ == sorted(module.__all__, key=reading_order)
    assert set(module.__all__) <= set(dir(module))
    for name in module.__all__:
        assert getattr(module, name).__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = module.nothing


def doubles(names):
    """What is exported under more than one name."""
    return {
        tuple(other for other, same in names.items() if same is item)
        for item in names.values()
        if sum(same is item for same in names.values()) > 1
    }


def test_no_public_name_is_exported_twice():
    modules = {"sh": sh} | {f"sh.{door}": getattr(sh, door) for door in DOORS}
    exported = {f"{where}.{name}": getattr(m, name) for where, m in modules.items() for name in m.__all__}
    assert not doubles(exported)
    assert doubles({"sh.follow": print, "sh.discriminants.follow": print}) == {
        ("sh.follow", "sh.discriminants.follow")
    }


def test_spellings_of_earlier_scripts_are_reachable():
    """Names that doors exported beside the top: unlisted now, the same objects."""
    earlier = {
        "discriminants": ["focal_cloud", "focal_slice", "follow", "landscape_regions"],
        "quadratic": ["Barrier", "Span", "energy_barrier", "spans_symmetric"],
        "relu": ["relu_problem"],
        "sweep": ["SweepRun", "SweepStatus", "SweepStopped", "load_sweep", "run_sweep", "sweep_status"],
    }
    for door, names in earlier.items():
        for name in names:
            assert getattr(getattr(sh, door), name) is getattr(sh, name)


def test_the_version_is_that_of_the_project(monkeypatch, tmp_path):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert sh.__version__ == project["version"]
    assert "__version__" in dir(sh)
    monkeypatch.setattr(version, "version", not_installed)
    assert version.find_version() == project["version"]
    monkeypatch.setattr(version, "__file__", str(tmp_path / "a" / "b" / "c" / "version.py"))
    assert version.find_version() == "unknown"


def test_every_place_has_the_same_version():
    """What a release changes by hand: pyproject.toml, CITATION.cff, the first heading of the changelog."""
    cited = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.M)
    heading = re.search(r"^## (\S+) \(.*\)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert cited[1] == heading[1] == sh.__version__


def not_installed(name):
    raise PackageNotFoundError(name)


#: Modules that need a framework which the other tests do without.
FRAMEWORKS = {
    "shallows.model.frameworks.jax_loss": "jax",
    "shallows.model.frameworks.torch_file": "torch",
    "shallows.model.frameworks.torch_loss": "torch",
    "shallows.model.frameworks.torch_modules": "torch",
}


def modules():
    return [
        m.name for m in pkgutil.walk_packages(sh.__path__, "shallows.") if not m.name.endswith("__main__")
    ]


@pytest.mark.parametrize("name", modules())
def test_docstring_examples(name):
    if name in FRAMEWORKS:
        pytest.importorskip(FRAMEWORKS[name], reason="make test-frameworks installs it")
    module = importlib.import_module(name)
    names = {**vars(module), **{key: getattr(sh, key) for key in sh.__all__}, "np": np, "sh": sh}
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.testmod(module, extraglobs=names, optionflags=options).failed == 0
