"""Broken files of every kind: a typed error that names the file, in little memory; nothing raw, nothing swallowed."""

import io
import json
import shutil
import subprocess
import sys
import tracemalloc
import zipfile

import numpy as np
import pytest

import shallows as sh
from shallows.support.errors import ShallowsError
from shallows.support.npz import Archive

PROBLEM = sh.Problem(
    np.diag([3.0, 1.0]), sh.Samples(np.random.default_rng(0).standard_normal((40, 2))), width=1
)
CHART = 'width = 1\ntarget = { diagonal = [2.0, 1.0] }\ndata = { law = "gaussian", n = 2 }\n'


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    sh.chart(PROBLEM).save(folder / "chart")
    sh.ensemble(PROBLEM, runs=6).save(folder / "runs")
    sh.discriminants.ellipse().save(folder / "discriminant")
    return folder


@pytest.fixture
def files(saved, tmp_path):
    return shutil.copytree(saved, tmp_path / "files")


LOADERS = {"chart": sh.load_chart, "runs": sh.load_ensemble, "discriminant": sh.discriminants.load}


def unsealed(file, change):
    """Write a changed document as an earlier version would have, without checksums."""
    document = json.loads(file.read_text())
    for key in ("sha256", "checksum"):
        document.pop(key, None)
    file.write_text(json.dumps(change(document)))


