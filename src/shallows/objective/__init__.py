"""Objectives: the loss as a function of neurons and outer weights, one exact method a file."""

from shallows.objective.base import Objective
from shallows.objective.build import build_objective, labels_of, tensors_of
from shallows.objective.function_space import FunctionSpaceObjective

__all__ = ["FunctionSpaceObjective", "Objective", "build_objective", "labels_of", "tensors_of"]
