"""Images of digits for paper 002's Figure 5: scikit-learn's (embedded), or MNIST from IDX files or from OpenML.

"digits" is the default and needs no network. A folder is searched for prepared tasks, mnist_pca_47.npz and
mnist_pca_38.npz (train_x, train_y, test_x, test_y; the first is published with the paper), then for the four IDX files
of MNIST (with or without .gz). "openml" downloads MNIST through scikit-learn. Nothing falls back to anything else.
"""

from __future__ import annotations

import gzip
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem, MissingExtra

FILES = (
    ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
    ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"),
)
#: Training samples of paper 002, out of all 70,000 images.
TRAINING = {(4, 7): 1504, (3, 8): 1539}
#: The arrays of a prepared task.
ARRAYS = ("train_x", "train_y", "test_x", "test_y")


@dataclass(frozen=True, eq=False)
class Task:
    """Two digits as a regression task: columns are 1 and unit vectors of principal components, labels ±1."""

    train_x: Array
    train_y: Array
    test_x: Array
    test_y: Array
    source: str


def load(source: str) -> tuple[Array, np.ndarray]:
    """All images, a row each, and their digits."""
    if source == "digits":
        return _digits()
    if source == "openml":
        return _openml()
    return _idx_folder(Path(source))


def pair_task(
    source: str, pair: tuple[int, int], components: int, training: int, rng: np.random.Generator
) -> Task:
    """The paper's task: a random training set, its principal components, examples scaled to norm one, a leading 1."""
    ready = prepared(source)
    if pair in ready:
        return read_task(ready[pair])
    images, labels = load(source)
    chosen = np.flatnonzero(np.isin(labels, pair))
    if not 0 < training < len(chosen):
        raise InvalidProblem(
            f"training is {training}; "
            f"expected less than the {len(chosen)} images of {pair[0]} and {pair[1]} in {source}."
        )
    order = rng.permutation(chosen)
    train, test = order[:training], order[training:]
    centre = images[train].mean(axis=0)
    _, _, axes = np.linalg.svd(images[train] - centre, full_matrices=False)
    parts = []
    for rows in (train, test):
        scores = (images[rows] - centre) @ axes[:components].T
        scores /= np.linalg.norm(scores, axis=1, keepdims=True)
        parts += [np.column_stack([np.ones(len(rows)), scores]), np.where(labels[rows] == pair[0], 1.0, -1.0)]
    return Task(parts[0], parts[1], parts[2], parts[3], source)


def prepared(source: str) -> dict[tuple[int, int], Path]:
    """The pairs for which a folder has a prepared task; none for "digits", "openml" and folders of IDX files."""
    folder = Path(source)
    files = {pair: folder / f"mnist_pca_{pair[0]}{pair[1]}.npz" for pair in TRAINING}
    return {pair: path for pair, path in files.items() if path.is_file()}


def read_task(path: Path) -> Task:
    """A prepared task, its columns and labels checked."""
    with np.load(path) as archive:
        missing = [name for name in ARRAYS if name not in archive]
        if missing:
            raise InvalidProblem(f"{path} has no {', '.join(missing)}; expected {', '.join(ARRAYS)}.")
        train_x, train_y, test_x, test_y = (np.asarray(archive[name], dtype=np.float64) for name in ARRAYS)
    train_y, test_y = train_y.ravel(), test_y.ravel()
    for X, y in ((train_x, train_y), (test_x, test_y)):
        if (
            X.ndim != 2
            or len(X) != len(y)
            or X.shape[1] != train_x.shape[1]
            or not np.all(np.isin(y, (-1, 1)))
        ):
            raise InvalidProblem(
                f"{path} has samples of shape {X.shape} and {len(y)} labels; expected as many rows as labels, the same "
                "columns for training and test, and labels ±1."
            )
    return Task(train_x, train_y, test_x, test_y, str(path))


def _digits() -> tuple[Array, np.ndarray]:
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise MissingExtra("scikit-learn", "learn") from None
    images, labels = load_digits(return_X_y=True)
    return np.asarray(images, dtype=np.float64), np.asarray(labels)


def _openml() -> tuple[Array, np.ndarray]:
    try:
        from sklearn.datasets import fetch_openml
    except ImportError:
        raise MissingExtra("scikit-learn", "learn") from None
    try:
        images, labels = fetch_openml(
            "mnist_784", version=1, return_X_y=True, as_frame=False, parser="liac-arff"
        )
    except OSError as error:
        raise InvalidProblem(
            f"MNIST could not be fetched from OpenML: {error}. Fix: give the folder of its IDX files with --data "
            "FOLDER, or leave --data out for scikit-learn's digits."
        ) from None
    return np.asarray(images, dtype=np.float64), np.asarray(labels).astype(np.int64)


def _idx_folder(folder: Path) -> tuple[Array, np.ndarray]:
    pairs = [(_find(folder, images), _find(folder, labels)) for images, labels in FILES]
    images = [read_idx(path).astype(np.float64) for path, _ in pairs]
    labels = np.concatenate([read_idx(path) for _, path in pairs]).astype(np.int64)
    return np.concatenate([block.reshape(len(block), -1) for block in images]), labels


def _find(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / f"{name}.gz", folder / name.replace("-idx", ".idx")):
        if path.is_file():
            return path
    raise InvalidProblem(
        f"{folder} has no {name} (nor {name}.gz). Expected the four IDX files of MNIST: "
        f"{', '.join(each for both in FILES for each in both)}."
    )


def read_idx(path: Path) -> np.ndarray:
    """An IDX file of unsigned bytes: a magic number 00 00 08 axes, the sizes as big-endian integers, the bytes."""
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    if len(raw) < 4 or raw[:3] != b"\0\0\x08":
        raise InvalidProblem(
            f"{path} is no IDX file of bytes: it begins with {raw[:4].hex(' ') or 'nothing'}."
        )
    axes = raw[3]
    shape = struct.unpack(f">{axes}I", raw[4 : 4 + 4 * axes].ljust(4 * axes, b"\0"))
    values = np.frombuffer(raw, dtype=np.uint8, offset=min(4 + 4 * axes, len(raw)))
    if values.size != int(np.prod(shape)):
        raise InvalidProblem(
            f"{path} should hold {' × '.join(map(str, shape))} bytes and holds {values.size:,}: it is not complete."
        )
    return values.reshape(shape)
