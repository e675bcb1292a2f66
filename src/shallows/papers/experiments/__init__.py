"""The tables, figures and experiments of the four papers, as computations that run: `shallows reproduce`."""

from shallows.papers.experiments.experiment import Comparison, Experiment, Plan, Presentation, Result
from shallows.papers.experiments.library import experiments, find_experiments
from shallows.papers.experiments.run import reproduce

__all__ = [
    "Comparison",
    "Experiment",
    "Plan",
    "Presentation",
    "Result",
    "experiments",
    "find_experiments",
    "reproduce",
]
