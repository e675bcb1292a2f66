"""Homotopy continuation against PHCpack and Bertini 2: same systems, one thread each.

PHCpack is the program `phc` (Debian: phcpack), found on the PATH or through SHALLOWS_PHC. Bertini 2 is the
Python package bertini2, imported by this interpreter or by the one that SHALLOWS_BERTINI_PYTHON names.
Peers run once and are charged the processor time they use, which a busy machine does not inflate, up to LIMIT; ours is
the best wall-clock time of several rounds.
"""

from __future__ import annotations

import importlib.util
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from string import ascii_lowercase

import numpy as np

from bench.literature import (
    combustion,
    cyclic,
    eco,
    katsura,
    noon,
    stewart_platform,
    three_rpr,
    wnt,
)
from bench.report import Row, show_time, side_by_side
from shallows.homotopy import PolynomialSystem, random_rank_one, solve

SEED = 0
#: Processor seconds that a peer gets for a system, over 100 times our slowest: one that takes more is stopped, and the
#: ratio is "at least".
LIMIT = 150
STOPPED = -1
#: What two threads are to reach of what two processes of one thread each reach side by side, 2 on an idle machine with
#: two cores of its own: rented ones have given 1.25.
OF_TWO_CORES = 0.8
_BERTINI = """
import json, sys, time, bertini
task = json.load(sys.stdin)
names = ["f%d" % i for i in range(len(task["rows"]))]
text = "function " + ",".join(names) + ";\\nvariable_group " + ",".join(task["variables"]) + ";\\n"
text += "".join("%s = %s;\\n" % pair for pair in zip(names, task["rows"]))
start = time.process_time()
system = bertini.parse.system(text)
solver = bertini.ZeroDimSolver(system, mptype="adaptive")
solver.solve()
print(json.dumps({"seconds": time.process_time() - start, "count": len(solver.finite_solutions())}))
"""


def decimal_rows(system: PolynomialSystem) -> list[str]:
    """The equations with coefficients as plain decimals (no exponent), which both peers read."""
    rows = []
    for terms in system.equations:
        parts = []
        for exponents, value in terms.items():
            factors = [f"{x}^{e}" for x, e in zip(system.variables, exponents, strict=True) if e]
            number = np.format_float_positional(float(value.real), unique=True, sign=True, trim="-")
            parts.append("*".join([number, *factors]))
        rows.append("".join(parts).lstrip("+"))
    return rows


def phc_seconds(system: PolynomialSystem) -> tuple[float, int] | None:
    """Processor time and number of solutions of `phc -b`; None when there is no phc."""
    program = os.environ.get("SHALLOWS_PHC") or shutil.which("phc")
    if not program:
        return None
    with tempfile.TemporaryDirectory() as folder:
        given, result = Path(folder) / "system", Path(folder) / "result"
        rows = "".join(f"{row};\n" for row in decimal_rows(system))
        given.write_text(f"{system.n}\n{rows}")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [program, "-b", str(given), str(result)]
        done = subprocess.run(command, capture_output=True, input=b"", preexec_fn=_limited)
        if done.returncode < 0:
            return float(LIMIT), STOPPED
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        elapsed = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        _, _, listed = given.read_text().partition("THE SOLUTIONS :")  # phc -b appends them to its input
        return elapsed, int(listed.split()[0])


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))


def bertini_seconds(system: PolynomialSystem) -> tuple[float, int] | str | None:
    """Processor time of parsing and solving in adaptive precision, without the import; what it says when it fails; None
    without bertini2."""
    python = os.environ.get("SHALLOWS_BERTINI_PYTHON")
    if not python:
        if importlib.util.find_spec("bertini") is None:
            return None
        python = sys.executable
    # its parser takes x1 for the beginning of x10, and e for Euler's number
    system = replace(system, variables=tuple(f"v{letter}" for letter in ascii_lowercase[: system.n]))
    task = {"rows": decimal_rows(system), "variables": list(system.variables)}
    done = subprocess.run(
        [python, "-c", _BERTINI], input=json.dumps(task), text=True, capture_output=True, preexec_fn=_limited
    )
    if done.returncode < 0:
        return float(LIMIT), STOPPED
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["no reason given"])[-1]
    answer = json.loads(done.stdout.strip().splitlines()[-1])
    return answer["seconds"], answer["count"]


