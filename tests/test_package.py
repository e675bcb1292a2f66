"""The package as a whole: what importing it costs, what it exports, and that docstring examples are true."""

import doctest
import importlib
import pkgutil
import subprocess
import sys

import numpy as np
import pytest

import shallows as sh


def test_importing_loads_neither_numba_nor_plotly():
    code = "import sys, shallows; print(sorted({'numba', 'plotly', 'dash', 'pandas', 'sklearn'} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_every_public_name_is_there_and_documented():
    assert sh.__all__ == sorted(
        sh.__all__, key=lambda name: (not name.isupper(), not name[0].isupper(), name)
    )
    for name in sh.__all__:
        assert getattr(sh, name).__doc__, name


def modules():
    return [
        m.name for m in pkgutil.walk_packages(sh.__path__, "shallows.") if not m.name.endswith("__main__")
    ]


@pytest.mark.parametrize("name", modules())
def test_docstring_examples(name):
    module = importlib.import_module(name)
    names = {**vars(module), **{key: getattr(sh, key) for key in sh.__all__}, "np": np, "sh": sh}
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.testmod(module, extraglobs=names, optionflags=options).failed == 0
