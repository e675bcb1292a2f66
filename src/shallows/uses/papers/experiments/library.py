"""All experiments, by name."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module

from shallows.support.errors import InvalidProblem
from shallows.uses.papers.experiments.experiment import Experiment

#: One module an experiment or a small family, each with its EXPERIMENTS.
MODULES = (
    "landscapes",
    "focal_loci",
    "planted",
    "quadratic_training",
    "deep_training",
    "relu_norms",
    "relu_minima",
    "relu_extra",
    "relu_conjecture",
    "product",
)
ALL = "all"


def experiments(paper: str | None = None) -> list[Experiment]:
    """Every experiment in the order of the papers, or those of one ("000" to "003").

    >>> [experiment.name for experiment in experiments("001")]
    ['001-sample-threshold', '001-initialisation']
    """
    found = [
        experiment
        for module in MODULES
        for experiment in import_module(f"shallows.uses.papers.experiments.{module}").EXPERIMENTS
    ]
    return [experiment for experiment in found if paper in (None, experiment.paper)]


def find_experiments(name: str) -> list[Experiment]:
    """The experiment of this name, those of a paper ("002"), or "all"."""
    known = {experiment.name: experiment for experiment in experiments()}
    if name == ALL:
        return list(known.values())
    if name in known:
        return [known[name]]
    if name in {experiment.paper for experiment in known.values()}:
        return experiments(name)
    near = get_close_matches(name, known, 3, 0.5) or list(known)
    raise InvalidProblem(f"There is no experiment {name!r}. Did you mean {', '.join(near)}, or {ALL}?")
