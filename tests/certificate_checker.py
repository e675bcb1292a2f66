"""A checker for certificates of `Certification.save`, that knows nothing of shallows: python-flint and json alone.

    python certificate_checker.py proof.json

For each box X it proves, by Krawczyk's operator in ball arithmetic, that the system has exactly one root in X; then
that the roots are distinct, and which are real, positive, not real. `Refused` says what does not hold. "complete" is
true where the roots are as many as Bézout's theorem allows, or Bernstein's: the mixed volume is computed from a random
lifting, by all tuples of edges, where these are few. Another bound, which it does not compute, is only "stated".
"""

import json
import sys
from fractions import Fraction
from itertools import combinations, product
from math import comb, prod
from random import Random

from flint import acb, acb_mat, arb, arb_mat, ctx, fmpq, fmpq_mat, fmpz, fmpz_mat

FEW = 200_000  # tuples of edges: ten seconds or so


class Refused(Exception):
    """Something in the document is not proved."""


def demand(holds, what):
    if not holds:
        raise Refused(what)


def ball(entry):  # midpoint m·2^e and radius m'·2^e'
    m, e, radius, power = (int(x) for x in entry)
    middle = arb(fmpz(m)) * arb(2) ** e
    demand(radius > 0, "a box without an inside")
    demand(middle.rad() == 0, "a midpoint that the working precision does not hold")
    return arb(middle, arb(fmpz(radius)) * arb(2) ** power)


def exact(text):
    return fmpq(*Fraction(text).as_integer_ratio())


def evaluate(equations, x):  # values and Jacobian at balls
    one, values, jacobian = type(x[0])(1), [], []
    for terms in equations:
        value, row = one * 0, [one * 0] * len(x)
        for exponents, coefficient in terms:
            powers = [prod([x[j]] * e, start=one) for j, e in enumerate(exponents)]  # ** is NaN around 0
            value += coefficient * prod(powers, start=one)
            for k, e in enumerate(exponents):
                row[k] += coefficient * e * prod([x[k]] * (e - 1) + powers[:k] + powers[k + 1 :], start=one)
        values.append(value)
        jacobian += row
    return values, jacobian


def root_in(equations, box, real):  # K(X), where exactly one root lies in X, and it lies in K(X)
    n, matrix = len(box), arb_mat if real else acb_mat
    middle = [entry.mid() for entry in box]
    value, slope = evaluate(equations, middle)[0], evaluate(equations, box)[1]
    inverse = matrix(n, n, [entry.mid() for entry in slope]).inv().mid()
    defect = matrix(n, n, [int(i == j) for i in range(n) for j in range(n)]) - inverse * matrix(n, n, slope)
    radii = [entry.rad() if real else max(entry.real.rad(), entry.imag.rad()) for entry in box]
    for i in range(n):
        row = sum((abs(defect[i, j]) * radii[j] for j in range(n)), arb(0)) / radii[i]
        demand(row * (1 if real else arb(2).sqrt()) < 1, "the operator does not contract")
    around = matrix(n, 1, [x - m for x, m in zip(box, middle, strict=True)])
    image = (matrix(n, 1, middle) - inverse * matrix(n, 1, value) + defect * around).entries()
    demand(all(x.contains_interior(y) for x, y in zip(box, image, strict=True)), "an image outside a box")
    return image


def check(document):  # how many roots are proved distinct, real, positive, not real; and whether they are all
    n, roots = len(document["variables"]), document["roots"]
    ctx.prec = 2 * max((root["bits"] for root in roots), default=64)
    given = [[(key, exact(re), exact(im)) for key, re, im in row] for row in document["equations"]]
    demand(len(given) == n and all(len(key) == n for row in given for key, _, _ in row), "not square")
    images, counts = [], {"count": len(roots), "real": 0, "positive": 0, "not real": 0}
    for root in roots:
        real, parts = root["real"] is True, [[ball(part) for part in entry] for entry in root["box"]]
        demand([len(entry) for entry in parts] == [2 - real] * n, "a misshapen box")
        demand(not (real and any(im for row in given for _, _, im in row)), "a real root of a complex system")
        rows = [[(key, arb(re) if real else acb(re, im)) for key, re, im in row] for row in given]
        image = root_in(rows, [entry[0] if real else acb(*entry) for entry in parts], real)
        positive = real and all(x > 0 for x in image)
        off = not real and not all(x.imag.contains(0) for x in image)
        demand((root["positive"] is True) == positive, "a wrong sign")
        demand(off or root["real"] is not False, "a root that may be real")
        on_axis = document["zeros"] != "included" and any(x.contains(0) for x in image)
        demand(not on_axis, "a coordinate that may be zero")
        for kind, holds in (("real", real), ("positive", positive), ("not real", off)):
            counts[kind] += holds
        images.append([acb(x) for x in image])
    for a, b in combinations(images, 2):
        demand(any(not x.overlaps(y) for x, y in zip(a, b, strict=True)), "two roots that may be one")
    demand(all(document[k] == counts[k] for k in ("count", "real", "positive")), "counts of other roots")
    demand(document["complete"] == (document["bound"] == len(roots)), "completeness that does not follow")
    known = {"total degree": prod(max(sum(key) for key, _, _ in row) for row in given)}
    supports, origin = [{tuple(key) for key, re, im in row if re or im} for row in given], (0,) * n
    nonzero = {j for s in supports if origin in s for j in range(n) if all(key[j] for key in s - {origin})}
    if document["zeros"] == "included" and len(nonzero) < n:
        supports = [s | {origin} for s in supports]  # a bound for all isolated roots (Li and Wang 1996)
    if document["bound_by"] == "polyhedral" and prod(comb(len(s), 2) for s in supports) <= FEW:
        known["polyhedral"] = mixed_volume(supports)
    demand(known.get(document["bound_by"], document["bound"]) == document["bound"], "a wrong bound")
    complete = True if len(roots) in known.values() else f"stated, by {document['bound_by']}"
    return {**counts, "complete": complete if document["complete"] else False}


def dot(a, b):
    return sum((x * y for x, y in zip(a, b, strict=True)), fmpq(0))


def mixed_volume(supports):  # Σ |det| over mixed cells: edges of all supports that are lowest for one slope
    n, random, volume = len(supports), Random(0), 0
    lifted = [[(*key, random.randrange(2**40)) for key in sorted(support)] for support in supports]
    for edges in product(*(combinations(points, 2) for points in lifted)):
        steps = [[b - a for a, b in zip(p, q, strict=True)] for p, q in edges]
        matrix = fmpq_mat(fmpz_mat([step[:n] for step in steps]))
        if det := abs(matrix.det()):
            slope = [*matrix.solve(fmpq_mat(n, 1, [-step[n] for step in steps])).entries(), fmpq(1)]
            heights = [sorted(dot(point, slope) for point in points) for points in lifted]
            if [dot(p, slope) for p, _ in edges] == [own[0] for own in heights]:
                demand(all(own[0] < own[2] for own in heights if own[2:]), "a lifting that is not generic")
                volume += det
    return volume


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        print(check(json.load(file)))
