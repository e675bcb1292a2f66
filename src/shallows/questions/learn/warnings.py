"""Warnings of the estimators; each is a class of its own, so that it can be filtered or made an error by name."""

from __future__ import annotations


class UndeterminedWarning(UserWarning):
    """The data does not determine every coefficient; the choice of minimum norm was made (see `undetermined_`).

    >>> import warnings
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0], [0.0, 3.0], [-1.0, 0.0], [0.0, -1.0]])
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = sh.learn.QuadraticNetRegressor(alpha=0.0).fit(X, X[:, 0])
    >>> print(caught[0].message)
    The data determines 5 of 6 coefficients; in the other direction the choice of minimum norm was made. Most affected
    monomials: x1·x2. Use more samples, fewer columns, or alpha > 0 to make the choice explicit.
    """


class WidthWarning(UserWarning):
    """More neurons were asked for than any quadratic network of this many inputs can use.

    >>> import warnings
    >>> X = np.random.default_rng(0).standard_normal((50, 2))
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = sh.learn.QuadraticNetRegressor(width=10).fit(X, X[:, 0])
    >>> print(caught[0].message)
    width=10 is larger than useful: D = 3 neurons an output reach every quadratic function of these inputs (paper 002,
    Lemma C.5). 3 are used.
    """
