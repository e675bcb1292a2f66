"""All solutions of a polynomial system by homotopy continuation, with certificates.

`solve` takes strings, dictionaries or a structured system and returns `Solutions`.
"""

from shallows.homotopy.solutions import Solution, Solutions, SolutionSet, Status
from shallows.homotopy.solve import solve
from shallows.homotopy.systems import PolynomialSystem

__all__ = ["PolynomialSystem", "Solution", "SolutionSet", "Solutions", "Status", "solve"]
