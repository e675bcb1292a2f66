"""How many critical points one neuron with several outputs has.

With a eliminated the loss of a ⊗ w^⊗d is ‖t‖² − B(w)/q(w), B = Σ_m b_m², b_m(w) = ⟨w^⊗d, t_m⟩, q(w) = ⟨w^⊗d, w^⊗d⟩. Its
critical points with a ≠ 0 are those of B/q on U = P^{n−1} ∖ {q = 0} outside B = 0, and there B/q has no critical point
outside {b = 0}. For generic targets B/q is a locally trivial fibration at infinity, and every nondegenerate critical
point changes the Euler number of its fibre by (−1)^{n−1}, so

    count = (−1)^{n−1} χ(P^{n−1} ∖ ({q = 0} ∪ {B = 0})).

{q = 0} is smooth of degree 2d for a generic metric, and the quadric ‖w‖² = 0 under rotation-invariant ones. {B = 0} is
singular along Z = {b = 0}, where B is a sum of M squares: with C a generic hypersurface of degree 2d,

    χ({B = 0}) = χ(C) + (−1)^M (χ(Z) − χ(Z ∩ C)),

because the Milnor fibre of M squares is a sphere of dimension M − 1, with Euler number 1 + (−1)^{M−1}, and a point on
C. Intersections with {q = 0} alike. Under a Gaussian moved along a line {q = 0} is d quadrics, any two of which meet in
{‖w‖² = l = 0}. For M = 1 these are the counts of `special_counts` (Aluffi and Harris 2018). A special metric or target
has at most as many isolated points.
"""

from __future__ import annotations

from functools import lru_cache

from shallows.questions.charts.continuation.special_counts import euler_number

SOURCE = "(−1)ⁿ⁻¹χ(Pⁿ⁻¹ ∖ {q·Σb² = 0}), Euler numbers of complete intersections"


@lru_cache(maxsize=256)
def one_neuron_count(degree: int, n: int, outputs: int, invariant: bool = False) -> int:
    """The number for generic targets, under a generic metric or a rotation-invariant one.

    >>> [(one_neuron_count(d, n, 2), one_neuron_count(d, n, 2, True)) for d in (2, 3) for n in (2, 3)]
    [(6, 4), (23, 9), (10, 6), (66, 22)]
    """
    space, isotropic = n - 1, 2 if invariant else 2 * degree

    whole = euler_number(space, ()) - euler_number(space, (isotropic,))
    return int(
        (-1) ** space
        * (whole - _squares(space, degree, outputs) + _squares(space, degree, outputs, isotropic))
    )


@lru_cache(maxsize=256)
def moved_gaussian_count(degree: int, n: int, outputs: int) -> int:
    """The number for generic targets under a Gaussian moved along a line, as (1, x) is with a bias.

    >>> moved_gaussian_count(2, 3, 2), [moved_gaussian_count(2, n, 1) for n in (3, 4, 5)]
    (17, [7, 10, 13])
    """
    space = n - 1
    inside = degree * euler_number(space, (2,)) - (degree - 1) * euler_number(space, (1, 2))
    both = degree * _squares(space, degree, outputs, 2) - (degree - 1) * _squares(
        space, degree, outputs, 1, 2
    )
    whole = euler_number(space, ()) - inside - _squares(space, degree, outputs)
    return int((-1) ** space * (whole + both))


def _squares(space: int, degree: int, outputs: int, *cut: int) -> int:
    """χ of {B = 0}, cut by hypersurfaces of these degrees."""
    zeros = (degree,) * outputs
    change = euler_number(space, (*cut, *zeros)) - euler_number(space, (*cut, *zeros, 2 * degree))
    return int(euler_number(space, (*cut, 2 * degree)) + (-1) ** outputs * change)
