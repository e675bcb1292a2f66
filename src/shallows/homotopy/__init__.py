"""All solutions of a polynomial system by homotopy continuation, with certificates.

`solve` takes strings, dictionaries or a structured system and returns `Solutions`; `solve_member` and
`monodromy` work in families of systems.
"""

from shallows.homotopy.families import CompiledFamily, PolynomialFamily, check_homotopy
from shallows.homotopy.monodromy import MonodromyResult, monodromy
from shallows.homotopy.parameter import solve_member
from shallows.homotopy.paths import Homotopy, Paths, TrackerSettings, track
from shallows.homotopy.rank_one import RankOneSystem, random_rank_one
from shallows.homotopy.solutions import Solution, Solutions, SolutionSet, Status
from shallows.homotopy.solve import solve
from shallows.homotopy.systems import PolynomialSystem
from shallows.homotopy.trace import TraceTest, linear_trace_test, trace_test

__all__ = [
    "CompiledFamily",
    "Homotopy",
    "MonodromyResult",
    "Paths",
    "PolynomialFamily",
    "PolynomialSystem",
    "RankOneSystem",
    "Solution",
    "SolutionSet",
    "Solutions",
    "Status",
    "TraceTest",
    "TrackerSettings",
    "check_homotopy",
    "linear_trace_test",
    "monodromy",
    "random_rank_one",
    "solve",
    "solve_member",
    "trace_test",
    "track",
]
