"""Requests that no machine can answer are refused before they start, with what they would cost, at once.

At once: after so many calls of functions, which are the same on every machine, as seconds are not. All of them run in
one process of their own, which an alarm interrupts: a hang inside one call is seen as one.
"""

import json
import subprocess
import sys

import pytest

BOMBS = {
    "a number with 10⁹ digits": 'sh.homotopy.solve(["1e999999999*x-1"])',
    "a product of powers of numbers": 'sh.homotopy.solve(["((10^10000)^10000)^10000*x-1"])',
    "a binomial to the 10,000th": 'sh.homotopy.solve(["(x+y)^10000", "x-y"])',
    "seven variables to the 30th": 'sh.homotopy.solve(["(a+b+c+d+e+f+g)^30"])',
    "10,000 moments": "sh.IID(2, [float(k % 2 == 0) for k in range(10_001)])",
    "10⁶ inputs": "sh.Gaussian(10**6)",
    "10⁶ inputs, no metric": "sh.Frobenius(10**6).gram(2)",
    "a power of degree 10⁶": "power(10**6, sh.Gaussian(2))",
    "degree 40 in three variables": "sh.chart(power(40, sh.Frobenius(3)))",
    "degree 40 under Gaussian data": "sh.chart(power(40, sh.Gaussian(3)))",
    "10⁹ runs": "sh.ensemble(sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), width=1), runs=10**9)",
    "10⁵ columns": "sh.learn.QuadraticNetRegressor().fit(np.ones((3, 10**5)), np.ones(3))",
    "10¹² repeats": "plan(repeats=10**12)",
    "an axis of 10¹² values": "plan(axes=[{'path': 'problem.width', 'range': {'start': 1, 'stop': 10**12}}])",
    "twelve axes of ten values": "plan(axes=[{'path': f'compute.x{i}', 'values': list(range(10))} for i in range(12)])",
    "a grid of 10¹² points": "regions(10**6)",
    "a grid of 10²⁴ points": "regions(10**12)",
    "a grid of 20,000 × 20,000 points of degree 34": "regions(20_000, 12)",
    "a network of degree 16 in 100 columns": "deep(100, layers=4)",
    "its penalty chosen by the data": "deep(100, layers=4, alpha='auto')",
    "degree 8 in 12 columns, by statistics": "deep(12, layers=3, method='statistics')",
    "10⁷ hidden neurons": "deep(2, layers=(10**7,))",
    "10⁹ trained networks": "deep(2, layers=(3,), runs=10**9)",
    "10¹² iterations": "deep(2, layers=(3, 3), iterations=10**12)",
}  # fmt: skip
#: Refused for what they are, not for what they cost.
MISTAKES = {
    "900 parentheses": 'sh.homotopy.solve(["(" * 900 + "x" + ")" * 900])',
    "900 signs": 'sh.homotopy.solve(["-" * 900 + "y"], variables=["x"])',
    "a network of 10⁹ layers": "deep(2, layers=10**9)",
    "a number of 5,000 digits": 'sh.homotopy.solve(["9" * 5000 + "*x^2*y"])',
}
RUN = """
import json, signal, sys
from pathlib import Path
import numpy as np
import shallows as sh

PROBLEM = {"width": 1, "target": {"diagonal": [2.0, 1.0]}, "data": {"law": "gaussian", "n": 2}}

def plan(**changes):
    return sh.sweep.Plan.from_document({"problem": PROBLEM, "compute": {"what": "chart"}} | changes)

def power(degree, data):
    return sh.Problem(sh.Network(np.eye(data.n), activation=sh.Power(degree)), data, width=1)

def regions(resolution, degree=2):
    problem = sh.Problem(sh.Network(np.eye(2), activation=sh.Power(degree)), sh.IID.laplace(2), width=1)
    axes = [("t" + letter * degree, -1, 3) for letter in "01"]
    return sh.landscape_regions(problem, *axes, resolution=resolution)

def deep(columns, **options):
    X = np.random.default_rng(0).standard_normal((40, columns))
    return sh.learn.DeepQuadraticRegressor(**options).fit(X, X[:, 0])

class Hang(BaseException):
    pass

def alarm(number, frame):
    raise Hang

def peak():
    # megabytes, where Linux says it; ru_maxrss would begin at the peak of the process that started this one
    status = Path("/proc/self/status")
    return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1024 if status.exists() else 0.0

def count(frame, event, argument):
    global calls
    calls += event in ("call", "c_call")

signal.signal(signal.SIGVTALRM, alarm)
sh.homotopy.solve(["x^2 - 2"]), sh.chart(sh.Problem(np.eye(2), sh.Frobenius(2), width=1)), sh.learn, sh.sweep
sh.learn.QuadraticNetRegressor().fit(np.ones((3, 2)), np.ones(3))
regions(3), deep(1, layers=1), deep(1, layers=(1,), runs=1, iterations=1)
found = {}
for name, code in json.load(sys.stdin).items():
    calls = 0
    signal.setitimer(signal.ITIMER_VIRTUAL, 20)
    sys.setprofile(count)
    try:
        eval(code)
        found[name] = ["nothing", ""]
    except BaseException as error:
        found[name] = [type(error).__name__, str(error)]
    finally:
        sys.setprofile(None)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    found[name] += [calls, peak()]
json.dump(found, sys.stdout)
"""
#: The most was 54,336 calls (44 ms here), nearly all bombs take fewer than 4,000; megabytes are of the whole process,
#: 300 of them its imports.
CALLS, MEGABYTES = 250_000, 500


@pytest.fixture(scope="module")
def outcomes():
    command = [sys.executable, "-W", "ignore", "-c", RUN]
    run = subprocess.run(
        command, input=json.dumps(BOMBS | MISTAKES), capture_output=True, text=True, check=True, timeout=600
    )
    return json.loads(run.stdout)


@pytest.mark.parametrize("bomb", BOMBS)
def test_bombs_are_refused_with_the_estimate(outcomes, bomb):
    kind, message, calls, megabytes = outcomes[bomb]
    assert kind == "OverBudget" and ("would take" in message or "would need" in message), message
    assert "the limit is" in message and "sh.budget(" in message, message
    assert calls < CALLS and megabytes < MEGABYTES, outcomes[bomb]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_texts_that_would_break_the_reader_are_mistakes(outcomes, mistake):
    kind, message, calls, megabytes = outcomes[mistake]
    assert kind == "InvalidProblem" and len(message) < 500, message
    assert calls < CALLS and megabytes < MEGABYTES, outcomes[mistake]
