"""What a thorough run consists of: property tests with more examples, and so many cases of each thorough test.

All cases of all functions take a night on two cores; `CASES` of each function, drawn by `DRAW`, take an hour or two and
leave no check out. `CASES=all` runs every one. What `make test` runs in the same way is left to it.
"""

import os
import random
from collections import defaultdict

#: How many cases of one function a run draws where nothing is said.
CASES = 4


def chosen(names, cases, draw):
    """At most `cases` of the names of each function (`file::test[case]`), in the order they have."""
    functions = defaultdict(list)
    for name in names:
        functions[name.partition("[")[0]].append(name)
    kept = set()
    for function, of_it in functions.items():
        numbers = random.Random(f"{draw} {function}")
        kept.update(of_it if len(of_it) <= cases else numbers.sample(of_it, cases))
    return [name for name in names if name in kept]


def asked(environment):
    """How many cases of a function, and the number of the draw, as `make test-thorough CASES=… DRAW=…` says."""
    cases, draw = environment.get("CASES") or str(CASES), environment.get("DRAW") or "0"
    if cases != "all" and not (cases.isdigit() and int(cases) > 0):
        raise ValueError(
            f"CASES={cases}: expected a whole number of cases of each test, or all. Fix: CASES=4."
        )
    return float("inf") if cases == "all" else int(cases), draw


def does_more(item):
    """It runs every day too, on fewer examples."""
    return "sized" in item.keywords or getattr(getattr(item, "obj", None), "is_hypothesis_test", False)


class DrawnCases:
    """Keeps what a thorough run consists of; what is left out is counted as deselected in the last line."""

    def __init__(self, environment=os.environ):
        self.cases, self.draw = asked(environment)

    def pytest_report_header(self):
        """Which run this is."""
        return f"thorough: at most {self.cases} cases of each test, draw {self.draw} (CASES=all: all, DRAW=1: others)"

    def pytest_collection_modifyitems(self, config, items):
        """Thorough tests, drawn; all that do more than every day."""
        thorough = [item.nodeid for item in items if "thorough" in item.keywords]
        kept = set(chosen(thorough, self.cases, self.draw))
        left = [item for item in items if item.nodeid not in kept and not does_more(item)]
        if left:
            config.hook.pytest_deselected(items=left)
            gone = set(map(id, left))
            items[:] = [item for item in items if id(item) not in gone]
