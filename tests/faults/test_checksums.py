"""One flipped bit anywhere in stored results: right values or a sentence that names the file, never another number."""

import shutil

import numpy as np
import pytest

from shallows.support.errors import ShallowsError
from shallows.sweep import StoreError, load_sweep, run_sweep, sweep_status
from shallows.uses.sweep.parts import parts

CELLS = (
    "def value(x, rng):\n    return {'twice': 2.0 * x, 'drawn': float(rng.random()), 'name': f'cell {x}'}\n"
)
SWEEP = '[compute]\nwhat = "cells:value"\n[[axes]]\npath = "compute.x"\nrange = { start = 0, stop = 39 }\n'
FLIPS = 150


@pytest.fixture
def results(folder):
    folder.write("cells.py", CELLS)
    run_sweep(folder.write("sweep.toml", SWEEP), folder.out, engine="process")
    return folder


def flipped(file, bit):
    """The file with one bit turned over."""
    content = bytearray(file.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    file.write_bytes(content)


def kept(out):
    return load_sweep(out).drop(columns=["seconds", "written"])


@pytest.mark.parametrize("which", ["part", "plan"])
def test_every_flipped_bit_is_noticed(results, which):
    right = kept(results.out)
    whole = shutil.copytree(results.out, results.path / "whole")
    size = 8 * (parts(whole)[0] if which == "part" else whole / "plan.json").stat().st_size
    rng = np.random.default_rng(23)
    for bit in rng.choice(size, FLIPS, replace=False):
        out = shutil.copytree(whole, results.path / "flipped")
        file = parts(out)[0] if which == "part" else out / "plan.json"
        flipped(file, int(bit))
        try:
            found = kept(out)
        except ShallowsError as error:
            assert file.name in str(error), error
        else:
            assert found.equals(right), bit
        shutil.rmtree(out)


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "other"])
def test_a_damaged_part_is_named_set_aside_and_its_cells_computed_again(results, damage):
    right = kept(results.out)
    (part,) = parts(results.out)
    if damage == "flip":
        flipped(part, 8 * 1000)
    else:
        part.write_bytes({"cut": part.read_bytes()[:-200], "empty": b"", "other": b"not parquet"}[damage])
    with pytest.raises(StoreError, match=rf"{part.name} is damaged.*run the sweep again"):
        load_sweep(results.out)
    with pytest.raises(StoreError, match=rf"{part.name} is damaged"):
        sweep_status(results.out)
    run = run_sweep(results.path / "sweep.toml", results.out, engine="process")
    assert run.computed == 40 and run.status.complete
    assert run.status.damaged == (f"damaged-{part.name}",) and f"damaged-{part.name}" in repr(run)
    assert kept(results.out).equals(right)
    assert run_sweep(results.path / "sweep.toml", results.out, engine="process").computed == 0


def test_a_damaged_plan_is_named_and_set_aside(results):
    right = kept(results.out)
    (results.out / "plan.json").write_text("{}"[:1])
    with pytest.raises(StoreError, match=r"plan\.json is damaged"):
        load_sweep(results.out)
    run = run_sweep(results.path / "sweep.toml", results.out, engine="process")
    assert run.computed == 0 and run.status.damaged == ("damaged-plan.json",)
    assert kept(results.out).equals(right)


def test_other_readers_find_checksums_on_every_page(results):
    import pyarrow.parquet as pq

    (part,) = parts(results.out)
    content = bytearray(part.read_bytes())
    with pq.ParquetFile(part) as file:
        column = file.metadata.row_group(0).column(1)
        place = column.data_page_offset + column.total_compressed_size - 2
    content[place] ^= 1
    part.write_bytes(content)
    with pytest.raises(OSError, match=r"(?i)checksum|crc"):
        pq.ParquetFile(part, page_checksum_verification=True).read()