def against(
    question: str,
    ours: float,
    count: int,
    peer: tuple[float, int] | str | None,
    name: str,
    target: float,
    remark: str = "",
) -> Row:
    """Our time against a peer's, which may be missing or have failed."""
    if peer is None:
        return Row(question, show_time(ours), "—", None, target, f"{name} is not installed: skipped")
    if isinstance(peer, str):
        return Row(question, show_time(ours), "—", None, target, f"{name} fails: {peer}")
    elapsed, found = peer
    note = f"{count} solutions{remark}, {name} {found}"
    if found == STOPPED:
        note = f"{count} solutions{remark}, {name} was stopped after {LIMIT} s: at least"
    return Row(question, show_time(ours), f"{name} {show_time(elapsed)}", elapsed / ours, target, note)


def _rank_one_rows() -> list[Row]:
    rows = []
    for n, peer, name, target in ((6, phc_seconds, "phc -b", 50.0), (5, bertini_seconds, "Bertini 2", 100.0)):
        system = random_rank_one(n, np.random.default_rng(SEED))
        result = solve(system, rng=SEED, threads=1)
        (ours,) = side_by_side(lambda system=system: solve(system, rng=SEED, threads=1))
        measured = peer(system.polynomials())
        rows.append(
            against(
                f"rank-one generic, n={n}", ours, result.finite.count, measured, name, target, " up to sign"
            )
        )
    return rows


#: Systems of the literature, and how many times faster than `phc -b` and Bertini 2 we want to be on them.
SYSTEMS = (
    ("katsura-10", katsura(10), 50.0, 100.0),
    ("cyclic-7", cyclic(7), 50.0, 100.0),
    ("noon-6", noon(6), 50.0, 100.0),
    ("eco-10", eco(10), 50.0, 100.0),
    ("eco-12", eco(12), 50.0, 100.0),
    ("katsura-11", katsura(11), 50.0, 100.0),
    ("3-RPR robot", three_rpr(), 1.0, 1.0),
    ("Stewart platform", stewart_platform(), 1.0, 1.0),
    ("propane in air", combustion(), 1.0, 1.0),
    ("Wnt shuttle", wnt(), 1.0, 1.0),
)


def _string_rows() -> list[Row]:
    rows = []
    for label, texts, phc, bertini in SYSTEMS:
        result = solve(texts, rng=SEED, threads=1)
        (ours,) = side_by_side(lambda texts=texts: solve(texts, rng=SEED, threads=1))
        system = PolynomialSystem.read(texts)
        for peer, name, target in ((phc_seconds, "phc -b", phc), (bertini_seconds, "Bertini 2", bertini)):
            question = f"{label} from strings"
            rows.append(against(question, ours, result.finite.count, peer(system), name, target))
    return rows


def _path_rows() -> list[Row]:
    """Seconds a path as the number of paths grows: katsura-n, 2ⁿ of them."""
    rows = []
    for n in (6, 8, 10, 12):
        (elapsed,) = side_by_side(lambda n=n: solve(katsura(n), rng=SEED, threads=1), rounds=3)
        note = f"{2**n:,} paths in {show_time(elapsed)}, {n + 1} unknowns"
        rows.append(Row(f"time a path, katsura-{n}", show_time(elapsed / 2**n), "—", None, None, note))
    return rows


