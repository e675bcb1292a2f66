"""A problem in a few words, for the heading of a report or of a figure."""

from __future__ import annotations

from shallows.model.activations import Polynomial, Power, ReLU
from shallows.model.problem import Problem
from shallows.support.checks import counted, noun_for

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
POWERS = {1: "linear", 2: "quadratic", 3: "cubic", 4: "quartic", 5: "quintic"}


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
    parts = [neurons, *extra, counted(problem.n, "input"), *outputs, problem.data.in_words()]
    return ", ".join([parts[0][0].upper() + parts[0][1:], *parts[1:]])


def _activation(problem: Problem) -> str:
    kind = problem.activation
    if isinstance(kind, Power):
        return POWERS.get(kind.degree, f"degree-{kind.degree}")
    return "ReLU" if isinstance(kind, ReLU) else "polynomial" if isinstance(kind, Polynomial) else "smooth"
