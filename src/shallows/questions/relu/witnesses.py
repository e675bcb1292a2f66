"""One-point strong convexity and the PŁ condition fail next to over-parameterised global minima (Theorems 4 and 5).

The witness moves two neurons that share a teacher neuron apart: w₁ = α₁v + εu, w₂ = α₂v − εu, u ⊥ v a unit vector,
inside the ε-orthogonal neighbourhood. There, as ε → 0 and with α = α₁+α₂,

    one-point coefficients  (w−w̃)ᵀ∇²L(w−w̃)/‖w−w̃‖²  and  ⟨∇L, w−w̃⟩/‖w−w̃‖²  are O(ε),
    L = 2αε³/(3πα₁α₂) + O(ε⁵),   ‖∇L‖² = O(ε⁴),   so the PŁ quotient ½‖∇L‖²/L is O(ε).

(The paper bounds L = Ω(ε) and ‖∇L‖² = O(ε²) in equations 26 and 27; the terms of order ε cancel in both. Its
conclusion, a quotient O(ε), stands.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.relu.global_minima import off_direction, shared_pair
from shallows.support.arguments import typed
from shallows.support.checks import Array, finite_array, finite_number
from shallows.support.errors import InvalidProblem


@dataclass(frozen=True, eq=False)
class Witness:
    """A point of the ε-orthogonal neighbourhood and its three coefficients, for E(f−y)² (halve for ½E).

    >>> from shallows.relu import witness
    >>> net = sh.Network([[0.5, 0.0], [0.5, 0.0], [0.0, 1.0]], activation=sh.ReLU())
    >>> found = witness(sh.relu_problem(2, width=3), net, epsilon=0.001)
    >>> f"{found.loss:.4e}", f"{found.predicted_loss:.4e}"   # 2αε³/(3πα₁α₂), α = α₁ + α₂
    ('8.4883e-10', '8.4883e-10')
    """

    network: Network
    epsilon: float
    loss: float
    predicted_loss: float
    hessian_coefficient: float
    gradient_coefficient: float
    pl_coefficient: float

    def __repr__(self) -> str:
        return (
            f"Witness(ε={self.epsilon:g}: one-point {self.hessian_coefficient:.4g} (Hessian), "
            f"{self.gradient_coefficient:.4g} (gradient), PŁ {self.pl_coefficient:.4g})"
        )


@dataclass(frozen=True, eq=False)
class WitnessTable:
    """Witnesses for several ε and the orders of their coefficients: slopes in log-log scale.

    >>> from shallows.relu import witness_orders
    >>> net = sh.Network([[0.5, 0.0], [0.5, 0.0], [0.0, 1.0]], activation=sh.ReLU())
    >>> witness_orders(sh.relu_problem(2, width=3), net, epsilons=(0.03, 0.01, 0.003))
    WitnessTable (Theorems 4 and 5)
      Witness(ε=0.03: one-point 0.07621 (Hessian), 0.03815 (gradient), PŁ 0.0858)
      Witness(ε=0.01: one-point 0.02546 (Hessian), 0.01273 (gradient), PŁ 0.02864)
      Witness(ε=0.003: one-point 0.007639 (Hessian), 0.00382 (gradient), PŁ 0.008594)
      orders: one-point (Hessian) ε^0.999, one-point (gradient) ε^0.999, PŁ ε^0.999, loss ε^3.000
    """

    witnesses: tuple[Witness, ...]
    orders: dict[str, float]

    def __repr__(self) -> str:
        lines = [f"  {witness!r}" for witness in self.witnesses]
        orders = ", ".join(f"{name} ε^{order:.3f}" for name, order in self.orders.items())
        return "\n".join(["WitnessTable (Theorems 4 and 5)", *lines, f"  orders: {orders}"])


@typed
def witness(problem: Problem, net: Network, epsilon: float = 0.001) -> Witness:
    """The point of the proofs of paper 003, Theorems 4 and 5, next to the global minimum `net` (n > k).

    Two neurons α₁v and α₂v of one teacher neuron move apart: α₁v + εu and α₂v − εu, u ⊥ v. One-point strong
    convexity and the PŁ condition would bound the three coefficients from below; they are O(ε).

    >>> from shallows.relu import witness
    >>> net = sh.Network([[0.5, 0.0], [0.5, 0.0], [0.0, 1.0]], activation=sh.ReLU())
    >>> for epsilon in (0.01, 0.001):
    ...     print(witness(sh.relu_problem(2, width=3), net, epsilon))
    Witness(ε=0.01: one-point 0.02546 (Hessian), 0.01273 (gradient), PŁ 0.02864)
    Witness(ε=0.001: one-point 0.002546 (Hessian), 0.001273 (gradient), PŁ 0.002865)
    """
    i, j, first, second, V, owner = shared_pair(problem, net, "Theorems 4 and 5")
    epsilon = finite_number("epsilon", epsilon)
    if not 0 < epsilon < 1:
        raise InvalidProblem(f"epsilon is {epsilon}; expected a number between 0 and 1.")
    u = off_direction(V, owner)
    step = np.zeros_like(net.W)
    step[i], step[j] = epsilon * u, -epsilon * u
    point = Network(net.W + step, net.a, net.activation)
    flat = step.ravel()
    square = float(flat @ flat)
    slope = problem.gradient(point)
    loss = problem.loss(point)
    return Witness(
        point,
        epsilon,
        loss,
        2 * (first + second) * epsilon**3 / (3 * np.pi * first * second),
        float(flat @ problem.hvp(point, flat)) / square,
        float(slope @ flat) / square,
        0.5 * float(slope @ slope) / loss,
    )


@typed
def witness_orders(
    problem: Problem, net: Network, epsilons: Array | tuple[float, ...] = (0.03, 0.01, 0.003, 0.001)
) -> WitnessTable:
    """Witnesses for several ε, and the orders of their coefficients, which tend to 1 (that of the loss to 3) as ε → 0.

    >>> from shallows.relu import witness_orders
    >>> net = sh.Network([[0.5, 0.0], [0.5, 0.0], [0.0, 1.0]], activation=sh.ReLU())
    >>> table = witness_orders(sh.relu_problem(2, width=3), net)
    >>> {name: round(order, 2) for name, order in table.orders.items()}
    {'one-point (Hessian)': 1.0, 'one-point (gradient)': 1.0, 'PŁ': 1.0, 'loss': 3.0}
    """
    values = finite_array("epsilons", np.asarray(epsilons), 1)
    if len(values) < 2:
        raise InvalidProblem("An order needs at least two values of epsilon.")
    found = tuple(witness(problem, net, float(epsilon)) for epsilon in values)
    columns = {
        "one-point (Hessian)": [w.hessian_coefficient for w in found],
        "one-point (gradient)": [w.gradient_coefficient for w in found],
        "PŁ": [w.pl_coefficient for w in found],
        "loss": [w.loss for w in found],
    }
    orders = {
        name: float(np.polyfit(np.log(values), np.log(np.abs(column)), 1)[0])
        for name, column in columns.items()
    }
    return WitnessTable(found, orders)
