"""Sweeps in a folder of their own, with functions beside the file, as a user has them."""

import sys
from pathlib import Path
from textwrap import dedent

import pytest

CELLS = '''
import os, signal, time
from pathlib import Path

import numpy as np


def twice(x, rng):
    return {"y": 2 * x, "drawn": float(rng.random())}


def touchy(x, folder, bad=(), deadly=(), seconds=0.0):
    """Leaves a mark each time it starts; raises at some places, kills its process at others."""
    with (Path(folder) / f"started-{x}").open("a") as file:
        file.write(f"{os.getpid()}\\n")
    if x in bad:
        raise ValueError(f"no {x} here")
    if x in deadly:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(seconds)
    return {"y": x}


def mixed(x):
    return {"value": "text" if x == 2 else x}


def shaped(x):
    return {"value": np.arange(3)}


def threads():
    from threadpoolctl import threadpool_info

    counts = [pool["num_threads"] for pool in threadpool_info()]
    import numba

    return {"most": max(counts + [numba.get_num_threads()]), "pools": len(counts)}
'''


class Sweep:
    """A folder with `cells.py` and `sweep.toml`; `started(x)` is how often cell x was begun."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.file, self.out = folder, folder / "sweep.toml", folder / "results"
        (folder / "cells.py").write_text(CELLS)

    def write(self, text: str) -> Path:
        self.file.write_text(dedent(text))
        return self.file

    def touchy(self, count: int, **settings) -> Path:
        settings = {"folder": str(self.folder)} | settings
        lines = "\n".join(f"{name} = {value!r}" for name, value in settings.items())
        return self.write(
            f'[[axes]]\npath = "compute.x"\nrange = {{ start = 0, stop = {count - 1} }}\n'
            f'[compute]\nwhat = "cells:touchy"\n{lines}\n'
        )

    def started(self, x: int) -> int:
        mark = self.folder / f"started-{x}"
        return len(mark.read_text().split()) if mark.exists() else 0


@pytest.fixture
def sweep(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    return Sweep(tmp_path)
