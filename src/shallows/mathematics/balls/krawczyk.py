"""Krawczyk's operator: existence and uniqueness of a root in a box, proved in ball arithmetic.

For a box X around x, a matrix Y ≈ J(x)⁻¹ and a ball evaluation J(X) of the Jacobian,

    K(X) = x − Y F(x) + (I − Y J(X)) (X − x).

K(X) ⊂ int X together with √2 ‖I − Y J(X)‖ < 1, in the norm whose unit ball is a multiple of the box, proves
that F has exactly one root in X, and that it lies in K(X) (R. Krawczyk, Computing 4, 1969; S. Rump 1983;
P. Breiding, K. Rose, S. Timme, "Certifying zeros of polynomial systems using interval arithmetic", ACM Trans.
Math. Softw. 49, 2023, Theorem 3.4; the √2 pays for complex rectangles and is not needed in a real box). A real
system with a real box that passes has a real root there. A negative answer proves nothing: the box may be
too large, or the root singular.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from flint import acb, acb_mat, arb, arb_mat
from numpy.typing import NDArray

from shallows.mathematics.balls.contraction import NEAR, VANISHING
from shallows.mathematics.balls.systems import BallEvaluator, ball_evaluator, precision
from shallows.mathematics.newton import refined
from shallows.support.errors import NotConverged
from shallows.support.tolerances import TINY

#: The box is this many times wider than the Newton step.
_SHARE = 8
#: The size of a coordinate that vanishes, or nearly, is at least this share of the point.
_VANISHING_IN_POINT = 1e-10
#: Points whose Newton step is longer than this share are improved before a box is tried: doubles know them better.
_ACCURATE = 1e-12
#: The widest box that is tried first, as a share of each coordinate: wide ones tell roots apart better.
_WIDE = 1e-9
#: Inverses with larger entries (of balanced matrices, times n) are not taken from doubles: few digits of them are left.
_DOUBLES = 1e11
#: Sensitivities below this share of the largest one do not make a box thinner.
_THINNEST = 1e-30
#: Newton steps that may move the centre of the box before the proof is given up; one must shrink the step by this.
_MOVES, _HELPS = 4, 0.1
#: Boxes around a point that is known to many bits: shares of these; and the smallest radius that doubles hold.
_PRECISE_BOXES, _SMALLEST_EXPONENT = (0.2, 0.35, 0.5, 0.7), 900.0
#: Newton steps from the middle of a box: it has some digits, and each step doubles them.
_NEWTON = 8
#: Refining a box: bits, in multiples of those that the wanted digits need, and rounds at each: one doubles the digits,
#: and more than a few are taken only where the box begins with a fraction of a digit.
MOST_BITS, ROUNDS = 64, 64
#: Krawczyk's test with room for the rounding of its norm: √2 in a complex box, 1 in a real one.
_COMPLEX_NORM, _REAL_NORM = 1.4143, 1.0001


@dataclass(frozen=True)
class CertifiedRoot:
    """Exactly one root lies in `domain`, and it lies in the much smaller `box` (balls, one a coordinate).

    The proof is that Krawczyk's operator K(X) = x − Y F(x) + (I − Y J(X)) (X − x), Y ≈ J(x)⁻¹, maps the box X =
    `domain` into its interior and contracts (R. Krawczyk, Computing 4, 1969; P. Breiding, K. Rose, S. Timme, ACM
    Trans. Math. Softw. 49, 2023, Theorem 3.4).

    real: True when proved real, False when proved not real, None when not decided.

    >>> system = sh.homotopy.PolynomialSystem.read(["x^2 - 2"])
    >>> root = sh.certify.certify(system, [[1.41421356]]).certified[0]
    >>> root
    CertifiedRoot((1.41421), real, within ..., 53 bits)
    >>> root.real, root.refine(digits=50).box[0].str(40, radius=False)
    (True, '1.414213562373095048801688724209698078570')
    """

    box: Sequence[Any]
    domain: Sequence[Any]
    real: bool | None
    bits: int
    system: Any = field(repr=False, compare=False)

    def __repr__(self) -> str:
        real = {True: "real", False: "not real", None: "realness undecided"}[self.real]
        shown = ", ".join(f"{x.real:.6g}" if self.real else f"{x:.6g}" for x in self.point[:6])
        more = f", … {len(self.box)} coordinates" if len(self.box) > 6 else ""
        return f"CertifiedRoot(({shown}{more}), {real}, within {self.radius:.2g}, {self.bits} bits)"

    @cached_property
    def point(self) -> NDArray[np.complex128]:
        """The midpoint in double precision."""
        return np.array([complex(entry.mid()) for entry in self.box])

    @cached_property
    def radius(self) -> float:
        """A bound on the distance, in each coordinate, between the midpoint of the box and the root."""
        return max(_radius(entry) for entry in self.box)

    @cached_property
    def digits(self) -> float:
        """Correct decimal digits of the largest coordinate."""
        size = max(float(abs(entry).abs_upper()) for entry in self.box)
        return float("inf") if self.radius == 0 else float(np.log10(max(size, TINY) / self.radius))

    @cached_property
    def positive(self) -> bool | None:
        """True when proved real with all coordinates above zero, False when proved not so, None when not decided."""
        if self.real is False or any(
            (entry.real if isinstance(entry, acb) else entry) < 0 for entry in self.box
        ):
            return False
        if self.real is True and all(
            (entry.real if isinstance(entry, acb) else entry) > 0 for entry in self.box
        ):
            return True
        return None

    def refine(self, digits: int) -> CertifiedRoot:
        """The same root in a smaller box: `digits` correct decimals relative to its largest coordinate."""
        if self.digits >= digits:
            return self
        root, bits = self, self.bits
        # Newton doubles the digits: as many rounds as that takes, and the bits to hold them
        goal = int(digits * 3.33) + 40
        while bits < MOST_BITS * goal:
            bits = max(2 * bits, goal) if bits < goal else 2 * bits
            evaluator = ball_evaluator(self.system, bits)
            with precision(bits):
                for _ in range(ROUNDS):
                    smaller = _contract(evaluator, root.box)
                    if smaller is None:
                        break
                    gained = _narrower(smaller, root.box)
                    root = replace(root, box=smaller, bits=bits)
                    if root.digits >= digits:
                        return root
                    if not gained:
                        break
                found = root._found_again(evaluator, bits)
                if found is not None and found.digits >= digits:
                    return found
        raise NotConverged(f"the box could not be refined to {digits} digits (reached {root.digits:.0f})")

    def _found_again(self, evaluator: BallEvaluator, bits: int) -> CertifiedRoot | None:
        """The root proved anew at `bits` bits, by Newton from the middle of the box, where that is this one.

        For boxes over which the slope varies so much that K(X) ∩ X gains little.
        """
        centre = [entry.mid() for entry in self.box]
        for better, _ in refined(evaluator, centre, _NEWTON):
            centre = better
        proof = _precise_box(evaluator, centre, bits, isinstance(self.box[0], acb))
        found = None if proof is None else replace(self, box=proof[0], bits=bits)
        return found if found is not None and self.contains(found) else None

    def contains(self, other: CertifiedRoot) -> bool:
        """Whether the other root is proved to be this one: its box lies where this root is the only one."""
        return all(mine.contains(theirs) for mine, theirs in zip(self.domain, other.box, strict=True))

    def is_disjoint(self, other: CertifiedRoot, sign: int = 1) -> bool:
        """Whether the boxes (the other one times `sign`) have no point in common."""
        return any(
            not mine.overlaps(theirs if sign > 0 else -theirs)
            for mine, theirs in zip(self.box, other.box, strict=True)
        )


def _radius(entry: Any) -> float:
    if isinstance(entry, acb):
        return max(float(entry.real.rad().upper()), float(entry.imag.rad().upper()))
    return float(entry.rad().upper())


def _narrower(new: Sequence[Any], old: Sequence[Any]) -> bool:
    return max(map(_radius, new)) < 0.5 * max(map(_radius, old))


def _contract(evaluator: BallEvaluator, box: Sequence[Any]) -> tuple[Any, ...] | None:
    """K(X) ∩ X for a box X known to contain exactly one root."""
    matrix: Any = acb_mat if isinstance(box[0], acb) else arb_mat
    centre = [entry.mid() for entry in box]
    value, _ = evaluator(centre)
    _, slope = evaluator(box)
    try:
        inverse = slope.mid().inv().mid()
    except ZeroDivisionError:
        return None
    n = len(box)
    step = inverse * value
    identity = matrix(n, n, [1 if i == j else 0 for i in range(n) for j in range(n)])
    spread = (identity - inverse * slope) * matrix(n, 1, [a - b for a, b in zip(box, centre, strict=True)])
    images = [c - s + d for c, s, d in zip(centre, step.entries(), spread.entries(), strict=True)]
    return tuple(_intersection(a, b) for a, b in zip(images, box, strict=True))


def _intersection(a: Any, b: Any) -> Any:
    if isinstance(a, acb):
        return acb(a.real.intersection(b.real), a.imag.intersection(b.imag))
    return a.intersection(b)


def _attempt(
    evaluator: BallEvaluator,
    centre: Sequence[Any],
    step: Sequence[Any],
    radii: NDArray[np.float64],
    inverse: Any,
    is_complex: bool,
) -> tuple[tuple[Any, ...], tuple[Any, ...]] | None:
    """Krawczyk's test for the box of these radii around exact points: (box, domain) when it passes."""
    n = len(centre)
    balls = [arb(0, float(radius)) for radius in radii]
    around = [acb(ball, ball) if is_complex else ball for ball in balls]
    domain = [entry + ball for entry, ball in zip(centre, around, strict=True)]
    _, slope = evaluator(domain)
    defect = (inverse * slope).entries()
    for i in range(n):
        defect[i * n + i] = defect[i * n + i] - 1
    # the norm of the scaled space, in which the box is a cube
    weights = radii.tolist()
    norm = 0.0
    for i in range(n):
        row = sum((defect[i * n + j].abs_upper() * weights[j] for j in range(n)), arb(0)) / weights[i]
        norm = max(norm, float(row.upper()))
    if not norm * (_COMPLEX_NORM if is_complex else _REAL_NORM) < 1.0:
        return None
    matrix: Any = acb_mat if is_complex else arb_mat
    spread = (matrix(n, n, defect) * matrix(n, 1, around)).entries()
    box = [c - s + d for c, s, d in zip(centre, step, spread, strict=True)]
    if all(outer.contains_interior(inner) for outer, inner in zip(domain, box, strict=True)):
        return tuple(box), tuple(domain)
    return None


