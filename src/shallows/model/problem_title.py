"""A problem in a few words, for the heading of a report or of a figure."""

from __future__ import annotations

from shallows.model.activations import Polynomial, Power, ReLU
from shallows.model.data.gaussian import Gaussian
from shallows.model.data.iid import IID
from shallows.model.data.metric import Frobenius, Metric
from shallows.model.data.mixture import Mixture
from shallows.model.data.radial import Radial, Sphere
from shallows.model.data.samples import Samples
from shallows.model.problem import Problem
from shallows.support.checks import counted, noun_for
from shallows.support.errors import InvalidProblem

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
POWERS = {1: "linear", 2: "quadratic", 3: "cubic", 4: "quartic", 5: "quintic"}
LAWS = {"normal": "standard normal inputs", "uniform": "uniform inputs", "laplace": "Laplace inputs",
        "rademacher": "inputs ±1", "student": "Student inputs"}  # fmt: skip


def problem_title(problem: Problem) -> str:
    """ "One quadratic neuron, 3 inputs, Gaussian data".

    >>> problem_title(sh.Problem(np.diag([2.0, 1.5, 1.0]), sh.IID(3, [1, 0, 1, 0, 30]), width=1))
    'One quadratic neuron, 3 inputs, independent inputs of kurtosis 30'
    >>> problem_title(sh.Problem(sh.Network(np.eye(2), activation=sh.ReLU()), sh.Gaussian(2), width=2))
    'Two ReLU neurons, 2 inputs, Gaussian data'
    """
    width = problem.width
    number = NUMBERS[width] if width < len(NUMBERS) else str(width)
    neurons = (
        f"{number} {_activation(problem)} {noun_for(width, 'neuron')}{' with bias' if problem.bias else ''}"
    )
    outputs = [counted(problem.outputs, "output")] if problem.outputs > 1 else []
    extra = ["a norm neuron"] if problem.norm_neuron else []
    parts = [neurons, *extra, counted(problem.n, "input"), *outputs, _data(problem)]
    return ", ".join([parts[0][0].upper() + parts[0][1:], *parts[1:]])


def _activation(problem: Problem) -> str:
    kind = problem.activation
    if isinstance(kind, Power):
        return POWERS.get(kind.degree, f"degree-{kind.degree}")
    return "ReLU" if isinstance(kind, ReLU) else "polynomial" if isinstance(kind, Polynomial) else "smooth"


def _independent(data: IID) -> str:
    try:
        return f"independent inputs of kurtosis {data.moment(4) / data.moment(2) ** 2:.3g}"
    except InvalidProblem:  # no fourth moment is known
        return "independent inputs"


def _data(problem: Problem) -> str:
    data = problem.data
    if isinstance(data, Gaussian):
        return "Gaussian data" if data.white and data.centred else "correlated Gaussian data"
    if isinstance(data, IID):
        return LAWS.get(data.construction().name.removeprefix("IID."), _independent(data))
    if isinstance(data, Samples):
        return counted(data.count, "sample")
    if isinstance(data, Sphere):
        return "data on the sphere"
    names = {Radial: "rotation-invariant data", Mixture: "a mixture of laws", Frobenius: "the Frobenius norm",
             Metric: "a given metric"}  # fmt: skip
    return next((text for law, text in names.items() if isinstance(data, law)), type(data).__name__)
