"""Networks as PyTorch modules, and PyTorch modules as networks.

Linear, activation, Linear: f(x) = A σ(Wx + b) + c. What a module computes is its own affair (`forward` is code), so a
network that was read is held against the module at random inputs before it is given out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.polynomial import chebyshev, polynomial
from torch import nn

from shallows.model.activations import Activation, Polynomial, PolynomialActivation, Power, ReLU, Smooth
from shallows.model.frameworks.layers import Layers, assembled, numbers
from shallows.model.smooth_functions import NAMED
from shallows.support.checks import Array, counted
from shallows.support.errors import InvalidProblem

if TYPE_CHECKING:
    from shallows.model.network import Network

#: Modules that do nothing to a vector where networks are used (Dropout: in evaluation).
SILENT = (nn.Identity, nn.Flatten, nn.Dropout)
#: Activations of one meaning; GELU and Softplus have options and are read by functions of their own.
KNOWN: dict[type[nn.Module], Callable[[], Activation]] = {
    nn.ReLU: ReLU,
    nn.Tanh: lambda: Smooth("tanh"),
    nn.Sigmoid: lambda: Smooth("sigmoid"),
    nn.SiLU: lambda: Smooth("silu"),
}
#: Polynomials up to this degree are recognised in modules of one's own.
LARGEST_DEGREE = 12
#: Points in [−2, 2] at which such a module is asked, more than a polynomial of that degree can pass by accident.
NODES = 60
#: A module is a polynomial when one fits its values to this share of the largest: 4^12 ε is 4·10⁻⁹ in coefficients
#: of the monomials, in values of Chebyshev polynomials it is some tens of ε.
FITS = 1e-13
#: Coefficients are rounded to so many digits, and those below are zero: people write 0.5, not 0.49999999999999994.
DIGITS = 9
#: A module and what was read of it may differ by this share at a random input: modules in single precision round each
#: of their sums at 6·10⁻⁸, and the sums here are over hundreds of neurons at the most.
AGREES = 1e-5
#: Random inputs at which they are compared.
INPUTS = 32


class PolynomialModule(nn.Module):
    """σ(z) = Σ c_j z^j as a module."""

    def __init__(self, activation: PolynomialActivation) -> None:
        super().__init__()
        self.activation = activation

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """Horner's rule."""
        value = torch.zeros_like(z)
        for coefficient in reversed(self.activation.coefficients.tolist()):
            value = value * z + coefficient
        return value

    def extra_repr(self) -> str:
        """The activation, for printing."""
        return repr(self.activation)


def layers_of(module: Any, activation: Activation | None = None) -> Layers:
    """What a module computes; `Network.from_torch`."""
    if not isinstance(module, nn.Module):
        raise InvalidProblem(
            f"from_torch was given {type(module).__name__}; expected a torch.nn.Module such as "
            "nn.Sequential(nn.Linear(n, k), nn.ReLU(), nn.Linear(k, 1))."
        )
    linear, between = _layers(module)
    scale, sigma = _activation(between, activation)
    first, second = (_numbers(layer) for layer in linear)
    read = assembled(first["weight"], first.get("bias"), second["weight"], second.get("bias"), sigma, scale)
    _require_same(module, read)
    return read


def module_of(net: Network) -> nn.Sequential:
    """Sequential(Linear, activation, Linear) in double precision; `Network.to_torch`."""
    if np.any(net.norm):
        raise InvalidProblem(
            "A norm neuron ‖x‖² is no Linear layer and activation. Fix: net.homogeneous() has it as n more neurons."
        )
    inner = nn.Linear(net.n, net.width, bias=net.bias is not None, dtype=torch.float64)
    outer = nn.Linear(net.width, net.outputs, bias=False, dtype=torch.float64)
    with torch.no_grad():
        inner.weight.copy_(torch.tensor(net.W))
        outer.weight.copy_(torch.tensor(np.atleast_2d(net.a)))
        if net.bias is not None:
            inner.bias.copy_(torch.tensor(net.bias))
    return nn.Sequential(inner, _module(net.activation), outer)


def _layers(module: nn.Module) -> tuple[list[nn.Linear], nn.Module | None]:
    """The two linear layers and what stands between them (None: a function in `forward`)."""
    leaves = [(name, part) for name, part in module.named_modules() if not list(part.children())]
    leaves = [(name, part) for name, part in leaves if not isinstance(part, SILENT)]
    linear = [part for _, part in leaves if isinstance(part, nn.Linear)]
    others = [(name, part) for name, part in leaves if not isinstance(part, nn.Linear)]
    if len(linear) != 2:
        raise InvalidProblem(
            f"{type(module).__name__} has {counted(len(linear), 'Linear layer')} "
            f"({', '.join(type(part).__name__ for _, part in leaves) or 'nothing else'}); expected Linear, an "
            "activation, Linear: one hidden layer."
        )
    owned = {id(p) for _, part in leaves for p in part.parameters()}
    strangers = [name for name, p in module.named_parameters() if id(p) not in owned]
    if strangers or len(others) > 1 or any(list(part.parameters()) for _, part in others):
        named = [*(f"{type(part).__name__} ({name})" for name, part in others), *strangers]
        raise InvalidProblem(
            f"Besides its two Linear layers {type(module).__name__} has {', '.join(named)}; expected one activation "
            "without parameters between them."
        )
    return linear, others[0][1] if others else None


