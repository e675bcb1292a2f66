"""A checker for certificates of `Certification.save`, that knows nothing of shallows: python-flint and json alone.

    python certificate_checker.py proof.json

For each box X it proves, by Krawczyk's operator in ball arithmetic, that the system has exactly one root in X; then
that the roots are distinct, and which are real, positive, not real. `Refused` says what does not hold.
"""

import json
import sys
from itertools import combinations
from math import prod

from flint import acb, acb_mat, arb, arb_mat, ctx, fmpq, fmpz


class Refused(Exception):
    """Something in the document is not proved."""


def demand(holds, what):
    if not holds:
        raise Refused(what)


def number(text):
    """A fraction, from "p/q"."""
    top, _, bottom = text.partition("/")
    return fmpq(int(top), int(bottom or "1"))


def ball(entry):
    """Midpoint m·2^e and radius m'·2^e'."""
    m, e, radius, power = (int(x) for x in entry)
    demand(radius >= 0, "a radius below zero")
    middle = arb(fmpz(m)) * arb(2) ** e
    demand(middle.rad() == 0, "a midpoint that the working precision does not hold")
    return arb(middle, arb(fmpz(radius)) * arb(2) ** power)


def evaluate(equations, x, one):
    """Values and Jacobian at balls."""
    n = len(x)
    values, jacobian = [], []
    for terms in equations:
        value, row = one * 0, [one * 0] * n
        for exponents, coefficient in terms:
            powers = [prod([x[j]] * e, start=one) for j, e in enumerate(exponents)]  # ** is NaN around 0
            value += coefficient * prod(powers, start=one)
            for k, e in enumerate(exponents):
                if e:
                    others = [p for j, p in enumerate(powers) if j != k]
                    row[k] += coefficient * e * prod([x[k]] * (e - 1) + others, start=one)
        values.append(value)
        jacobian += row
    return values, jacobian


def root_in(equations, box, real):
    """K(X), where exactly one root lies in X, and it lies in K(X)."""
    n, matrix, one = len(box), (arb_mat if real else acb_mat), (arb(1) if real else acb(1))
    middle = [entry.mid() for entry in box]
    value, _ = evaluate(equations, middle, one)
    _, slope = evaluate(equations, box, one)
    inverse = matrix(n, n, [entry.mid() for entry in slope]).inv().mid()
    defect = matrix(n, n, [int(i == j) for i in range(n) for j in range(n)]) - inverse * matrix(n, n, slope)
    radii = [entry.rad() if real else max_arb(entry.real.rad(), entry.imag.rad()) for entry in box]
    for i in range(n):
        demand(radii[i] > 0, "a box without an inside")
        row = sum((abs(defect[i, j]) * radii[j] for j in range(n)), arb(0)) / radii[i]
        demand(row * (1 if real else arb(2).sqrt()) < 1, "the operator does not contract")
    around = matrix(n, 1, [x - m for x, m in zip(box, middle, strict=True)])
    moved = matrix(n, 1, middle) - inverse * matrix(n, 1, value) + defect * around
    image = [moved[i, 0] for i in range(n)]
    inside = all(x.contains_interior(y) for x, y in zip(box, image, strict=True))
    demand(inside, "the image does not lie inside the box")
    return image


def max_arb(a, b):
    return a if a > b else b


def check(document):
    """How many roots are proved distinct, real, positive and not real; whether the bound was recomputed."""
    n = len(document["variables"])
    ctx.prec = 2 * max((root["bits"] for root in document["roots"]), default=64)
    equations = [
        [(tuple(key), acb(number(re), number(im))) for key, re, im in terms]
        for terms in document["equations"]
    ]
    is_real = all(c.imag == 0 for terms in equations for _, c in terms)
    reals = [[(key, c.real) for key, c in terms] for terms in equations]
    demand(
        len(equations) == n and all(len(key) == n for terms in equations for key, _ in terms), "not square"
    )
    images, counts = [], {"real": 0, "positive": 0, "not real": 0}
    for root in document["roots"]:
        parts = [[ball(part) for part in entry] for entry in root["box"]]
        real = root["real"] is True
        demand(
            len(parts) == n and all(len(entry) == (1 if real else 2) for entry in parts), "a misshapen box"
        )
        demand(is_real or not real, "a real root of a system that is not real")
        if real:
            image = root_in(reals, [entry[0] for entry in parts], True)
            counts["real"] += 1
            counts["positive"] += all(x > 0 for x in image)
            demand((root["positive"] is True) == all(x > 0 for x in image), "a wrong sign")
        else:
            image = root_in(equations, [acb(*entry) for entry in parts], False)
            off = any(not x.imag.contains(0) for x in image)
            counts["not real"] += off
            demand((root["real"] is False) <= off, "a root that may be real")
        if document["zeros"] == "excluded":
            demand(not any(x.contains(0) for x in image), "a coordinate that may be zero")
        images.append([acb(x) for x in image])
    for a, b in combinations(images, 2):
        demand(any(not x.overlaps(y) for x, y in zip(a, b, strict=True)), "two roots that may be one")
    stated = [document["count"], document["real"], document["positive"]]
    demand(
        stated == [len(images), counts["real"], counts["positive"]], "counts that are not those of the list"
    )
    demand(document["complete"] == (document["bound"] == len(images)), "completeness that does not follow")
    recomputed = document["bound_by"] == "total degree"
    if recomputed:
        bezout = prod(max(sum(key) for key, _ in terms) for terms in equations)
        demand(document["bound"] == bezout, "a wrong bound")
    return {"count": len(images), **counts, "complete": document["complete"], "bound checked": recomputed}


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        print(check(json.load(file)))