@pytest.mark.parametrize("name", ["chart", "runs"])
@pytest.mark.parametrize("damage", ["empty", "half", "no zip", "cut at the end"])
def test_broken_arrays_are_named_with_and_without_a_hash(files, name, damage):
    file = files / f"{name}.npz"
    whole = file.read_bytes()
    broken = {
        "empty": b"",
        "half": whole[: len(whole) // 2],
        "no zip": b"x" * 1000,
        "cut at the end": whole[:-1],
    }
    file.write_bytes(broken[damage])
    with pytest.raises(sh.InvalidProblem, match=rf"{name}\.npz is damaged"):
        LOADERS[name](files / name)
    unsealed(files / f"{name}.json", lambda document: document)
    with pytest.raises(sh.InvalidProblem, match=rf"{name}\.npz is damaged"):
        LOADERS[name](files / name)


@pytest.mark.parametrize("name", LOADERS)
@pytest.mark.parametrize(
    "text", ["", "null", "[]", "3", '"x"', "{}", "[" * 100_000, '{"a":' * 50_000, '"\\ud800"']
)
def test_other_json_is_named(files, name, text):
    (files / f"{name}.json").write_text(text)
    with pytest.raises(sh.InvalidProblem, match=rf"{name}\.json"):
        LOADERS[name](files / name)


#: Words that a file may say otherwise, or not at all, and still be one.
WORDS = {"about", "title", "notes", "note", "seconds", "families", "method"}


@pytest.mark.parametrize("name", LOADERS)
@pytest.mark.parametrize("value", [None, [], {}, "x", -1, 1e300, [[[[]]]], True])
def test_entries_of_another_kind_and_missing_ones_are_named(files, name, value):
    """Every key of the document, one after the other, in files of earlier versions, which have no checksums."""
    file = files / f"{name}.json"
    unsealed(file, lambda document: document)
    whole = json.loads(file.read_text())
    for key in set(whole) - WORDS:
        for changed in (whole | {key: value}, {k: v for k, v in whole.items() if k != key}):
            file.write_text(json.dumps(changed))
            try:
                LOADERS[name](file)
            except ShallowsError as error:
                assert len(str(error)) < 2000


def npz(**members):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return packed.getvalue()


def npy(shape, dtype="<f8", data=b"", version=(1, 0)):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": dtype, "fortran_order": False, "shape": shape})
    content = bytearray(header.getvalue() + data)
    content[6:8] = bytes(version)
    return bytes(content)


@pytest.mark.parametrize(
    "member",
    [
        npy((10**12,)), npy((2**62, 4)), npy((10**6, 10**6), data=bytes(64)), npy((3,), data=bytes(23)),
        npy((3,), data=bytes(25)), npy((-1,)), npy((3,), "|O", bytes(24)), npy((3,), data=bytes(24), version=(9, 9)),
        b"", b"\x93NUMPY", b"nonsense" * 10,
    ],
)  # fmt: skip
def test_declared_sizes_are_compared_with_the_file_before_memory_is_taken(tmp_path, member):
    archive = Archive(tmp_path / "a.npz", npz(fine=npy((2,), data=np.arange(2.0).tobytes()), bad=member))
    tracemalloc.start()
    with pytest.raises(sh.InvalidProblem, match=r"a\.npz is damaged: bad"):
        archive["bad"]
    assert tracemalloc.get_traced_memory()[1] < 10 * 2**20
    tracemalloc.stop()
    np.testing.assert_array_equal(archive["fine"], [0.0, 1.0])


def test_a_member_that_declares_more_than_its_bytes_hold_is_refused(tmp_path):
    packed = bytearray(npz(a=npy((10,), data=bytes(80))))
    place = packed.index(b"PK\x01\x02") + 24  # the size in the central directory
    packed[place : place + 4] = (2**31).to_bytes(4, "little")
    archive = Archive(tmp_path / "a.npz", bytes(packed))
    with pytest.raises(sh.InvalidProblem, match=r"declares 2,147,483,648 bytes"):
        archive["a"]


def test_arrays_that_nobody_asks_for_are_not_decompressed(files):
    """Half a gigabyte of zeros beside the arrays of a chart costs nothing."""
    with zipfile.ZipFile(files / "chart.npz", "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.npy", npy((2**23,), data=bytes(2**26)))
    unsealed(files / "chart.json", lambda document: document)
    tracemalloc.start()
    assert len(sh.load_chart(files / "chart").points) > 0
    assert tracemalloc.get_traced_memory()[1] < 2**25
    tracemalloc.stop()


def test_an_array_that_is_too_large_is_refused_with_its_size(tmp_path):
    archive = Archive(tmp_path / "a.npz", npz(a=npy((2**20,), data=bytes(2**23))))
    with (
        sh.budget(gigabytes=0.01),
        pytest.raises(sh.InvalidProblem, match=r"Reading a\.npy of .* would need about 16 MB"),
    ):
        archive["a"]
    assert len(archive["a"]) == 2**20


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[]", b"null", b"[" * 10**5, b"\xff\xfe{", b'{"format": "shallows-sweep-1"}']
)
def test_plans_that_are_none_are_named(folder, content):
    folder.out.mkdir()
    (folder.out / "plan.json").write_bytes(content)
    for load in (sh.load_sweep, sh.sweep_status, sh.sweep.load_plan):
        with pytest.raises(ShallowsError, match=r"plan\.json"):
            load(folder.out)


ENCODINGS = ["latin-1", "utf-16", "utf-32"]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_toml_in_another_encoding_is_named(tmp_path, encoding):
    file = tmp_path / "p.toml"
    file.write_bytes(f'title = "é"\n{CHART}'.encode(encoding))
    for load in (sh.load_problem, sh.sweep.Plan.from_file):
        with pytest.raises(sh.InvalidProblem, match=r"p\.toml.*not in UTF-8"):
            load(file)


def test_deeply_nested_toml_is_named(tmp_path):
    file = tmp_path / "p.toml"
    file.write_text(f"width = {'[' * 5000}1{']' * 5000}\n")
    for load in (sh.load_problem, sh.sweep.Plan.from_file):
        with pytest.raises(sh.InvalidProblem, match=r"p\.toml"):
            load(file)


CSVS = {
    "a header longer than its rows": "a,b,c\n1,2\n3,4\n",
    "a header shorter than its rows": "a\n1,2\n3,4\n",
    "rows of different lengths": "a,b\n1,2\n3\n",
    "no rows": "a,b\n",
    "nothing": "",
    "text": "a,b\n1,x\n",
    "NaN": "a,b\n1,nan\n2,3\n",
    "an infinity": "a,b\n1,inf\n2,3\n",
    "two columns of the label's name": "b,b\n1,2\n3,4\n",
    "a zero byte": "a,b\n1,\0\n",
}


@pytest.mark.parametrize("name", CSVS)
def test_broken_data_files_are_named(tmp_path, name):
    (tmp_path / "data.csv").write_text(CSVS[name])
    file = tmp_path / "p.toml"
    file.write_text('width = 1\ndata = { law = "samples", file = "data.csv", label = "b" }\n')
    with pytest.raises(sh.InvalidProblem, match=r"data\.csv|NaN or infinite"):
        sh.load_problem(file)


FITS = CSVS | {"one row": "a,b\n1,2\n", "a gap": "a,b\n1,2\n2,\n3,4\n", "empty columns": "a,b\n,\n,\n"}


def test_a_table_that_cannot_be_fitted_is_named_on_the_command_line(tmp_path):
    """`shallows fit`, one process for all: exit status 2, one sentence, never "a bug"."""
    for name, text in FITS.items():
        (tmp_path / f"{name}.csv").write_text(text)
    script = (
        "import sys\nfrom pathlib import Path\nfrom shallows.uses.commands import cli\n"
        "for file in sorted(Path(sys.argv[1]).glob('*.csv')):\n"
        "    sys.argv = ['shallows', 'fit', str(file), '--target', 'b', '--json']\n"
        "    try:\n        cli.main()\n    except SystemExit as end:\n"
        "        print(file.stem, '->', end.code, file=sys.stderr)\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    ends = dict(line.split(" -> ") for line in run.stderr.splitlines() if " -> " in line)
    assert ends.keys() == FITS.keys() and "bug" not in run.stderr and "Traceback" not in run.stderr, (
        run.stderr
    )
    assert set(ends.values()) == {"2"} and not run.stdout, run.stderr