def _activation(module: nn.Module | None, given: Activation | None) -> tuple[float, Activation]:
    """(β, σ) so that the module is z ↦ σ(βz)/β."""
    if given is not None:
        return 1.0, given
    if module is None:  # a linear network, unless `forward` has an activation of its own
        return 1.0, Power(1)
    if type(module) in KNOWN:
        return 1.0, KNOWN[type(module)]()
    if isinstance(module, nn.GELU):
        return 1.0, Smooth("gelu" if module.approximate == "none" else "gelu_tanh")
    if isinstance(module, nn.Softplus):
        return float(module.beta), Smooth("softplus")
    if isinstance(module, PolynomialModule):
        return 1.0, module.activation
    found = _polynomial(module)
    if found is None:
        raise InvalidProblem(
            f"The activation is {type(module).__name__}, which is none of ReLU, GELU, Tanh, Softplus, Sigmoid, "
            f"SiLU and no polynomial of degree ≤ {LARGEST_DEGREE}. Fix: Network.from_torch(module, "
            "activation=sh.Smooth(f)), f the function."
        )
    return 1.0, found


def _polynomial(module: nn.Module) -> Activation | None:
    """The polynomial that a module without parameters computes, entry by entry, if it is one."""
    nodes = 2 * np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)
    try:
        values, some = (module(torch.tensor(z)).detach().numpy() for z in (nodes, nodes[::3].copy()))
    except Exception:  # a stranger's module that does not take a vector is no activation
        return None
    size = float(np.abs(values).max(initial=0.0))
    if values.shape != nodes.shape or not np.isfinite(values).all() or not np.array_equal(some, values[::3]):
        return None
    fit = chebyshev.chebfit(nodes / 2, values, LARGEST_DEGREE)
    if np.abs(chebyshev.chebval(nodes / 2, fit) - values).max() > FITS * size * NODES:
        return None
    in_halves = chebyshev.cheb2poly(fit)
    coefficients = polynomial.polytrim(np.round(in_halves * 0.5 ** np.arange(len(in_halves)), DIGITS) + 0.0)
    if len(coefficients) < 2:
        return None
    degree = len(coefficients) - 1
    pure = coefficients[-1] == 1.0 and not coefficients[:-1].any()
    return Power(degree) if pure else Polynomial(coefficients.tolist())


def _require_same(module: nn.Module, read: Layers) -> None:
    """The module and what was read of it agree at random inputs, in the module's own precision."""
    kind = next(module.parameters()).dtype
    inputs = np.random.default_rng(0).standard_normal((INPUTS, read.W.shape[1]))
    was_training = module.training
    module.eval()
    try:
        with torch.no_grad():
            answer = module(torch.tensor(inputs, dtype=kind)).double().numpy().reshape(INPUTS, -1)
    finally:
        module.train(was_training)
    own = read(inputs)
    gap = np.abs(answer - own).max() if answer.shape == own.shape else np.inf
    if not gap <= AGREES * max(1.0, float(np.abs(own).max())):
        raise InvalidProblem(
            f"{type(module).__name__}, read as two Linear layers with {read.activation!r} between them, computes "
            f"something else: they differ by {gap:.3g} at random inputs. Its `forward` has an activation of its own, "
            "or more steps. Fix: Network.from_torch(module, activation=sh.ReLU()), or whichever it is."
        )


def _module(activation: Activation) -> nn.Module:
    if isinstance(activation, ReLU):
        return nn.ReLU()
    if isinstance(activation, PolynomialActivation):
        return PolynomialModule(activation)
    modules = {
        "tanh": nn.Tanh,
        "sigmoid": nn.Sigmoid,
        "softplus": nn.Softplus,
        "gelu": nn.GELU,
        "silu": nn.SiLU,
    }
    for name, made in modules.items():
        if isinstance(activation, Smooth) and activation.function is NAMED[name][0]:
            return made()
    if isinstance(activation, Smooth) and activation.function is NAMED["gelu_tanh"][0]:
        return nn.GELU(approximate="tanh")
    raise InvalidProblem(
        f"{activation!r} is no module of PyTorch; expected ReLU, Power, Polynomial or one of "
        f"{', '.join(f'Smooth({name!r})' for name in [*modules, 'gelu_tanh'])}."
    )


def _numbers(layer: nn.Linear) -> dict[str, Array]:
    return {name: numbers(p) for name, p in layer.named_parameters()}
