"""A thorough run takes hours: what passed is kept, and a run of the same files that was stopped goes on from there.

Outcomes are lines of `.thorough/DIGEST.jsonl`, with the time each test took; the digest is that of all files that git
knows of, as they are, so that any change begins anew. `make test-thorough FRESH=1` runs everything again.
"""

import hashlib
import json
import os
import subprocess
from pathlib import Path

import pytest

FOLDER = ".thorough"


def digest(root):
    """Of all files under version control or about to be, or None outside of a checkout."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True)
    if listed.returncode:
        return None
    made = hashlib.sha256()
    for name in sorted(filter(None, listed.stdout.split(b"\0"))):
        path = Path(root, os.fsdecode(name))
        made.update(name + b"\0" + (path.read_bytes() if path.is_file() else b"") + b"\0")
    return made.hexdigest()[:16]


class KeptOutcomes:
    """Leaves out what passed in an earlier run, and writes down what comes to an end in this one."""

    def __init__(self, path, passed):
        self.path, self.passed = path, frozenset(passed)

    @classmethod
    def of(cls, root):
        """Those of the files as they are; None outside of a checkout."""
        name = digest(root)
        if name is None:
            return None
        path = Path(root, FOLDER, f"{name}.jsonl")
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        rows = [
            json.loads(line) for line in lines if line.endswith("}")
        ]  # a killed run may leave half a line
        fresh = bool(os.environ.get("FRESH"))
        return cls(path, () if fresh else [row["test"] for row in rows if row["outcome"] == "passed"])

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node):
        """All processes of one run leave out the same tests."""
        node.workerinput["passed_earlier"] = sorted(self.passed)

    def pytest_collection_modifyitems(self, config, items):
        """Deselected, as is said in the last line."""
        done = [item for item in items if item.nodeid in self.passed]
        if done:
            config.hook.pytest_deselected(items=done)
            items[:] = [item for item in items if item.nodeid not in self.passed]

    def pytest_sessionfinish(self, session, exitstatus):
        """Nothing left to run is no failure."""
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and self.passed:
            session.exitstatus = pytest.ExitCode.OK

    def pytest_report_header(self):
        """Where outcomes are, and how many there are."""
        return (
            f"{len(self.passed)} tests passed in an earlier run of the same files (FRESH=1 runs them again)"
        )

    def pytest_runtest_logreport(self, report):
        """A test counts when it was called, or could not be."""
        if self.path is None or (report.when != "call" and report.passed):
            return
        self.path.parent.mkdir(exist_ok=True)
        row = {"test": report.nodeid, "outcome": report.outcome, "seconds": round(report.duration, 2)}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def kept_outcomes(config, root):
    """The plugin of this process: a worker takes over what its run leaves out, and writes nothing."""
    given = getattr(config, "workerinput", None)
    return KeptOutcomes.of(root) if given is None else KeptOutcomes(None, given.get("passed_earlier", ()))
