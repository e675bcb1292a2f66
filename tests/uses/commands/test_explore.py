"""`shallows explore`: the page it serves, and the report it writes without serving."""

import json
import re
import signal
import subprocess
import sys
import urllib.request

import pytest

import shallows as sh
from shallows.uses.commands.explore import asked_for
from shallows.uses.explorer.answers import report_html
from shallows.uses.explorer.views import NAMES, view_of


def without_date(page):
    return [line for line in page.splitlines() if "<p>Made " not in line]


def test_it_serves_until_interrupted():
    command = [sys.executable, "-m", "shallows", "explore", "--port", "0", "--json", "--no-browser",
               "--view", "flow", "--set", "t1=2", "--seed", "7"]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            lines = [process.stdout.readline() for _ in range(3)]
            address = json.loads("".join(lines))["address"]
            with urllib.request.urlopen(address, timeout=600) as answer:
                assert answer.status == 200 and "?view=flow&t1=2&" in address and "&seed=7" in address
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=600)
        finally:
            process.kill()
    assert (process.returncode, "Traceback" in errors) == (0, False), errors


def test_without_dash_the_extra_is_named():
    """Dash brings Flask and Werkzeug: on a core install none of the three is there."""
    code = (
        "import sys; [sys.modules.__setitem__(m, None) for m in ('dash', 'flask', 'werkzeug')];"
        "from shallows.uses.explorer.server import make_server; make_server(port=0)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.stderr.splitlines()[-1].endswith(
        "dash is not installed. Fix: pip install 'shallows[explore]'"
    )


def test_out_is_what_download_report_gives(tmp_path, invoke):
    out = tmp_path / "folder" / "quadratic.html"
    told = json.loads(
        invoke("explore", "--set", "kurtosis=9", "--set", "train=20", "--out", out, "--json").stdout
    )
    assert told["facts"]["critical points of rank one"] == "13" and told["state"]["kurtosis"] == "9"
    page = out.read_text(encoding="utf-8")
    assert without_date(page) == without_date(report_html("quadratic", {"kurtosis": "9", "train": "20"}))
    assert told["report"] == str(out) and told["query"].startswith("?view=quadratic&kurtosis=9")


def test_a_shared_address_is_a_view(tmp_path, invoke):
    plain = "?view=ellipse&x=0.4&y=1"
    for address in (plain, f"http://127.0.0.1:8050/{plain}"):
        view, state = asked_for(address, ["y=0.5"], None)
        assert (view.name, state["x"], state["y"]) == ("ellipse", 0.4, 0.5)


def test_a_view_without_a_training_problem_is_written_as_it_stands(tmp_path, invoke):
    out = tmp_path / "ellipse.html"
    told = json.loads(invoke("explore", "--view", "ellipse", "--set", "x=0.4", "--out", out, "--json").stdout)
    page = out.read_text(encoding="utf-8")
    assert told["facts"]["real critical points"] == "4" and len(told["rows"]) == 4
    assert all(cell in page for row in told["rows"] for cell in row)
    assert "x=0.4" in page and "<script src" not in page and "Problem file" not in page
    assert "(drag it)" not in page


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_is_refused_exactly_where_nothing_is_drawn(name):
    has_seed = any(field.name == "seed" for field in view_of(name).fields)
    assert has_seed == (view_of(name).report is not None)
    if has_seed:
        assert asked_for(name, [], 12)[1]["seed"] == 12
    else:
        with pytest.raises(sh.InvalidProblem, match="draws nothing at random"):
            asked_for(name, [], 12)


def test_the_seed_is_that_of_the_report():
    first, other = (report_html("quadratic", {"train": "20", "seed": seed}) for seed in ("1", "2"))
    assert "seed 1" in first and "seed 2" in other
    shares = [re.search(r"([\d.]+)% end at a global minimum", page).group(1) for page in (first, other)]
    assert shares == ["80.0", "75.0"], "other starts end elsewhere"


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["--view", "torus"], "There is no view"),
        (["--set", "t11"], "expected control=value"),
        (["--set", "z=1"], "has no 'z'"),
        (["--set", "t11=99"], "from -3 to 3"),
        (["--seed", "123456"], "from 0 to 9999"),
        (["--view", "?x=1"], "without view="),
    ],
)
def test_wrong_states_are_refused_before_anything_starts(arguments, what, invoke):
    with pytest.raises(sh.InvalidProblem, match=what):
        invoke("explore", "--no-browser", *arguments)
