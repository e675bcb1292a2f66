"""The format of files: names, whole writes, versions, hashes; damage is named."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from shallows.support.errors import InvalidProblem
from shallows.support.files import Format, named, whole

FORMAT = Format("shallows-test", 3, earlier={"shallows-test-1": 1})
ARRAYS = {"x": np.arange(5.0), "kind": np.array(["a", "b"])}


@pytest.mark.parametrize(
    ("given", "json_name"),
    [
        ("kurtosis-2.5", "kurtosis-2.5.json"),
        ("kurtosis-2.5.json", "kurtosis-2.5.json"),
        ("kurtosis-2.5.npz", "kurtosis-2.5.json"),
        ("a.b.c", "a.b.c.json"),
        ("v1.toml", "v1.toml.json"),
    ],
)
def test_names(tmp_path: Path, given: str, json_name: str) -> None:
    path = FORMAT.save(tmp_path / given, {"y": 1}, ARRAYS)
    assert path == named(tmp_path / given, ".json") == tmp_path / json_name
    assert sorted(file.suffix for file in tmp_path.iterdir()) == [".json", ".npz"]
    for name in (given, json_name, json_name.replace(".json", ".npz")):
        assert FORMAT.load(tmp_path / name).document["y"] == 1


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    contents = FORMAT.load(FORMAT.save(tmp_path / "file", {"third": 1 / 3, "text": "λ ≥ 0"}, ARRAYS))
    assert contents.version == 3
    assert contents.document["third"] == 1 / 3 and contents.document["text"] == "λ ≥ 0"
    assert contents.arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(contents.arrays[name], array)


def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text("before")
    with pytest.raises(ZeroDivisionError), whole(path) as temporary:
        temporary.write_text("half")
        raise ZeroDivisionError
    assert [file.name for file in tmp_path.iterdir()] == ["file.txt"] and path.read_text() == "before"
    with pytest.raises(FileNotFoundError) as caught, whole(tmp_path / "no" / "file.txt") as temporary:
        temporary.write_text("text")
    assert caught.value.filename == str(tmp_path / "no" / "file.txt")


def test_what_cannot_be_written_leaves_what_was_there(tmp_path: Path) -> None:
    FORMAT.save(tmp_path / "file", {"y": 1}, ARRAYS)
    with pytest.raises(TypeError):
        FORMAT.save(tmp_path / "file", {"y": object()}, {"x": np.zeros(3)})
    contents = FORMAT.load(tmp_path / "file")
    assert contents.document["y"] == 1 and len(contents.arrays["x"]) == 5


@pytest.mark.parametrize("place", [0, 40, -30, -1])
def test_a_flipped_bit_in_the_arrays_is_noticed(tmp_path: Path, place: int) -> None:
    FORMAT.save(tmp_path / "file", {}, ARRAYS)
    file = tmp_path / "file.npz"
    content = bytearray(file.read_bytes())
    content[place] ^= 4
    file.write_bytes(content)
    with pytest.raises(InvalidProblem, match=r"file\.npz is damaged"):
        FORMAT.load(tmp_path / "file")


@pytest.mark.parametrize("length", [0, 1, 100, -1])
def test_truncated_arrays_without_a_hash_are_named(tmp_path: Path, length: int) -> None:
    """Files of version 1 have no hash."""
    path = FORMAT.save(tmp_path / "file", {}, ARRAYS)
    document = json.loads(path.read_text())
    del document["sha256"], document["checksum"]
    path.write_text(json.dumps(document | {"format": "shallows-test-1"}))
    assert FORMAT.load(path).version == 1
    file = tmp_path / "file.npz"
    file.write_bytes(file.read_bytes()[:length])
    with pytest.raises(InvalidProblem, match=r"file\.npz is damaged"):
        FORMAT.load(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a JSON file"),
        ("nonsense", "not a JSON file"),
        ("[" * 100_000, "not a JSON file"),
        ("[1, 2]", "has format None"),
        ("null", "has format None"),
        ('{"format": "other", "version": 1}', "format 'other'"),
        ('{"format": "shallows-test", "version": 4}', "a newer version of shallows"),
        ('{"format": "shallows-test", "version": "3"}', "version 3; this version"),
        ('{"format": "shallows-test"}', "version None"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "file.json"
    path.write_text(text)
    with pytest.raises(InvalidProblem, match=message):
        FORMAT.load(path)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidProblem, match=r"Cannot read .*file\.json: No such file"):
        FORMAT.load(tmp_path / "file")
    FORMAT.save(tmp_path / "file", {}, ARRAYS)
    (tmp_path / "file.npz").unlink()
    with pytest.raises(InvalidProblem, match=r"Cannot read .*file\.npz: No such file"):
        FORMAT.load(tmp_path / "file")


def test_a_missing_entry_is_damage(tmp_path: Path) -> None:
    contents = FORMAT.load(FORMAT.save(tmp_path / "file", {}, ARRAYS))
    with pytest.raises(InvalidProblem, match=r"file\.json is damaged: KeyError 'title'"), contents.reading():
        contents.document["title"]
    with pytest.raises(InvalidProblem, match="as it is"), contents.reading():
        raise InvalidProblem("as it is")
