"""Charts: roots a second, what certificates cost, and the second problem of a shape against the first."""

from __future__ import annotations

import time
from unittest.mock import patch

import numpy as np

import shallows as sh
from bench.report import Row, show_time, side_by_side
from shallows.mathematics.tensors import coordinates
from shallows.questions.charts.continuation import generic_members
from shallows.questions.charts.continuation.generic_members import SOLVED

#: Certificates are to take at most a fifth of a chart's time: without them it takes at least this share.
WITHOUT_CERTIFICATES = 0.8
#: n, width, degree
SHAPES = {
    "rank 2, n=4": (4, 2, 2),
    "rank 2, n=5": (5, 2, 2),
    "cubic, rank 1, n=3": (3, 1, 3),
    "cubic, rank 2, n=3": (3, 2, 3),
}


def run() -> list[Row]:
    """Rank one, rank two, cubics, closed forms."""
    rows = [rank_one(n) for n in (5, 6, 7, 8, 9, 10)]
    for name, shape in SHAPES.items():
        n, width, degree = shape
        rows.append(second_problem(name, problem(n, width, 0, degree), problem(n, width, 1, degree)))
        rows.append(certified(name, problem(n, width, 1, degree)))
    rows.append(second_problem("two outputs, two neurons, n=3", two_outputs(0), two_outputs(1)))
    rows.append(second_problem("norm neuron, rank 2, n=5", beside_norm(0), beside_norm(1)))
    return [*rows, closed_form()]


def problem(n: int, width: int, seed: int, degree: int = 2) -> sh.Problem:
    """A random metric and teacher."""
    rng = np.random.default_rng([seed, n, degree])
    size = coordinates.dimension(n, degree)
    A = rng.standard_normal((size, size))
    target = sh.SymmetricTensor(rng.standard_normal(size), n, degree)
    return sh.Problem(target, sh.Metric(n, degree, A @ A.T / size + np.eye(size) / 2), width)


def two_outputs(seed: int) -> sh.Problem:
    """Two quadratic neurons with two outputs on random samples."""
    rng = np.random.default_rng([seed, 3, 2])
    teacher = sh.Network(rng.standard_normal((6, 3)), rng.standard_normal((2, 6)))
    return sh.Problem(teacher, sh.Samples(rng.standard_normal((60, 3))), 2)


def beside_norm(seed: int) -> sh.Problem:
    """A random metric and teacher, and a norm neuron."""
    plain = problem(5, 2, seed)
    return sh.Problem(plain.target, plain.data, 2, norm_neuron=True)


def seconds(call: object) -> float:
    """One call, once: these are long enough."""
    start = time.perf_counter()
    call()  # type: ignore[operator]
    return time.perf_counter() - start


def rank_one(n: int) -> Row:
    """All (3ⁿ−1)/2 points, with and without certificates."""
    given = problem(n, 1, 0)
    sh.chart(problem(2, 1, 0))
    times = 3 if n <= 8 else 1
    bare = min(seconds(lambda: sh.chart(given, certify=False)) for _ in range(times))
    proved = min(seconds(lambda: sh.chart(given)) for _ in range(times))
    count = (3**n - 1) // 2
    note = f"{count:,} roots, {count / proved:,.0f} a second; {_cost(given, bare, proved)}"
    title = f"rank one, n={n}, certified (peer: without certificates)"
    promised = WITHOUT_CERTIFICATES if n in (6, 8, 10) else None
    return Row(title, show_time(proved), show_time(bare), bare / proved, promised, note)


def _cost(given: sh.Problem, bare: float, proved: float) -> str:
    """The share of certificates, and how many points have one."""
    points = sh.chart(given).points
    certified = sum(point.certificate is not None for point in points)
    return (
        f"certificates are {1 - bare / proved:.0%} of the time, {certified} of {len(points)} points have one"
    )


def second_problem(name: str, first: sh.Problem, second: sh.Problem, promised: float = 5) -> Row:
    """The first problem of a shape pays for monodromy, the second only for the parameter homotopy."""
    sh.chart(second, certify=False)  # compiled and warm
    cold = min(seconds(lambda: _afresh(first)) for _ in range(2))
    warm = min(seconds(lambda: sh.chart(second, certify=False)) for _ in range(5))
    chart = sh.chart(second, certify=False)
    found = sum(chart.complex_count.values())
    note = f"{found:,} points, {found / warm:,.0f} a second ({chart.completeness})"
    title = f"{name}: a second problem against the first"
    return Row(title, show_time(warm), show_time(cold), cold / warm, promised, note)


def _afresh(given: sh.Problem) -> None:
    """As on a machine that has not seen the shape, and without the members that come with the package."""
    SOLVED.clear()
    with (
        patch.object(generic_members, "kept_member", lambda *_: None),
        patch.object(generic_members, "keep_member", lambda *_: None),
    ):
        sh.chart(given, certify=False)


def certified(name: str, given: sh.Problem) -> Row:
    """What certificates cost once the shape is known."""
    sh.chart(given)
    bare = min(seconds(lambda: sh.chart(given, certify=False)) for _ in range(3))
    proved = min(seconds(lambda: sh.chart(given)) for _ in range(3))
    title = f"{name}, certified (peer: without certificates)"
    promised = WITHOUT_CERTIFICATES if name.startswith("rank 2") else None
    note = _cost(given, bare, proved)
    return Row(title, show_time(proved), show_time(bare), bare / proved, promised, note)


def closed_form() -> Row:
    """1,351 points at n=20, width 3: a point against one 20×20 matrix product."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((20, 20))
    chart = sh.chart(sh.Problem(A + A.T, sh.Gaussian(20), 3), certify=False)
    whole, product = side_by_side(
        lambda: sh.chart(chart.problem, certify=False),
        lambda: A @ A,  # type: ignore[arg-type]
    )
    per_point = whole / len(chart.points)
    note = f"{len(chart.points):,} points in {show_time(whole)}, no matrix made"
    return Row(
        "closed form, n=20: one point (peer: a 20×20 product)",
        show_time(per_point),
        show_time(product),
        None,
        None,
        note,
    )