def _certificate_row() -> Row:
    result = solve(random_rank_one(6, np.random.default_rng(SEED)), rng=SEED, threads=1)
    certificate = result.certify()
    (whole,) = side_by_side(result.certify)
    each = whole / result.finite.count
    note = f"{certificate.count} of {result.finite.count} proved, complete: {certificate.complete}"
    return Row("certificate a root, n=6", show_time(each), "allowed 1 ms", 1e-3 / each, 1.0, note)


_ALONE = """
import sys, time
import numpy as np
from bench.homotopy import SEED, threaded
from shallows.homotopy import solve
system = dict(threaded())[sys.argv[1]]
solve(system, rng=SEED, threads=1)
print(flush=True)
for _ in sys.stdin:
    start = time.perf_counter()
    solve(system, rng=SEED, threads=1)
    print(time.perf_counter() - start, flush=True)
"""


def threaded() -> list[tuple[str, object]]:
    """The systems that two threads are tried on."""
    rank_one = ("rank-one generic, n=7", random_rank_one(7, np.random.default_rng(SEED)))
    names = {"katsura-10", "katsura-11", "cyclic-7", "noon-6", "eco-12"}
    return [
        rank_one,
        *((label, texts) for label, texts, _, _ in SYSTEMS if label in names),
        ("eco-13", eco(13)),
    ]


def ceiling(label: str, rounds: int = 8) -> float:
    """How much more two processes of one thread each get done than one: what this machine has to give."""
    programs = [
        subprocess.Popen(
            [sys.executable, "-c", _ALONE, label], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]

    def together(some: list[subprocess.Popen[str]]) -> float:
        for program in some:
            assert program.stdin is not None
            program.stdin.write("\n")
            program.stdin.flush()
        return max(float(program.stdout.readline()) for program in some if program.stdout is not None)

    for program in programs:
        assert program.stdout is not None
        program.stdout.readline()
    times = [(together(programs[:1]), together(programs)) for _ in range(rounds)]
    for program in programs:
        program.communicate()
    return 2 * min(one for one, _ in times) / min(two for _, two in times)


def _thread_rows() -> list[Row]:
    rows = []
    for label, system in threaded():
        one, two = side_by_side(
            lambda system=system: solve(system, rng=SEED, threads=1),
            lambda system=system: solve(system, rng=SEED, threads=2),
            budget=5.0,
        )
        reached = ceiling(label)
        note = f"{os.cpu_count()} cores, on which two processes side by side reach {reached:.2f}"
        question, promised = f"two threads against one, {label}", round(OF_TWO_CORES * reached, 2)
        rows.append(Row(question, show_time(two), f"one thread {show_time(one)}", one / two, promised, note))
    return rows


def _growth_rows() -> list[Row]:
    """Seconds a path while equations stay as large as they are: xᵢᵈ = a linear form; then the rank-one system."""
    rows = []
    for degree in (4, 5, 6, 7):
        texts = [f"x{i}^{degree} - {i + 2}*x{(i + 1) % 4} + x{(i + 2) % 4} - {2 * i + 1}" for i in range(4)]
        (elapsed,) = side_by_side(lambda texts=texts: solve(texts, rng=SEED, threads=1), rounds=3)
        each = show_time(elapsed / degree**4)
        rows.append(Row(f"time a path, degree {degree}", each, "—", None, None, f"{degree**4:,} paths"))
    for n in (4, 5, 6, 7, 8):
        system = random_rank_one(n, np.random.default_rng(SEED))
        (elapsed,) = side_by_side(lambda system=system: solve(system, rng=SEED, threads=1), rounds=3)
        speed = f"{system.path_count / elapsed:,.0f} paths a second"
        rows.append(Row(f"speed at n={n}", speed, "—", None, None, f"{system.path_count:,} paths"))
    return rows


def run() -> list[Row]:
    """All the comparisons; peers that are missing give rows without a ratio."""
    return [
        *_rank_one_rows(),
        *_string_rows(),
        *_path_rows(),
        _certificate_row(),
        *_thread_rows(),
        *_growth_rows(),
    ]
