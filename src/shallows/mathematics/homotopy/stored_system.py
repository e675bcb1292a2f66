"""Polynomial systems in files: variables, and for each equation [exponents, real part, imaginary part] of its terms."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from shallows.mathematics.homotopy.coefficients import GaussianRational
from shallows.mathematics.homotopy.systems import PolynomialSystem
from shallows.support.records import Kind


def described(system: Any) -> dict[str, Any]:
    """What is written of a system; coefficients are fractions, as text.

    >>> described(PolynomialSystem.read(["x^2 - 1/3"]))["equations"]
    [[[[2], '1', '0'], [[0], '-1/3', '0']]]
    """
    rows = [
        [[list(key), str(value.real), str(value.imag)] for key, value in terms.items()]
        for terms in system.equations
    ]
    return {
        "variables": list(system.variables),
        "parameters": list(getattr(system, "parameters", ())),
        "equations": rows,
    }


def system_of(document: Mapping[str, Any]) -> PolynomialSystem:
    """The system that was described so."""
    equations = tuple(
        {
            tuple(int(e) for e in key): GaussianRational(Fraction(real), Fraction(imag))
            for key, real, imag in terms
        }
        for terms in document["equations"]
    )
    names = tuple(str(name) for name in document["variables"])
    return PolynomialSystem(names, equations, tuple(str(name) for name in document.get("parameters", ())))


#: How results keep the system they are of.
SYSTEM = Kind(PolynomialSystem, described, system_of)
