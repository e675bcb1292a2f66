"""What a method of training can be told beyond step and tolerance."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from shallows.questions.descent.methods.flow import FlowOptions
from shallows.support.checks import finite_number, positive_integer
from shallows.support.errors import InvalidProblem


@dataclass(frozen=True)
class Options:
    """What a method can be told beyond step and tolerance.

    - `iterations`: the limit (100,000 for "gd" and "lbfgs"; of the noisy phase for "perturbed", "sgd" and "adam");
    - `polish`: finish by matrix-free Newton-CG in the same basin (`methods.polish`); after other methods than "gd" that
      may take `iterations` again, 100,000 where none are given;
    - `loss_tolerance`: a run also ends when its loss is this close to its lower bound;
    - `noise`, `per_neuron`: α of Algorithm 1 of paper 003, and one direction a neuron instead of one for all;
    - `batch_size`, `decay`: of SGD; `flow`: how the flow is integrated.
    """

    iterations: int | None = None
    polish: bool = True
    loss_tolerance: float | None = None
    noise: float = 0.01
    per_neuron: bool = False
    batch_size: int = 32
    decay: float = 0.5
    flow: FlowOptions = field(default_factory=FlowOptions)

    def __post_init__(self) -> None:
        if self.iterations is not None:
            positive_integer("iterations", self.iterations)
        if self.loss_tolerance is not None:
            finite_number("loss_tolerance", self.loss_tolerance, minimum=0.0)
        finite_number("noise", self.noise, minimum=0.0)
        finite_number("decay", self.decay, minimum=0.0)
        positive_integer("batch_size", self.batch_size)
        if not isinstance(self.flow, FlowOptions):
            raise InvalidProblem(f"flow is {self.flow!r}; expected FlowOptions(integrator=..., rtol=...).")


def checked_options(given: dict[str, Any]) -> Options:
    """Options from keyword arguments; an unknown one is an error that lists those there are."""
    known = Options.__dataclass_fields__
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise InvalidProblem(f"Unknown option {', '.join(unknown)}; there are: {', '.join(known)}.")
    return Options(**given)
