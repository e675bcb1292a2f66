"""Sparse systems made ready for the tracker: scaling, homogenisation and the integer program."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy._compiled.codes import AFFINE, PROJECTIVE
from shallows.mathematics.homotopy.coefficients import ZERO, GaussianRational, to_gaussian
from shallows.mathematics.homotopy.paths import Homotopy
from shallows.mathematics.homotopy.systems import Exponents, PolynomialSystem, Terms
from shallows.support.tolerances import EPSILON

Coefficients = Mapping[Exponents, complex]
#: Weight of "leave a variable's scale alone" against a coefficient's wish: it decides only where these decide nothing.
UNSCALED = 1e-3
#: Rounding of a sum of terms, in ε times the sum of their sizes: coefficients and products are rounded once each.
NOISE = 2


@dataclass(frozen=True)
class Scaling:
    """x = 2^variables · y and fᵢ ↦ 2^equations[i] fᵢ: powers of two, so that nothing is rounded."""

    variables: NDArray[np.int64]
    equations: NDArray[np.int64]

    def out(self, points: NDArray[np.complex128]) -> NDArray[np.complex128]:
        """From scaled coordinates y to x."""
        return np.asarray(points * np.exp2(self.variables.astype(float)))

    def into(self, points: NDArray[np.complex128]) -> NDArray[np.complex128]:
        """From x to scaled coordinates y."""
        return np.asarray(points * np.exp2(-self.variables.astype(float)))


def scaling(system: PolynomialSystem) -> Scaling:
    """The scaling that brings all coefficients closest to 1, by least squares on their logarithms.

    (A. Morgan, "Solving Polynomial Systems Using Continuation for Engineering and Scientific Problems",
    1987, ch. 5: SCLGEN.)
    """
    n = system.n
    rows, right = [], []
    for i, terms in enumerate(system.equations):
        inside = []
        for exponents, value in terms.items():
            row = np.zeros(2 * n)
            row[:n] = exponents[:n]
            row[n + i] = 1.0
            inside.append((row, -value.log2_size()))
        weight = 1.0 / np.sqrt(len(inside))
        rows += [row * weight for row, _ in inside]
        right += [size * weight for _, size in inside]
        if len(inside) > 1:  # the spread within an equation is what the equation's own factor cannot mend
            centre = sum(row for row, _ in inside) / len(inside)
            level = sum(size for _, size in inside) / len(inside)
            rows += [row - centre for row, _ in inside]
            right += [size - level for _, size in inside]
    for j in range(n):  # where the coefficients leave a variable's scale open, leave it alone
        rows.append(np.eye(2 * n)[j] * UNSCALED)
        right.append(0.0)
    best = np.linalg.lstsq(np.array(rows), np.array(right), rcond=None)[0]
    whole = np.rint(best).astype(np.int64)
    return Scaling(whole[:n], whole[n:])


def scaled(system: PolynomialSystem, by: Scaling) -> list[dict[Exponents, complex]]:
    """Coefficients of the scaled system, rounded to double once, at the end."""
    return [
        {key: complex(float(value.real), float(value.imag)) for key, value in row.items()}
        for row in scaled_exactly(system, by)
    ]


def scaled_exactly(system: PolynomialSystem, by: Scaling) -> list[Terms]:
    """The coefficients after x = 2^variables·y and fᵢ ↦ 2^equations[i]·fᵢ, without rounding; parameters stay."""
    rows = []
    for shift, terms in zip(by.equations.tolist(), system.equations, strict=True):
        row: Terms = {}
        for key, value in terms.items():
            factor = Fraction(2) ** (shift + int(np.dot(by.variables, key[: system.n])))
            row[key] = GaussianRational(value.real * factor, value.imag * factor)
        rows.append(row)
    return rows


def sharpened(
    homotopy: Homotopy,
    target: Sequence[Terms],
    start: Sequence[Coefficients] | Sequence[Terms],
    unknowns: int,
) -> Homotopy:
    """The same (1−t)·target + t·start, evaluated in double-double, from the exact coefficients.

    Its points stay doubles, so a residual that is nothing but rounding is what is left of ε² in its terms.
    """
    from shallows.mathematics.homotopy._compiled.records import PLACES
    from shallows.mathematics.homotopy._compiled.sharp import SPARE, sharp

    highs: list[complex] = []
    lows: list[complex] = []
    for part in (0, 1):  # targets, then slopes, in the order of `straight_line`
        for goal, origin in zip(target, start, strict=True):
            for key in dict.fromkeys([*goal, *origin]):
                end = goal.get(key, ZERO)
                exact = end if part == 0 else to_gaussian(origin.get(key, 0.0)) - end
                high = complex(exact)
                highs.append(high)
                lows.append(complex(exact - to_gaussian(high)))
    numbers = SPARE + homotopy.work + unknowns + 1
    return replace(
        homotopy,
        evaluate=sharp,
        complexes=np.array(highs + lows, np.complex128),
        scratch=PLACES * numbers,
        noise=homotopy.noise * EPSILON,
        sharp_beyond=0.0,
        loose=False,
    )


def straight_line(
    target: Sequence[Coefficients],
    start: Sequence[Coefficients],
    unknowns: int,
    projective: bool = True,
    parameters: tuple[NDArray[np.complex128], NDArray[np.complex128]] | None = None,
) -> Homotopy:
    """(1−t)·target + t·start, coefficient by coefficient; parameters, if any, run from start to target too.

    `projective` adds a homogenising unknown at the end. `parameters` is the pair (target, start) of
    values for the symbols after the unknowns.
    """
    from shallows.mathematics.homotopy._compiled import evaluators

    here, there = parameters or (np.zeros(0, np.complex128), np.zeros(0, np.complex128))
    size = unknowns + 1 if projective else unknowns
    rows, monomials, at_target, slopes = [0], list[Exponents](), list[complex](), list[complex]()
    for goal, origin in zip(target, start, strict=True):
        keys = list(dict.fromkeys([*goal, *origin]))
        degree = max(sum(key[:unknowns]) for key in keys)
        for key in keys:
            own = key[:unknowns]
            monomials.append((*own, *([degree - sum(own)] if projective else []), *key[unknowns:]))
            at_target.append(goal.get(key, 0.0))
            slopes.append(origin.get(key, 0.0) - goal.get(key, 0.0))
        rows.append(len(monomials))
    program, work = _program(rows, monomials, size, len(here))
    sizes = np.maximum(np.abs(at_target), np.abs(np.add(at_target, slopes)))
    total = max(float(sizes[a:b].sum()) for a, b in itertools.pairwise(rows))
    return Homotopy(
        evaluate=evaluators.sparse,
        complexes=np.concatenate([here, there - here, at_target, slopes]).astype(np.complex128),
        reals=np.zeros(1),
        program=program,
        work=work,
        scratch=1,
        unknowns=size,
        mode=PROJECTIVE if projective else AFFINE,
        noise=NOISE * EPSILON * total if projective else 0.0,
        loose=parameters is None,
    )


def _program(
    rows: list[int], monomials: list[Exponents], size: int, extra: int
) -> tuple[NDArray[np.int64], int]:
    """What the compiled evaluator reads, and the room that it works in: equations are the terms from one of `rows` to
    the next, each a monomial in `size` unknowns and `extra` parameters."""
    from shallows.mathematics.homotopy._compiled import evaluators

    lines = _family_tree(monomials)
    number = {key: k for k, key in enumerate(lines)}
    degrees = [max((key[j] for key in lines), default=0) for j in range(size + extra)]
    bases = np.concatenate([[0], np.cumsum([d + 1 for d in degrees])])
    pointer, base, exponent, index, parents = [0], [], [], [], []
    for key, (factors, parent) in lines.items():
        base += [int(bases[j]) for j in factors]
        exponent += [key[j] for j in factors]
        index += factors
        parents.append(-1 if parent is None else number[parent])
        pointer.append(len(index))
    places, offset = [], evaluators.HEADER
    blocks = [degrees, pointer, base, exponent, index, rows, [number[key] for key in monomials], parents]
    for block in blocks:
        places.append(offset)
        offset += len(block)
    header = [len(rows) - 1, size, extra, len(lines), places[0], places[1], places[2], places[3]]
    header += [places[5], places[6], 2 * extra, 2 * extra + len(monomials), places[7]]
    program = np.array(header + [int(entry) for block in blocks for entry in block], dtype=np.int64)
    return program, int(bases[-1]) + len(lines) + len(index) + 1


def _family_tree(keys: Iterable[Exponents]) -> dict[Exponents, tuple[list[int], Exponents | None]]:
    """These monomials and those that they are made from, parents first: the symbols of each in order, and its parent.

    The parent of a monomial is what is left without one of its symbols, the last in the order; one that is wanted
    itself, if there is one.
    """
    wanted = dict.fromkeys(keys)
    found: dict[Exponents, tuple[list[int], Exponents | None]] = {}

    def add(key: Exponents) -> list[int]:
        if key in found:
            return found[key][0]
        symbols = [j for j, power in enumerate(key) if power]
        if len(symbols) < 2:
            found[key] = symbols, None
            return symbols
        without = {j: (*key[:j], 0, *key[j + 1 :]) for j in reversed(symbols)}
        last = next((j for j, rest in without.items() if rest in wanted or rest in found), symbols[-1])
        order = [*add(without[last]), last]
        found[key] = order, without[last]
        return order

    for key in wanted:
        add(key)
    return found
