"""`double_root`: a certificate for the simplest multiple roots, by deflation.

At a double root x of F whose Jacobian has a kernel of dimension one, with an equation i that is outside of its range,

    F(x) = b·eᵢ,   J(x)v = 0,   ℓ·v = 1

is a square system in (x, v, b) with a regular root at b = 0 (S. Rump, S. Graillat, "Verified error bounds for multiple
roots of systems of nonlinear equations", Numer. Algorithms 54, 2010). Krawczyk's operator proves that it has exactly
one root in a box. Its Jacobian is invertible there only if J(x) has rank n − 1 and the second derivative along v leaves
the range of J(x): then x is a root of multiplicity two, no more, of F − b·eᵢ. So what is proved is a double root of a
system that differs from F by a constant b in one equation, and a bound on |b|. That b = 0 no ball can prove, since next
to F there are systems without multiple roots; `multiplicity` proves it where exact arithmetic can. That b is not 0 a
ball can prove: then F has two simple roots close to each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shallows.mathematics.balls.certification import certify
from shallows.mathematics.balls.krawczyk import CertifiedRoot
from shallows.mathematics.homotopy.coefficients import ONE, GaussianRational
from shallows.mathematics.homotopy.sets.numeric import NumericSystem, partial
from shallows.mathematics.homotopy.solutions import Solution
from shallows.mathematics.homotopy.systems import PolynomialSystem, Terms
from shallows.mathematics.newton import settled
from shallows.support.arguments import typed
from shallows.support.errors import InvalidProblem, NotConverged

#: Coefficients of ℓ are multiples of this: any ℓ will do that is not nearly zero on v.
GRID = 2**10
#: Newton steps from an end that is known to six digits or so, and the last of them, relatively.
STEPS, SETTLED = 30, 1e-10
#: How far Newton's method may move the point: further away is another root.
NEAR = 1e-2
#: Imaginary parts below this share are taken for zero; the proof decides.
NEARLY_REAL = 1e-5


@dataclass(frozen=True)
class DoubleRoot:
    """The proof that F − b·eᵢ has a root of multiplicity two in a box, with |b| ≤ perturbation.

    own: whether b may be 0; False where it is proved that F itself has no double root there, but two close ones.
    point: the middle of the box; radius: of its largest side, at most. equation: i, the equation that b is in. real:
    whether point and b are proved real. root: the certified root (x, v, b) of the deflated system.

    >>> found = sh.certify.double_root(["x^2 + y^2 - 4", "x*y - 2"], [1.41421, 1.41421])
    >>> found.real, found.own, found.radius < 1e-20
    (True, True, True)
    """

    point: NDArray[np.complex128]
    radius: float
    perturbation: float
    equation: int
    real: bool
    own: bool
    root: CertifiedRoot

    def __repr__(self) -> str:
        kind = "real " if self.real else ""
        return (
            f"DoubleRoot(a {kind}root of multiplicity 2 within {self.radius:.1g}, proved for a system with "
            f"{self.perturbation:.1g} or less added to equation {self.equation + 1}"
            f"{'' if self.own else ', and not for this one, in which there are two close roots'})"
        )


@typed
def double_root(polynomials: Any, point: Solution | ArrayLike, digits: int = 30) -> DoubleRoot:
    """Prove that there is a double root near a point, of the system or of one that differs by a tiny constant.

    Any square system with exact coefficients, of any size. `NotConverged` where the deflated system has no regular root
    near the point: the root is simple, of a higher multiplicity, or has a kernel of dimension two.

    >>> rows = ["x^2 + y^2 - 4", "x*y - 2"]                              # a circle and a hyperbola touch at ±(√2, √2)
    >>> sh.certify.double_root(rows, [1.41421, 1.41421])
    DoubleRoot(a real root of multiplicity 2 within ..., proved for a system with ... or less added to equation ...)
    >>> sh.homotopy.multiplicity(rows, [1.41421, 1.41421])              # small enough for a proof that nothing is added
    Multiplicity(2, proved at a point of degree 2 over Q)
    """
    system = PolynomialSystem.read(polynomials)
    if system.parameters:
        raise InvalidProblem(f"the system has parameters {system.parameters}. Fix: use specialize")
    place = np.asarray(point.point if isinstance(point, Solution) else point, np.complex128)
    if place.shape != (system.n,) or not np.isfinite(place).all():
        raise InvalidProblem(f"point has shape {place.shape}; expected {system.n} finite coordinates")
    size = max(1.0, float(np.abs(place).max(initial=0.0)))
    if system.is_real and float(np.abs(place.imag).max(initial=0.0)) < NEARLY_REAL * size:
        place = place.real.astype(np.complex128)
    deflated, start, i = _deflated(system, place)
    numeric = NumericSystem.of(deflated)
    found = settled(lambda x: (numeric.value(x), numeric.jacobian(x)), start, STEPS, SETTLED)
    proof = None
    if found is not None and float(np.abs(found[0][: system.n] - place).max()) < NEAR * size:
        (proof,) = certify(deflated, found[0][None], digits=digits).roots
    if proof is None:
        raise NotConverged(
            "no double root is proved there: it is simple, of a higher multiplicity, of a kernel of dimension two, or "
            "no root. Fix: multiplicity(polynomials, point)"
        )
    box = list(proof.box)
    radius = max(float(ball.rad()) if proof.real else float(ball.rad().mid()) for ball in box[: system.n])
    return DoubleRoot(
        proof.point[: system.n],
        radius,
        float(abs(box[-1]).upper()),
        i,
        proof.real is True,
        bool(box[-1].contains(0)),
        proof,
    )


def _deflated(
    system: PolynomialSystem, place: NDArray[np.complex128]
) -> tuple[PolynomialSystem, NDArray[np.complex128], int]:
    """The equations in (x, v, b), where to start, and the equation that b is in."""
    n = system.n
    left, _, right = np.linalg.svd(NumericSystem.of(system).jacobian(place))
    kernel, i = right[-1].conj(), int(np.argmax(np.abs(left[:, -1])))
    if not place.imag.any() and system.is_real:
        kernel = kernel * np.conj(kernel[np.argmax(np.abs(kernel))])
        kernel = kernel.real.astype(np.complex128)
    form = [_rounded(value) for value in kernel.conj() / np.linalg.norm(kernel)]
    kernel = kernel / sum(complex(a) * v for a, v in zip(form, kernel, strict=True))
    more = (0,) * (n + 1)
    rows: list[Terms] = [{(*key, *more): value for key, value in terms.items()} for terms in system.equations]
    unit = [tuple(int(k == j) for k in range(n + 1)) for j in range(n + 1)]
    rows[i] = {**rows[i], (*(0,) * n, *unit[n]): -ONE}
    for terms in system.equations:
        slope: Terms = {}
        for j in range(n):
            slope |= {(*key, *unit[j]): value for key, value in partial(terms, j).items()}
        rows.append(slope)
    rows.append({(*(0,) * n, *unit[j]): form[j] for j in range(n) if form[j]} | {(0,) * (2 * n + 1): -ONE})
    names = (*system.variables, *(f"kernel_{k + 1}" for k in range(n)), "perturbation")
    return PolynomialSystem(names, tuple(rows)), np.concatenate([place, kernel, [0.0]]), i


def _rounded(value: complex) -> GaussianRational:
    return GaussianRational(
        Fraction(round(value.real * GRID), GRID), Fraction(round(value.imag * GRID), GRID)
    )
