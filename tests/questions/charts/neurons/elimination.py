"""Critical networks by elimination: the loss expanded in all parameters and inputs, moments put in, msolve on the rest.

Shares with the library nothing but msolve: polynomials are dictionaries of exponents, multiplied by hand.
"""

from fractions import Fraction
from itertools import product

import numpy as np

from shallows.mathematics.exact.msolve import real_roots


def times(p, q):
    result = {}
    for (left, x), (right, y) in product(p.items(), q.items()):
        key = tuple(a + b for a, b in zip(left, right, strict=True))
        result[key] = result.get(key, 0) + x * y
    return result


def plus(p, q, factor=1):
    result = dict(p)
    for key, value in q.items():
        result[key] = result.get(key, 0) + factor * value
    return {key: value for key, value in result.items() if value}


def function(coefficients, weights, inputs, size, a=None, bias=None):
    """a p(w·x + b) in the variables (parameters, inputs): all given as places or as numbers."""

    def atom(value):
        if isinstance(value, tuple):  # ("place", k)
            return {tuple(int(i == value[1]) for i in range(size)): Fraction(1)}
        return {(0,) * size: Fraction(value)} if value else {}

    line = {} if bias is None else atom(bias)
    for w, x in zip(weights, inputs, strict=True):
        line = plus(line, times(atom(w), atom(x)))
    total, power = {}, {(0,) * size: Fraction(1)}
    for c in coefficients:
        total = plus(total, power, Fraction(c))
        power = times(power, line)
    return total if a is None else times(total, atom(a))


def derivative(p, k):
    return {
        tuple(e - (i == k) for i, e in enumerate(key)): value * key[k] for key, value in p.items() if key[k]
    }


def gaussian_moment(variances):
    """E x^K for N(0, diag(variances))."""

    def moment(key):
        value = Fraction(1)
        for k, s in zip(key, variances, strict=True):
            value *= 0 if k % 2 else Fraction(s) ** (k // 2) * int(np.prod(range(1, k, 2), initial=1))
        return value

    return moment


def sample_moment(X):
    """The mean of x^K over rows of whole numbers."""

    def moment(key):
        powers = [np.prod([Fraction(int(x)) ** k for x, k in zip(row, key, strict=True)]) for row in X]
        return sum(powers, Fraction(0)) / len(X)

    return moment


def critical_networks(n, coefficients, teacher, moment, bias=False, outer=None):
    """All real (a, b, w) of one neuron with a ≠ 0, rows (a, b, w…), and the number of complex ones.

    `teacher` is a list of (a, b, w, coefficients).
    """
    lead, shift = int(outer is None), int(bias)
    count = lead + shift + n
    size = count + n
    inputs = [("place", count + i) for i in range(n)]
    a = ("place", 0) if lead else outer
    b = ("place", lead) if bias else None
    weights = [("place", lead + shift + i) for i in range(n)]
    gap = function(coefficients, weights, inputs, size, a, b)
    for alpha, beta, v, own in teacher:
        gap = plus(gap, function(own, v, inputs, size, alpha, beta), -1)
    equations = []
    for k in range(count):
        terms = times(derivative(gap, k), gap)
        mean = {}
        for key, value in terms.items():
            rest = key[:count]
            mean[rest] = mean.get(rest, 0) + value * moment(key[count:])
        if lead and k:  # ∂L/∂w has the factor a
            mean = {(key[0] - 1, *key[1:]): value for key, value in mean.items() if value}
        equations.append({key: value for key, value in mean.items() if value})
    roots = real_roots(equations, bits=200, timeout=120)
    rows = []
    for x in roots.points:
        found = list(x)
        rows.append([found.pop(0) if lead else outer, found.pop(0) if bias else 0.0, *found])
    return np.array(rows).reshape(len(rows), n + 2), roots.degree


def values(coefficients, rows, X):
    """The functions a p(w·x + b) at the rows of X."""
    z = rows[:, 2:] @ X.T + rows[:, 1:2]
    return rows[:, :1] * np.polynomial.polynomial.polyval(z, np.array(coefficients, float))
