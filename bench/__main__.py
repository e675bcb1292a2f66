"""`make bench [ONLY=name]`: print the ratio table of every question; exit 1 when a promise is missed."""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import bench  # noqa: E402  (the thread counts must be set before numpy loads)

SUPPORT = {"__main__", "literature", "memory", "mnist_pairs", "report"}


def main(names: list[str]) -> int:
    """Run the named benchmarks (all of them by default)."""
    from bench.report import print_rows

    questions = [module.name for module in pkgutil.iter_modules(bench.__path__) if module.name not in SUPPORT]
    unknown = set(names) - set(questions)
    if unknown:
        print(f"No benchmark named {', '.join(sorted(unknown))}. There are: {', '.join(questions)}.")
        return 2
    missed = 0
    for name in names or questions:
        module = importlib.import_module(f"bench.{name}")
        rows = module.run()
        print_rows((module.__doc__ or name).strip().splitlines()[0], rows)
        missed += sum(row.met is False for row in rows)
    which = "1 promised ratio was" if missed == 1 else f"{missed} promised ratios were"
    print(f"{which} missed." if missed else "Every promised ratio was reached.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
