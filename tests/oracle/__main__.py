"""`python -m tests.oracle N [--seed S] [--out FILE.json]`: N charts of special problems against the oracles.

Prints what is wrong as it is found, then a table by family of problems; exit 1 when anything is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from typing import Any

if __name__ == "__main__":  # not in a process of tests, which have set their own
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")

from tests.oracle import msolve
from tests.oracle.known import KNOWN
from tests.oracle.problems import FAMILIES, draw
from tests.oracle.verdict import Verdict, judge

STATES = ("right", "sampled", "refused", "wrong")


def run(
    count: int, seed: int = 0, first: int = 0, only: Sequence[str] = (), loud: bool = True
) -> list[tuple[str, int, Verdict]]:
    """Verdicts of problems number first, …, first + count − 1."""
    names = list(FAMILIES)
    chosen = [
        k
        for k in range(first, first + count * (len(names) if only else 1))
        if not only or names[k % len(names)] in only
    ]
    results = []
    begin = time.perf_counter()
    for done, k in enumerate(chosen[:count], 1):
        name, given = draw(k, seed)
        verdict = judge(given, seed=k)
        results.append((name, k, verdict))
        if loud and verdict.complaints:
            print(f"[{k}] {name}: {given.code()}", flush=True)
            for complaint in verdict.complaints:
                print(f"      {complaint}", flush=True)
        if loud and done % 50 == 0:
            wrong = sum(v.status == "wrong" for _, _, v in results)
            print(f"-- {done} charts, {wrong} wrong, {time.perf_counter() - begin:.0f} s", flush=True)
    return results


def known(loud: bool = False) -> list[tuple[str, int, Verdict]]:
    """Verdicts of the problems on which charts were once wrong."""
    results = []
    for k, (name, given) in enumerate(KNOWN.items()):
        verdict = judge(given)
        results.append(("known", k, verdict))
        if loud:
            print(f"{name} ({verdict.status}): {given.code()[:200]}", flush=True)
            for complaint in verdict.complaints:
                print(f"      {complaint}", flush=True)
    return results


def table(results: list[tuple[str, int, Verdict]]) -> str:
    """By family of problems: how many charts are right, right and claim little, refused (rightly), wrong."""
    lines = [f"{'problems':24s} charts   right sampled refused   wrong  s/chart s/check"]
    for name in [*FAMILIES, "all"]:
        mine = [v for family, _, v in results if name in (family, "all")]
        if not mine:
            continue
        counts = [sum(v.status == state for v in mine) for state in STATES]
        numbers = "".join(f"{c:8d}" for c in counts)
        pace = [
            sum(getattr(v, what) for v in mine) / len(mine) for what in ("chart_seconds", "oracle_seconds")
        ]
        lines.append(f"{name:24s}{len(mine):7d}{numbers}{pace[0]:9.2f}{pace[1]:8.2f}")
    return "\n".join(lines)


def record(results: list[tuple[str, int, Verdict]], seed: int) -> dict[str, Any]:
    """What `--out` writes."""
    return {
        "charts": len(results),
        "seed": seed,
        "date": time.strftime("%Y-%m-%d"),
        "msolve": msolve.program() is not None,
        "families": {
            name: {state: sum(v.status == state for f, _, v in results if f == name) for state in STATES}
            for name in FAMILIES
        },
        "wrong": [
            {"number": k, "family": name, "problem": v.given.code(), "complaints": v.complaints}
            for name, k, v in results
            if v.complaints
        ],
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracle", description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--first", type=int, default=0, help="the number of the first problem: runs one again"
    )
    parser.add_argument("--only", nargs="*", default=(), choices=list(FAMILIES), help="these families alone")
    parser.add_argument(
        "--known", action="store_true", help="the problems on which charts were once wrong, each once"
    )
    parser.add_argument("--out", help="a JSON file for the result")
    given = parser.parse_args(arguments)
    results = known(loud=True) if given.known else run(given.count, given.seed, given.first, given.only)
    print(table(results))
    if given.out:
        with open(given.out, "w", encoding="utf-8") as file:
            json.dump(record(results, given.seed), file, indent=1)
    return int(any(v.complaints for _, _, v in results))


if __name__ == "__main__":
    sys.exit(main())