def certify_point(
    system: Any, evaluator: BallEvaluator, point: NDArray[np.complex128], bits: int, real: bool
) -> CertifiedRoot | None:
    """Prove a root near `point`, in a real box when `real`: None when the proof does not go through.

    A point that is not yet accurate is first improved by a Newton step at the working precision, which only
    moves the centre of the box: the proof is about the box it ends up with, and that box stays within a
    small multiple of the Newton step from the point given. The sides of the box follow the size of each
    coordinate and its sensitivity |J⁻¹||J||x|, so badly scaled variables do no harm.
    """
    if not np.isfinite(point).all():
        return None
    matrix: Any = arb_mat if real else acb_mat
    centre: list[Any] = [arb(float(z.real)) if real else acb(complex(z)) for z in point]
    value, slope = evaluator(centre)
    found = _approximate_inverse(slope, np.abs(point), matrix, real)
    if found is None:
        return None
    inverse, sensitivity = found
    step = (inverse * value).entries()
    moved = np.array([float(entry.abs_upper()) for entry in step])
    size = np.maximum(
        np.maximum(np.abs(point), VANISHING * sensitivity), _VANISHING_IN_POINT * np.abs(point).max()
    )
    if not (moved <= NEAR * size).all():  # the point is no approximate root: a proof would be about another
        return None
    smallest = float(np.exp2(8.0 - bits)) * sensitivity
    even = np.ones(len(point))  # a cube, for roots with coordinates that vanish
    improve = (moved > _ACCURATE * size).any()
    for _ in range(_MOVES):  # Newton steps move the centre: when they help at once, and while no box passes
        if improve:
            centre = [(c - s).mid() for c, s in zip(centre, step, strict=True)]
            value, _ = evaluator(centre)
            step = (inverse * value).entries()
        length = np.array([float(entry.abs_upper()) for entry in step])
        tightest = _SHARE * float((length / sensitivity).max()) * sensitivity + smallest
        widest = np.maximum(_SHARE * moved, _WIDE * size) + smallest
        between = np.sqrt(tightest) * np.sqrt(np.maximum(widest, tightest))
        for radii in (widest, widest.max() * even, between, tightest, tightest.max() * even):
            proof = _attempt(evaluator, centre, step, radii, inverse, not real)
            if proof is not None:
                box, domain = proof
                return CertifiedRoot(box, domain, _realness(box, real), bits, system)
        if improve and not (length < _HELPS * moved).any():
            return None
        improve, moved = True, length
    return None


