"""All solutions of a polynomial system by homotopy continuation, with certificates.

`solve` takes strings, dictionaries or a structured system and returns `Solutions`; `solve_member` and
`monodromy` work in families of systems.
"""

from shallows.mathematics.homotopy.expressions import Expression, variables
from shallows.mathematics.homotopy.families import CompiledFamily, PolynomialFamily, check_homotopy
from shallows.mathematics.homotopy.family_discriminants import FamilyDiscriminant, discriminant
from shallows.mathematics.homotopy.many_members import GenericMember, ManySolutions, solve_many
from shallows.mathematics.homotopy.mixed_cells import mixed_volume
from shallows.mathematics.homotopy.monodromy import MonodromyResult, monodromy
from shallows.mathematics.homotopy.multiplicities import Multiplicity, multiplicity
from shallows.mathematics.homotopy.parameter import solve_member
from shallows.mathematics.homotopy.paths import Homotopy, Paths, TrackerSettings, track
from shallows.mathematics.homotopy.rank_one import RankOneSystem, random_rank_one
from shallows.mathematics.homotopy.real_regions import RealCounts, real_counts
from shallows.mathematics.homotopy.sets.components import Component
from shallows.mathematics.homotopy.sets.decomposition import Decomposition, decompose, load_decomposition
from shallows.mathematics.homotopy.sets.distance_degree import ed_degree
from shallows.mathematics.homotopy.solutions import Solution, Solutions, SolutionSet, Status
from shallows.mathematics.homotopy.solve import solve
from shallows.mathematics.homotopy.systems import PolynomialSystem
from shallows.mathematics.homotopy.trace import TraceTest, linear_trace_test, trace_test

__all__ = [
    "CompiledFamily",
    "Component",
    "Decomposition",
    "Expression",
    "FamilyDiscriminant",
    "GenericMember",
    "Homotopy",
    "ManySolutions",
    "MonodromyResult",
    "Multiplicity",
    "Paths",
    "PolynomialFamily",
    "PolynomialSystem",
    "RankOneSystem",
    "RealCounts",
    "Solution",
    "SolutionSet",
    "Solutions",
    "Status",
    "TraceTest",
    "TrackerSettings",
    "check_homotopy",
    "decompose",
    "discriminant",
    "ed_degree",
    "linear_trace_test",
    "load_decomposition",
    "mixed_volume",
    "monodromy",
    "multiplicity",
    "random_rank_one",
    "real_counts",
    "solve",
    "solve_many",
    "solve_member",
    "trace_test",
    "track",
    "variables",
]
