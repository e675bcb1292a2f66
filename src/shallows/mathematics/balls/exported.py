"""A certification as a document that another program can check: the exact system, and a box for each root.

Every number is exact: coefficients are fractions, ends of boxes whole multiples of powers of two. A checker needs
nothing of ours: it evaluates the system and its Jacobian over each box X, takes any approximate inverse Y, and sees
whether x − Y F(x) + (I − Y J(X)) (X − x) lies inside X and contracts (see `krawczyk`); tests/certificate_checker.py
does it in less than 100 lines.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from flint import acb, arb

from shallows.mathematics.balls.krawczyk import CertifiedRoot, certify_precisely
from shallows.mathematics.balls.systems import ball_evaluator, precision
from shallows.mathematics.homotopy.stored_system import described, system_of
from shallows.mathematics.homotopy.systems import PolynomialSystem
from shallows.support.errors import InvalidProblem, NotConverged
from shallows.support.files import Format

if TYPE_CHECKING:
    from shallows.mathematics.balls.certification import Certification

FORMAT = Format("shallows-certificate", 2, with_arrays=False)
#: Digits to which roots are refined, and bits at which their boxes are then proved again: the first that work.
LADDER = ((30, 160), (60, 320), (120, 640), (240, 1280))


def document(certification: Certification) -> dict[str, Any]:
    """What is proved, as numbers, text and lists."""
    system = certification.system
    if certification.sign_symmetric or not hasattr(system, "equations"):
        raise InvalidProblem(
            "only certificates of polynomial systems can be exported, one root a box. "
            "Fix: solve and certify system.polynomials()"
        )
    places = certification.distinct
    return described(system) | {
        "roots": [_root(root) for root in certification.certified],
        "count": certification.count,
        "real": certification.real_count,
        "positive": certification.positive_count,
        "bound": certification.bound,
        "bound_by": certification.bound_by,
        "zeros": "excluded" if certification.nonzero else "included",
        "complete": certification.complete,
        "scope": certification.scope,
        "points": len(certification.roots),
        "places": list(places),
        "repeated": [[k, _same(certification, k)] for k in certification.repeated],
    }


def _same(certification: Certification, k: int) -> int:
    """The place of the distinct root that point k belongs to."""
    roots = certification.roots
    found = (
        place
        for place in certification.distinct
        if (own := roots[k]) is not None
        and (other := roots[place]) is not None
        and not other.is_disjoint(own)
    )
    return next(found)


def read(path: str | Path) -> dict[str, Any]:
    """The fields of a certification in a file: every root is proved again, in the box that stands there."""
    contents = FORMAT.load(path)
    with contents.reading():
        given = contents.document
        system = system_of(given)
        found = [_proved_again(system, entry) for entry in given["roots"]]
        places = [int(k) for k in given.get("places", range(len(found)))]
        roots: list[CertifiedRoot | None] = [None] * int(given.get("points", len(found)))
        for place, root in zip(places, found, strict=True):
            roots[place] = root
        for place, same in given.get("repeated", []):
            roots[place] = roots[same]
        return {
            "roots": tuple(roots),
            "distinct": tuple(places),
            "repeated": tuple(int(place) for place, _ in given.get("repeated", [])),
            "bound": given["bound"],
            "scope": given["scope"],
            "bound_by": given["bound_by"],
            "nonzero": given["zeros"] == "excluded",
            "system": system,
        }


def _proved_again(system: PolynomialSystem, entry: dict[str, Any]) -> CertifiedRoot:
    """The root in a box of the file, by Krawczyk's test; a box that does not pass it is damage."""
    bits = int(entry["bits"])
    with precision(bits):
        box = [acb(*(_arb(part) for part in parts)) for parts in entry["box"]]
        root = certify_precisely(system, ball_evaluator(system, bits), [ball.mid() for ball in box], bits)
        inside = root is not None and all(
            mine.contains(theirs) for mine, theirs in zip(box, root.box, strict=True)
        )
        if root is None or not inside or root.real != entry["real"]:
            raise ValueError("one of its boxes is not proved to hold a root")
        return root


def _arb(numbers: list[str]) -> arb:
    """The ball of `_ball`."""
    middle, places, radius, exponent = (int(number) for number in numbers)
    return arb((middle, places), (radius, exponent))


def _root(root: CertifiedRoot) -> dict[str, Any]:
    """A box that Krawczyk's test accepts as it stands, for the same root."""
    for digits, bits in LADDER:
        fine = root.refine(digits)
        evaluator = ball_evaluator(root.system, bits)
        with precision(bits):
            again = certify_precisely(root.system, evaluator, [acb(entry).mid() for entry in fine.box], bits)
            if again is not None and again.real == root.real and root.contains(again):
                box = [[_ball(part) for part in _parts(entry)] for entry in again.domain]
                return {"real": root.real, "positive": root.positive, "box": box, "bits": bits}
    raise NotConverged(f"{root!r} could not be proved again in a box by itself. Fix: leave it out")


def _parts(entry: Any) -> tuple[Any, ...]:
    """Real, or real and imaginary part."""
    return (entry.real, entry.imag) if isinstance(entry, acb) else (entry,)


def _ball(entry: arb) -> list[str]:
    """Midpoint and radius as m·2^e: [m, e, m', e']."""
    return [str(number) for part in (entry.mid(), entry.rad()) for number in part.man_exp()]
