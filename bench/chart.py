"""Charts: roots a second, what certificates cost, and the second problem of a shape against the first."""

from __future__ import annotations

import subprocess
import sys
import time
from unittest.mock import patch

import numpy as np

import shallows as sh
from bench.homotopy import against, phc_seconds
from bench.report import Row, show_time, side_by_side
from shallows.mathematics.homotopy.systems import PolynomialSystem
from shallows.mathematics.tensors import coordinates
from shallows.questions.charts.continuation import generic_members
from shallows.questions.charts.continuation.generic_members import SOLVED
from shallows.questions.charts.exact.engine import critical_equations

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
    rows.append(second_problem("bias, rank 2, n=4", with_bias(4, 2, 0), with_bias(4, 2, 1)))
    rows.append(second_problem("z + z², rank 2, n=4", with_gap(0), with_gap(1)))
    rows += [polynomial_against_power(), bias_against_phc(), new_process()]
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


def with_bias(n: int, width: int, seed: int) -> sh.Problem:
    """Quadratic neurons with bias on random labelled samples: generic data."""
    rng = np.random.default_rng([seed, n, width])
    X = rng.standard_normal((80, n))
    return sh.Problem(None, sh.Samples(X, rng.standard_normal(80)), width, bias=True)


def with_gap(seed: int) -> sh.Problem:
    """Two neurons z + z² on random labelled samples."""
    plain = with_bias(4, 2, seed)
    return sh.Problem(None, plain.data, 2, sh.Polynomial([0.0, 1.0, 1.0]))


def seconds(call: object) -> float:
    """One call, once, in processor time: these are long enough, and other work on the machine does not count."""
    start = time.process_time()
    call()  # type: ignore[operator]
    return time.process_time() - start


def polynomial_against_power(n: int = 4) -> Row:
    """1 + z + z² in n inputs against the power in n + 1, that is in (1, x), on the same samples."""
    power = with_bias(n, 1, 0)
    given = sh.Problem(None, power.data, 1, sh.Polynomial([1.0, 1.0, 1.0]))
    for each in (given, power):
        sh.chart(each)
    pairs = [(seconds(lambda: sh.chart(given)), seconds(lambda: sh.chart(power))) for _ in range(9)]
    ours, peer = (min(side) for side in zip(*pairs, strict=True))
    title = f"1 + z + z², n={n} (peer: the power in (1, x))"
    note = f"{(3 ** (n + 1) - 1) // 2} complex points each, certified"
    return Row(title, show_time(ours), show_time(peer), peer / ours, 1 / 1.5, note)


def bias_against_phc(n: int = 5) -> Row:
    """One quadratic neuron with bias on generic samples: our certified chart against `phc -b` on the same equations."""
    given = with_bias(n, 1, 0)
    sh.chart(given)
    ours = min(seconds(lambda: sh.chart(given)) for _ in range(5))
    rows = critical_equations(given.homogeneous(), 1)
    system = PolynomialSystem.read(rows)
    found = (3 ** (n + 1) - 1) // 2
    title = f"one neuron with bias, n={n}, samples"
    return against(title, ours, found, phc_seconds(system), "phc -b", 100.0, " up to sign, certified")


#: What a new process does: the whole call, loading of modules and of compiled code included, certificates and all.
_NEW = """
import time, shallows as sh
from bench.chart import problem
given = problem(3, 2, 1, 3)
start, used = time.perf_counter(), time.process_time()
chart = sh.chart(given)
print(time.perf_counter() - start, time.process_time() - used)
"""


def new_process() -> Row:
    """A cubic at width 2 in a process that has not charted anything: its members come with the package."""
    lines = [
        subprocess.run([sys.executable, "-c", _NEW], check=True, capture_output=True, text=True).stdout
        for _ in range(8)
    ]
    ours, used = min(tuple(map(float, line.split())) for line in lines[1:])
    title = "cubic, rank 2, n=3, first call of a new process (peer: half a second)"
    note = f"by the clock, certified; processor time {show_time(used)} on two threads"
    return Row(title, show_time(ours), "0.5 s", 0.5 / ours, 1.0, note)


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
