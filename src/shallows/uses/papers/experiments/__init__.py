"""The tables, figures and experiments of the four papers, as computations that run: `shallows reproduce`."""

from shallows.uses.papers.experiments.experiment import Comparison, Experiment, Plan, Presentation, Result
from shallows.uses.papers.experiments.library import experiments, find_experiments
from shallows.uses.papers.experiments.run import reproduce

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
