"""Numbers that many algorithms share, each with its reason; what one algorithm needs alone stands at its top.

A tolerance has a name, a home and a reason: a bound from rounding-error analysis, a source, or a measurement.
"""

from __future__ import annotations

#: The spacing of doubles at 1: results of one rounded operation are within half of it, relatively (IEEE 754).
EPSILON = 2.0**-52
#: Half of it: the relative error of one rounded operation.
UNIT_ROUNDOFF = 2.0**-53
#: √ε: where a relative error ε in a quadratic function hides a relative change of its argument.
SQRT_EPSILON = 2.0**-26
#: Added to a divisor that may be zero with its numerator: far above the smallest normal double (2.2e-308), so that
#: quotients of ordinary numbers do not overflow, and far below any scale that inputs have.
TINY = 1e-300
#: What no computation should reach, 1/TINY: numbers beyond it, infinite ones and NaN are refused (`not x < HUGE`).
HUGE = 1e300
#: Losses of critical points that agree to nine digits are shown as one: charts know them to about twelve.
SAME_LOSS = 1e-9
