"""Values of a metric: from data objects, as symbols for moments, and the check that it is positive definite."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import fmpq, fmpq_mat, fmpq_mpoly

from shallows.model.data.base import InnerProduct
from shallows.questions.discriminants.curves import StudentCurve
from shallows.questions.discriminants.values import simplest
from shallows.support.errors import InvalidProblem


def metric_values(curve: StudentCurve, data: InnerProduct | str) -> dict[str, object]:
    """Values of the metric's variables: of a data object, for "moments", or for "symmetric iid"."""
    if isinstance(data, str):
        return _symbolic_metric(curve, data)
    if not isinstance(data, InnerProduct):
        raise InvalidProblem(
            f'data is {data!r}; expected a data object with two inputs, "moments" or "symmetric iid".'
        )
    if data.n != 2:
        raise InvalidProblem(
            f"The data have {data.n} inputs; this discriminant is for 2. For more inputs there is no polynomial: "
            "use focal_cloud or focal_slice."
        )
    gram = data.gram(len(curve.names) - 1)
    size = len(curve.names)
    return {
        curve.names[i][j]: simplest(float(gram[i, j]) / (curve.weights[i] * curve.weights[j]))
        for i in range(size)
        for j in range(i, size)
    }


def _symbolic_metric(curve: StudentCurve, kind: str) -> dict[str, object]:
    """m_IJ = E[x^(I∪J)] under one name a moment, or the products μ_a μ_b of a symmetric i.i.d. law."""
    if kind not in ("moments", "symmetric iid"):
        raise InvalidProblem(f'data is {kind!r}; expected a data object, "moments" or "symmetric iid".')
    size = len(curve.names)
    found: dict[str, object] = {}
    for i in range(size):
        for j in range(i, size):
            ones, zeros = i + j, 2 * (size - 1) - i - j
            if kind == "moments":
                low = max(0, ones - size + 1)
                found[curve.names[i][j]] = curve.names[low][ones - low]
            else:
                found[curve.names[i][j]] = 0 if ones % 2 else "*".join(f"mu{k}" for k in (zeros, ones) if k)
    return found


def require_positive_definite(gram: Sequence[Sequence[fmpq_mpoly]]) -> None:
    """Refuse a Gram matrix that is all numbers and not positive definite (Sylvester's criterion, exactly)."""
    if not all(entry.is_constant() for row in gram for entry in row):
        return
    numbers = [[_flint_number(entry) for entry in row] for row in gram]
    for size in range(1, len(numbers) + 1):
        minor = fmpq_mat([row[:size] for row in numbers[:size]]).det()
        if minor <= 0:
            shown = "; ".join(" ".join(str(entry) for entry in row) for row in numbers)
            raise InvalidProblem(
                f"The metric is not positive definite: its Gram matrix [{shown}] has the leading minor {minor} of "
                f"size {size}. A distance needs all leading minors positive."
            )


def _flint_number(polynomial: fmpq_mpoly) -> fmpq:
    return polynomial.leading_coefficient() if polynomial else fmpq(0)


def number(polynomial: fmpq_mpoly) -> Fraction:
    """The value of a constant polynomial."""
    value = _flint_number(polynomial)
    return Fraction(int(value.p), int(value.q))
