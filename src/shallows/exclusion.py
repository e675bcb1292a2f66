"""All zeros of a system of equations in a region, by interval branch and prune: polynomials, or any functions of yours.

`exclude` takes strings, or a `System` that encloses its values and derivatives over boxes (`Intervals`), and returns an
`Exclusion`: zeros with proofs, and what was not decided.
"""

from shallows.mathematics.exclusion.intervals import Intervals
from shallows.mathematics.exclusion.result import Exclusion
from shallows.mathematics.exclusion.search import exclude
from shallows.mathematics.exclusion.system import Plain, Polynomials, System

__all__ = ["Exclusion", "Intervals", "Plain", "Polynomials", "System", "exclude"]
