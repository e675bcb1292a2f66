"""Traps of gradient flow for even degrees: Prop. 16, Corollary 17, Example 15 and Remark 18 of paper 000.

Along the flow δᵢ = aᵢ² − ‖wᵢ‖²/d is constant. Where δᵢ > 0 the outer weight cannot vanish, so its sign is kept for
ever. When all δᵢ > 0, all aᵢ have one sign and the target is a definite form of the other sign, no point of the
trajectory is better than the zero function: the flow ends at a bad minimum (W = 0 or on the boundary), at any width.
"""

from __future__ import annotations

import numpy as np

from shallows.mathematics.tensors.coordinates import product_table
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Power
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.support.arguments import typed
from shallows.support.checks import Array, finite_number, positive_integer
from shallows.support.errors import InvalidProblem

#: A root with a smaller imaginary part, relatively, may be real: simple roots are known to ε or so.
REAL_ROOT = 1e-9


@typed
def flow_invariants(net: Network) -> Array:
    """δᵢ = aᵢ² − ‖wᵢ‖²/d, constant along the gradient flow (paper 000, Proposition 16).

    With M outputs aᵢ² is Σ_o a_oi².

    >>> sh.flow_invariants(sh.Network([[1.0, 1.0]], a=[3.0])).tolist()   # 9 − 2/2
    [8.0]
    """
    if not isinstance(net.activation, Power):
        raise InvalidProblem(f"Prop. 16 is about Power(d) activations; this network has {net.activation!r}.")
    squares = np.sum(np.atleast_2d(net.a) ** 2, axis=0)
    return np.asarray(squares - np.sum(net.W**2, axis=1) / net.activation.degree)


@typed
def is_trapped(problem: Problem, net: Network) -> bool:
    """Whether paper 000, Corollary 17, keeps the gradient flow from `net` off the target for ever.

    True: δᵢ > 0 and aᵢ of one sign s for all i (which the corollary omits), and the target is negative where s is
    positive (definite of the other sign). False means only that this theorem does not apply.

    >>> problem = sh.Problem(-np.eye(2), sh.Frobenius(2), width=2)   # width 2 fits every 2×2 matrix
    >>> trapped, free = sh.Network(np.eye(2), a=[1.0, 1.0]), sh.Network(np.eye(2), a=[1.0, -1.0])
    >>> sh.is_trapped(problem, trapped), sh.is_trapped(problem, free)
    (True, False)
    >>> f"{sh.descend(problem, trapped).loss:.6f}"   # ‖−I‖²: no better than the zero function
    '2.000000'
    """
    degree = problem.degree
    if degree % 2 or problem.outer is not None or problem.norm_neuron or problem.outputs != 1:
        return False
    signs = np.sign(net.a)
    if np.any(flow_invariants(net) <= 0) or np.any(signs != signs[0]):
        return False
    return is_definite(problem.target_tensor(), -float(signs[0]))


def is_definite(tensor: SymmetricTensor, sign: float) -> bool:
    """Whether sign·T(x) > 0 for all x ≠ 0: by eigenvalues for matrices, by binary-form roots for n ≤ 2.

    For larger n and degree ≥ 4, where deciding it is hard, only a sufficient condition is checked: a positive-definite
    catalecticant makes T a sum of squares of a basis, so positive.
    """
    if tensor.degree % 2:
        return False
    if tensor.n == 1:
        return bool(sign * tensor.entries[0] > 0)
    if tensor.degree == 2:
        return bool(np.linalg.eigvalsh(sign * tensor.to_matrix())[0] > 0)
    if tensor.n == 2:
        roots = np.roots(tensor.coefficients)  # T(z, 1)
        at = sign * float(tensor(np.array([1.0, 0.0])))
        return bool(at > 0 and np.all(np.abs(roots.imag) > REAL_ROOT * (1 + np.abs(roots))))
    half = tensor.degree // 2
    catalecticant = sign * tensor.entries[product_table(tensor.n, half, half)]
    return bool(np.linalg.eigvalsh(catalecticant)[0] > 0)


def trap_probability(n: int, degree: int, inner_variance: float = 1.0, outer_variance: float = 1.0) -> float:
    """The probability that one random neuron has a > 0 and a² > ‖w‖²/d (paper 000, Remark 18).

    For w ~ N(0, σ_w² I) and a ~ N(0, σ_a²) the ratio a√n/(σ_a ‖w‖/σ_w) is Student's t with n degrees of freedom, so it
    is P(t_n > √(n σ_w² / (d σ_a²))).

    >>> round(sh.trap_probability(4, 2, 1 / 3, 1 / 2), 3)   # Xavier, n = 4, width 2: P(t₄ > √(4/3))
    0.156
    """
    from scipy.stats import t

    n, degree = positive_integer("n", n), positive_integer("degree", degree)
    inner = finite_number("inner_variance", inner_variance, minimum=0.0)
    outer = finite_number("outer_variance", outer_variance, minimum=0.0)
    if outer == 0:
        raise InvalidProblem("outer_variance is 0; expected a positive variance of the outer weights.")
    return float(t.sf(np.sqrt(n * inner / (degree * outer)), n))


def escape_probability(
    width: int, n: int, degree: int, inner_variance: float = 1.0, outer_variance: float = 1.0
) -> float:
    """The probability 1 − q^r that a random start of width r avoids the trap of a negative target.

    q = `trap_probability`; paper 000, Remark 18: it tends to one as the width grows.

    >>> [round(sh.escape_probability(r, 2, 2), 4) for r in (1, 2, 4)]
    [0.7887, 0.9553, 0.998]
    """
    width = positive_integer("width", width)
    return 1.0 - trap_probability(n, degree, inner_variance, outer_variance) ** width
