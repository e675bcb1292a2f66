"""Polynomials as text and as LaTeX."""

from __future__ import annotations

import re

from flint import fmpz_mpoly

_GREEK = ("alpha", "beta", "gamma", "kappa", "lambda", "mu", "nu", "rho", "sigma", "tau", "theta")


def to_text(polynomial: fmpz_mpoly) -> str:
    """Terms in lexicographic order: "x^2*y - 3*y + 1"."""
    return _join(polynomial, list(polynomial.context().names()), "*", "^{}")


def to_latex(polynomial: fmpz_mpoly) -> str:
    """The same in LaTeX; a name's trailing digits become its index."""
    return _join(polynomial, [latex_name(name) for name in polynomial.context().names()], " ", "^{{{}}}")


def latex_name(name: str) -> str:
    """m0011 → m_{0011}, mu2 → \\mu_{2}."""
    match = re.fullmatch(r"([A-Za-z]+)_?(\d*)", name)
    if match is None:
        return rf"\mathrm{{{name}}}".replace("_", r"\_")
    letters, digits = match.groups()
    head = f"\\{letters}" if letters in _GREEK else letters if len(letters) == 1 else rf"\mathrm{{{letters}}}"
    return f"{head}_{{{digits}}}" if digits else head


def _join(polynomial: fmpz_mpoly, names: list[str], times: str, power: str) -> str:
    pieces = []
    for exponents, value in polynomial.to_dict().items():
        number = int(value)
        factors = [
            name if e == 1 else name + power.format(int(e))
            for name, e in zip(names, exponents, strict=True)
            if e
        ]
        if abs(number) != 1 or not factors:
            factors.insert(0, str(abs(number)))
        pieces.append((" - " if number < 0 else " + ") + times.join(factors))
    text = "".join(pieces)
    if not text:
        return "0"
    return text[3:] if text.startswith(" + ") else "-" + text[3:]
