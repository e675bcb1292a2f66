"""The critical equations of Σ aᵢ ψ(wᵢ) in ball arithmetic, from the exact G and b."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product

from shallows.model.exact_loss import ExactLoss
from shallows.questions.charts.closure.balls import TermSystem
from shallows.questions.charts.closure.term_map import EquationsMap, Term
from shallows.questions.charts.neurons.equations import NeuronEquations


@dataclass(frozen=True)
class NeuronMap(EquationsMap):
    """(a₁, w₁, a₂, w₂, …) ↦ Σ aᵢ ⊗ ψ(wᵢ), outputs one after the other, or (w₁, w₂, …) where a is fixed.

    >>> from shallows.questions.charts.neurons.neuron import Neuron
    >>> NeuronMap(NeuronEquations(Neuron.of_degrees([2], 1), 1)).terms
    [Term(entry=0, coefficient=Fraction(1, 1), factors=((0, 1), (1, 2)))]
    """

    equations: NeuronEquations

    @property
    def degree(self) -> int:  # type: ignore[override]
        """The highest exponent."""
        return self.equations.neuron.degree

    @cached_property
    def terms(self) -> list[Term]:
        """Those of ψ for each neuron, times its outer weight."""
        equations, found = self.equations, []
        lead, n, size = equations.lead, equations.neuron.n, equations.neuron.size
        for i, m in product(range(equations.r), range(equations.outputs)):
            start = i * (lead + n)
            outer = Fraction(1) if equations.outer is None else Fraction(equations.outer[i][m])
            head = ((start + m, 1),) if lead else ()
            for entry, coefficient, row in equations.neuron.terms:
                own = ((start + lead + x, e) for x, e in enumerate(row) if e)
                found.append(Term(m * size + entry, outer * Fraction(coefficient), (*head, *own)))
        return found


class NeuronSystem(TermSystem):
    """Half the gradient of the loss in the unknowns (aᵢ, wᵢ) or wᵢ."""

    def __init__(self, equations: NeuronEquations, exact: ExactLoss) -> None:
        super().__init__(NeuronMap(equations), exact)
        self.equations = equations
