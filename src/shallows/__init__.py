"""The loss landscapes of shallow neural networks."""

from shallows.errors import IncompleteChart, InvalidProblem, MissingExtra, NotConverged, ShallowsError

__all__ = ["IncompleteChart", "InvalidProblem", "MissingExtra", "NotConverged", "ShallowsError"]