def certify_precisely(
    system: Any, evaluator: BallEvaluator, centre: Sequence[Any], bits: int
) -> CertifiedRoot | None:
    """Prove the root at a point that is known to nearly `bits` bits, which may have others next to it.

    A real box is tried first where the system is real and the point nearly so.
    """
    size = max(float(abs(entry).abs_upper()) for entry in centre) or 1.0
    close = evaluator.is_real and all(abs(entry.imag) < size * arb(2) ** (-bits // 3) for entry in centre)
    for real in (True, False) if close else (False,):
        middle = [entry.real.mid() if real else entry.mid() for entry in centre]
        proof = _precise_box(evaluator, middle, bits, not real)
        if proof is not None:
            box, domain = proof
            return CertifiedRoot(box, domain, _realness(box, real), bits, system)
    return None


def _precise_box(
    evaluator: BallEvaluator, middle: Sequence[Any], bits: int, is_complex: bool
) -> tuple[tuple[Any, ...], tuple[Any, ...]] | None:
    """(box, domain) of a root within a power of 2^−bits of these exact points; None when no box passes."""
    size = max(float(abs(entry).abs_upper()) for entry in middle) or 1.0
    value, slope = evaluator(middle)
    try:
        inverse = slope.mid().inv().mid()
    except ZeroDivisionError:
        return None
    step = (inverse * value).entries()
    for share in _PRECISE_BOXES:
        radii = np.full(len(middle), size * 2.0 ** -min(share * bits, _SMALLEST_EXPONENT))
        proof = _attempt(evaluator, middle, step, radii, inverse, is_complex)
        if proof is not None:
            return proof
    return None


def _approximate_inverse(
    slope: Any, size: NDArray[np.float64], matrix: Any, real: bool
) -> tuple[Any, NDArray[np.float64]] | None:
    """Y ≈ J⁻¹ and |Y||J||x|. Any nonsingular Y will do for the proof; double precision nearly always does."""
    n = slope.nrows()
    entries = slope.entries()
    if real:
        table = np.array([float(entry.mid()) for entry in entries]).reshape(n, n)
    else:
        table = np.array([complex(entry.mid()) for entry in entries]).reshape(n, n)
    absolute = np.abs(table)
    rows = absolute.max(axis=1, keepdims=True)
    if not (np.isfinite(table).all() and (rows > 0).all()):
        return None
    columns = (absolute / rows).max(axis=0)
    if not (columns > 0).all():
        return None
    try:
        balanced = np.linalg.inv(table / rows / columns)
        if not np.abs(balanced).max() * n < _DOUBLES:  # too ill-conditioned for double precision
            exact = slope.mid().inv().mid()
            kind = float if real else complex
            inverse = np.array([kind(entry) for entry in exact.entries()]).reshape(n, n)
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                inverse = balanced / columns[:, None] / rows.T
            if not np.isfinite(inverse).all():  # a column of 10⁻³⁰⁰: as good as singular
                return None
            exact = matrix(n, n, inverse.ravel().tolist())
    except (np.linalg.LinAlgError, ZeroDivisionError):
        return None
    spread = np.abs(inverse) @ absolute
    sensitivity = spread @ (size if size.any() else np.ones(n))
    floor = float(sensitivity.max()) * _THINNEST
    return exact, np.maximum(sensitivity, floor if floor > 0 else TINY)


def _realness(box: Sequence[Any], real: bool) -> bool | None:
    if real:
        return True
    if any(not entry.imag.contains(0) for entry in box):
        return False
    return None
