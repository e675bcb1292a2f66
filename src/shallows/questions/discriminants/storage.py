"""Discriminants as JSON files: variables, the entries of teacher and metric, and the terms."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flint import Ordering, fmpq, fmpq_mpoly, fmpz_mpoly_ctx

from shallows.questions.discriminants.curves import (
    EllipseCurve,
    RankOneCurve,
    ReducedRankOneCurve,
    StudentCurve,
)
from shallows.questions.discriminants.values import ring
from shallows.support.files import Format

if TYPE_CHECKING:
    from shallows.questions.discriminants.polynomial import Discriminant

FORMAT = Format("shallows discriminant", 1, with_arrays=False, indent=None)


def write(discriminant: Discriminant, path: str | Path) -> Path:
    """Write the discriminant to `path`.json; numbers are text, so that no digit is lost."""
    return FORMAT.save(path, described(discriminant))


def described(discriminant: Discriminant) -> dict[str, Any]:
    """What is written of it."""
    polynomial = discriminant.polynomial
    return {
        "curve": _describe(discriminant.curve),
        "teacher": list(discriminant.teacher),
        "metric": list(discriminant.metric),
        "target": [_rows(entry) for entry in discriminant.target],
        "gram": [[_rows(entry) for entry in row] for row in discriminant.gram],
        "terms": None if polynomial is None else _rows(polynomial),
    }


def read(path: str | Path) -> dict[str, Any]:
    """The fields of the discriminant in a file that `write` wrote."""
    contents = FORMAT.load(path)
    with contents.reading():
        return fields(contents.document)


def fields(content: dict[str, Any]) -> dict[str, Any]:
    """The fields of a discriminant that was described so."""
    teacher, metric = tuple(map(str, content["teacher"])), tuple(map(str, content["metric"]))
    names = (*teacher, *metric)
    polynomial = None
    if content["terms"] is not None:
        context = fmpz_mpoly_ctx.get(list(names), Ordering.lex)
        polynomial = context.from_dict({tuple(powers): int(value) for value, *powers in content["terms"]})
    return {
        "curve": _curve(content["curve"]),
        "teacher": teacher,
        "metric": metric,
        "target": tuple(_polynomial(rows, names) for rows in content["target"]),
        "gram": tuple(tuple(_polynomial(rows, names) for rows in row) for row in content["gram"]),
        "polynomial": polynomial,
    }


def _rows(polynomial: Any) -> list[list[Any]]:
    """[coefficient, exponents…] for each term."""
    return [[str(value), *(int(e) for e in powers)] for powers, value in polynomial.to_dict().items()]


def _polynomial(rows: Sequence[Sequence[Any]], names: Sequence[str]) -> fmpq_mpoly:
    table = {}
    for value, *powers in rows:
        exact = Fraction(value)
        table[tuple(powers)] = fmpq(exact.numerator, exact.denominator)
    return ring(names).from_dict(table)


def _describe(curve: StudentCurve) -> dict[str, Any]:
    if isinstance(curve, EllipseCurve):
        return {"kind": "ellipse", "p": str(curve.p), "q": str(curve.q)}
    assert isinstance(curve, RankOneCurve)
    divisor = curve.divisor if isinstance(curve, ReducedRankOneCurve) else (1,)
    return {"kind": "rank one", "degree": curve.tensor_degree, "divisor": [str(value) for value in divisor]}


def _curve(description: dict[str, Any]) -> StudentCurve:
    if description["kind"] == "ellipse":
        return EllipseCurve(Fraction(description["p"]), Fraction(description["q"]))
    if description["kind"] != "rank one":
        raise ValueError(f"kind {description['kind']!r}")
    divisor = tuple(Fraction(value) for value in description["divisor"])
    degree = int(description["degree"])
    return RankOneCurve(degree) if len(divisor) == 1 else ReducedRankOneCurve(degree, divisor)
