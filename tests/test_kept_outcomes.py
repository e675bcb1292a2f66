"""A thorough run that was stopped goes on: what is left out, and when nothing is."""

import subprocess
from types import SimpleNamespace

import pytest
from tests.kept_outcomes import KeptOutcomes, digest


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    monkeypatch.delenv("FRESH", raising=False)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / ".gitignore").write_text(".thorough/\n")
    (tmp_path / "module.py").write_text("x = 1\n")
    return tmp_path


def report(test, outcome, when="call"):
    return SimpleNamespace(nodeid=test, outcome=outcome, when=when, passed=outcome == "passed", duration=0.5)


def left(outcomes, names):
    items, gone = [SimpleNamespace(nodeid=name) for name in names], []
    config = SimpleNamespace(
        hook=SimpleNamespace(pytest_deselected=lambda items: gone.extend(item.nodeid for item in items))
    )
    outcomes.pytest_collection_modifyitems(config, items)
    assert sorted(gone + [item.nodeid for item in items]) == sorted(names)
    return [item.nodeid for item in items]


def test_what_passed_is_left_out_until_a_file_changes(checkout, monkeypatch):
    first = KeptOutcomes.of(checkout)
    assert left(first, ["a", "b", "c", "d"]) == ["a", "b", "c", "d"]
    for row in [
        report("a", "passed"),
        report("b", "failed"),
        report("c", "passed", "setup"),  # it was not called yet
        report("d", "failed", "setup"),
    ]:
        first.pytest_runtest_logreport(row)
    with first.path.open("a") as file:
        file.write('{"test": "c", "outco')  # killed here
    assert left(KeptOutcomes.of(checkout), ["a", "b", "c", "d"]) == ["b", "c", "d"]
    monkeypatch.setenv("FRESH", "1")
    assert left(KeptOutcomes.of(checkout), ["a", "b"]) == ["a", "b"]
    monkeypatch.delenv("FRESH")
    (checkout / "module.py").write_text("x = 2\n")
    assert left(KeptOutcomes.of(checkout), ["a", "b"]) == ["a", "b"]


def test_new_files_change_the_digest_and_a_folder_without_git_has_none(checkout, tmp_path_factory):
    before = digest(checkout)
    (checkout / "other.py").write_text("")
    assert digest(checkout) != before
    assert digest(tmp_path_factory.mktemp("plain")) is None


def test_a_worker_leaves_out_what_its_run_does_and_writes_nothing():
    node = SimpleNamespace(workerinput={})
    KeptOutcomes(None, ["a"]).pytest_configure_node(node)
    worker = KeptOutcomes(None, node.workerinput["passed_earlier"])
    worker.pytest_runtest_logreport(report("b", "passed"))
    assert left(worker, ["a", "b"]) == ["b"]


def test_nothing_left_to_run_is_no_failure():
    session = SimpleNamespace(exitstatus=pytest.ExitCode.NO_TESTS_COLLECTED)
    KeptOutcomes(None, []).pytest_sessionfinish(session, session.exitstatus)
    assert session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED
    KeptOutcomes(None, ["a"]).pytest_sessionfinish(session, session.exitstatus)
    assert session.exitstatus == pytest.ExitCode.OK
