"""Problems: a student of given width against a target, under data. The loss is E(f − y)², with no ½."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Activation, Polynomial, Power
from shallows.model.data.base import InnerProduct, as_inner_product
from shallows.model.data.with_constant import with_constant
from shallows.model.lifting import has_constant, lifted_target, require_inputs
from shallows.model.network import Network
from shallows.model.objective.base import Objective
from shallows.model.objective.best_forms import best_forms
from shallows.model.objective.build import build_objective, is_form, labels_of, tensors_of
from shallows.model.objective.function_space import FunctionSpaceObjective
from shallows.model.orthogonality import penalty_and_slope, penalty_product
from shallows.model.parameters import Layout
from shallows.model.target import checked_target, student_activation
from shallows.support.checks import (
    Array,
    describe,
    finite_array,
    finite_number,
    plain_array,
    positive_integer,
    real_array,
)
from shallows.support.construction import Constructed, Construction
from shallows.support.errors import InvalidProblem
from shallows.support.extras import needed

#: Directions of a Hessian that are done at once. Measured, ReLU with k = n = 20: 2.3 s one by one, 0.13 s by 64, 0.11 s
#: by 128, 0.16 s all 420 together; memory grows with them.
HESSIAN_CHUNK = 64
#: Relative difference up to which a network's outer weights are the fixed ones: some roundings apart, no more.
SAME_WEIGHTS = 1e-12


class Problem(Constructed):
    """Train f(x) = Σᵢ aᵢ σ(wᵢ·x) of a given width to match a target under data.

    - `target`: a Network, a SymmetricTensor, a symmetric matrix, or None with labelled `Samples`;
    - `activation`: the student's; by default the target network's, `Power(d)` for a tensor, `Power(2)` otherwise;
    - `outer`: "free" (a is trained), "ones", or an array (fixed);
    - `norm_neuron`: adds a trained α‖x‖² (paper 002; needs `Power(2)`);
    - `orthogonality`: γ of the penalty γ‖QQᵀ − I‖²_F, Q = Wᵀ (paper 002); biases are not penalised;
    - `bias`: neurons are σ(wᵢ·x + bᵢ), b trained. A matrix or tensor target may then have n + 1 inputs, the constant 1
      first: any polynomial of degree ≤ d.

    >>> problem = Problem(np.diag([2.0, 1.0]), Gaussian(2), width=1)
    >>> problem.loss(Network([[1.0, 0.0]], a=[2.0]))
    3.0
    >>> moved = Problem(Network([[1.0]], bias=[1.0]), Gaussian(1), width=1, bias=True)
    >>> moved.loss(Network([[1.0]], bias=[0.0]))        # E((x + 1)² − x²)² = E(2x + 1)²
    5.0
    """

    #: How many of the n inputs, the first, are constants, which ‖x‖² and the penalty leave out (`homogeneous`).
    constants: int = 0

    def __init__(
        self,
        target: Network | SymmetricTensor | ArrayLike | None,
        data: InnerProduct,
        width: int,
        activation: Activation | None = None,
        outer: str | ArrayLike = "free",
        norm_neuron: bool = False,
        orthogonality: float = 0.0,
        bias: bool = False,
    ) -> None:
        self.data = as_inner_product(data)
        self.target = checked_target(target)
        self.width = positive_integer("width", width)
        self.activation = student_activation(activation, self.target)
        self.n = self.data.n
        self.bias = bool(bias)
        require_inputs(self.target, self.data, self.bias or isinstance(self.activation, Polynomial))
        self.norm_neuron = bool(norm_neuron)
        if self.norm_neuron and self.activation != Power(2):
            raise InvalidProblem(
                f"The norm neuron ‖x‖² goes with Power(2) (paper 002); the activation is {self.activation!r}."
            )
        self.orthogonality = finite_number("orthogonality", orthogonality, minimum=0.0)
        self.outputs = self._count_outputs()
        self.outer = self._checked_outer(outer)
        self.layout = Layout(
            self.width, self.n, self.outputs, self.outer is None, self.norm_neuron, self.bias
        )
        self.affine = self.bias or has_constant(self.target, self.n)
        self.objective = self._built()

    def _built(self) -> Objective:
        """The loss as a function of neurons on x, or on (1, x) when there is a bias somewhere."""
        if not self.affine:
            return build_objective(self.target, self.data, self.activation, self.width)
        target, inputs = lifted_target(self.target, self.n), with_constant(self.data)
        return build_objective(target, inputs, self.activation, self.width)

    def _count_outputs(self) -> int:
        if isinstance(self.target, Network):
            return self.target.outputs
        samples = self.data.as_samples()
        return 1 if samples is None or self.target is not None else int(labels_of(None, samples).shape[1])

    def _checked_outer(self, outer: str | ArrayLike) -> Array | None:
        """None when a is trained, else the fixed (M, k) array."""
        if isinstance(outer, str):
            if outer == "free":
                return None
            if outer == "ones":
                return np.ones((self.outputs, self.width))
            raise InvalidProblem(f'outer is {outer!r}; expected "free", "ones" or an array of fixed weights.')
        fixed = np.atleast_2d(finite_array("outer", outer, (1, 2)))
        if fixed.shape != (self.outputs, self.width):
            raise InvalidProblem(
                f"outer has shape {np.shape(outer)}; expected ({self.width},) for one output, or "
                f"({self.outputs}, {self.width}) for this problem's {self.outputs}."
            )
        return fixed

    def construction(self) -> Construction:
        """Problem(target, data, width, activation, outer, norm_neuron, orthogonality, bias)."""
        made = self.constructed(
            data=self.data,
            width=self.width,
            activation=self.activation,
            outer="free" if self.outer is None else self.outer,
            norm_neuron=self.norm_neuron,
            orthogonality=self.orthogonality,
            bias=self.bias or None,
        )
        return Construction(made.name, {"target": self.target, **made.arguments})

    # -- parameters ------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """p, the number of trained parameters."""
        return self.layout.size

    def pack(self, net: Network) -> Array:
        """θ = W row by row, then the bias, then a if it is free, then the norm neuron's weight."""
        self._require_student(net)
        norm = np.ones(self.outputs) * net.norm
        neurons = net.W
        if self.bias:
            bias = np.zeros(net.width) if net.bias is None else net.bias
            neurons = np.column_stack([bias, net.W])
        return self.layout.join(neurons, np.atleast_2d(net.a), norm)

    def unpack(self, theta: ArrayLike) -> Network:
        """The network with parameters θ."""
        W, A, norm = self._students(finite_array("theta", theta, 1))
        single = self.outputs == 1
        scale: Any = 0.0 if norm is None else (norm[0] if single else norm)
        outer = A[0] if single else A
        if self.bias:
            return Network(W[:, 1:], outer, self.activation, scale, W[:, 0])
        return Network(W, outer, self.activation, scale)

    def homogeneous(self) -> Problem:
        """The same problem on (1, x), without bias: neurons (bᵢ, wᵢ) in n + 1 inputs, the constant first.

        Losses, critical points and descents are the same; one whose students have no bias is returned as it is.

        >>> moved = Problem(Network([[1.0]], bias=[1.0]), Gaussian(1), width=1, bias=True)
        >>> moved.homogeneous()
        Problem(Network(width=1, n=2, activation=Power(2)), Gaussian(2, covariance=…, mean=…), width=1,
        activation=Power(2), outer free)
        """
        return self._twin if self.bias else self

    @cached_property
    def _twin(self) -> Problem:
        if self.norm_neuron or self.orthogonality:
            return HomogeneousProblem(self)
        outer = "free" if self.outer is None else self.outer
        target = lifted_target(self.target, self.n)
        return Problem(target, with_constant(self.data, self.activation), self.width, self.activation, outer)

    def lift(self, theta: Array) -> Array:
        """The parameters of `homogeneous()` that belong to θ; leading axes are batches."""
        return self.homogeneous().layout.join(*self.layout.split(theta)) if self.bias else theta

    def lower(self, theta: Array) -> Array:
        """The inverse of `lift`."""
        return self.layout.join(*self.homogeneous().layout.split(theta)) if self.bias else theta

    def _students(self, theta: Array) -> tuple[Array, Array, Array | None]:
        theta = plain_array("theta", theta)
        W, A, norm = self.layout.split(theta)
        if A is None:
            assert self.outer is not None
            A = np.broadcast_to(self.outer, (*theta.shape[:-1], *self.outer.shape))
        return W, A, norm

    def _require_student(self, net: Network) -> None:
        """A network is a point of this problem only when its shape and fixed parts agree with it."""
        if not isinstance(net, Network):
            raise InvalidProblem(
                f"Expected a Network; {describe(net)} was given. Use problem.unpack(theta) for vectors."
            )
        self.layout.require_shape(net.width, net.n, net.outputs)
        if net.activation != self.activation:
            raise InvalidProblem(
                f"The network's activation is {net.activation!r}; this problem's is {self.activation!r}. "
                f"Fix: Network(..., activation={self.activation!r})"
            )
        if self.outer is not None and not np.allclose(
            np.atleast_2d(net.a), self.outer, rtol=SAME_WEIGHTS, atol=0
        ):
            raise InvalidProblem(
                f"The outer weights are fixed to {self.outer.tolist()} in this problem; the network has "
                f"{net.a.tolist()}."
            )
        if net.bias is not None and np.any(net.bias) and not self.bias:
            raise InvalidProblem(
                "The network has a bias and this problem's students have none. Fix: bias=True."
            )
        if np.any(net.norm) and (self.constants or not self.norm_neuron):
            raise InvalidProblem(
                f"The network has a norm neuron of weight {net.norm}; this problem has none. Fix: norm_neuron=True."
            )

    # -- the loss and its derivatives ------------------------------------------------------------------

    def loss(self, net: Network) -> float:
        """E(f − y)² (summed over outputs), plus the orthogonality penalty if there is one."""
        return float(self.value(self.pack(net)))

    def truncation_error(self, net: Network) -> float:
        """A bound on the error of `loss` beyond rounding: zero unless a Smooth activation needs a truncated series."""
        return self.objective.truncation_error(*self._expand(*self._students(self.pack(net))))

    def gradient(self, net: Network) -> Array:
        """∇L at θ = pack(net)."""
        return self.value_and_gradient(self.pack(net))[1]

    def hvp(self, net: Network, direction: ArrayLike) -> Array:
        """∇²L · direction; directions of shape (…, p) are done at once."""
        return self.hessian_product(self.pack(net), real_array("direction", direction))

    def hessian(self, net: Network) -> Array:
        """∇²L, shape (p, p), exactly symmetric."""
        theta = self.pack(net)
        identity = np.eye(self.size)
        rows = [
            self.hessian_product(theta, identity[i : i + HESSIAN_CHUNK])
            for i in range(0, self.size, HESSIAN_CHUNK)
        ]
        matrix = np.concatenate(rows)
        return np.asarray((matrix + matrix.T) / 2)

    def value(self, theta: Array) -> Array:
        """L at parameter vectors of shape (…, p)."""
        W, A, norm = self._students(theta)
        value = self.objective.value(*self._expand(W, A, norm))
        return value + self._penalty(W)[0] if self.orthogonality else value

    def value_and_gradient(self, theta: Array) -> tuple[Array, Array]:
        """L and ∇L at parameter vectors of shape (…, p)."""
        W, A, norm = self._students(theta)
        value, dU, dA = self.objective.value_and_gradient(*self._expand(W, A, norm))
        inner, outer, scale = self._contract(dU, dA)
        if self.orthogonality:
            penalty, slope = self._penalty(W)
            value, inner = value + penalty, inner + slope
        return value, self.layout.join(inner, outer, scale)

    def hessian_product(self, theta: Array, direction: Array) -> Array:
        """∇²L(θ) · direction for one θ of shape (p,) and directions of shape (…, p)."""
        W, A, norm = self._students(theta)
        direction = plain_array("direction", direction)
        dW, dA, dnorm = self.layout.split(direction)
        if dA is None:
            dA = np.zeros((*direction.shape[:-1], *A.shape))
        U, outer = self._expand(W, A, norm)
        dU, douter = self._expand_direction(dW, dA, dnorm)
        inner, outward, scale = self._contract(*self.objective.hvp(U, outer, dU, douter))
        if self.orthogonality:
            inner = inner + penalty_product(self.orthogonality, W, dW, self._first)
        return self.layout.join(inner, outward, scale)

    def torch_loss(self, W: Any, a: Any = None, bias: Any = None, norm: Any = None) -> Any:
        """L as a differentiable function of PyTorch tensors, twice (extra `torch`).

        The parts that this problem trains are given, W of shape (…, k, n), a of shape (…, k) or (…, M, k); axes before
        them are batches. The result is of double precision, and so are the gradients until they reach what they are
        gradients of: train on the population loss with any optimiser.

            loss = problem.torch_loss(W, a)
            loss.backward()
        """
        with needed("torch"):
            from shallows.model.frameworks.torch_loss import torch_loss
        return torch_loss(self, W, a, bias, norm)

    def jax_loss(self, W: Any, a: Any = None, bias: Any = None, norm: Any = None) -> Any:
        """L as a differentiable function of JAX arrays, under jit, vmap, grad and hessian (extra `jax`).

        As `torch_loss`; JAX must be set to double precision.

            slope = jax.grad(problem.jax_loss)(W, a)
        """
        with needed("jax"):
            from shallows.model.frameworks.jax_loss import jax_loss
        return jax_loss(self, W, a, bias, norm)

    # -- the norm neuron: ‖x‖² = Σ (eᵢ·x)² is n more neurons, all with one weight -----------------------------

    def _expand(self, W: Array, A: Array, norm: Array | None) -> tuple[Array, Array]:
        padding = self._padding
        if padding:
            W = np.concatenate([np.zeros((*W.shape[:-1], 1)), W], axis=-1)
        if norm is None:
            return W, A
        basis = np.eye(W.shape[-1])[padding + self._first :]
        basis = np.broadcast_to(basis, (*W.shape[:-2], *basis.shape))
        weights = np.broadcast_to(norm[..., None], (*norm.shape, basis.shape[-2]))
        return np.concatenate([W, basis], axis=-2), np.concatenate([A, weights], axis=-1)

    def _expand_direction(self, dW: Array, dA: Array, dnorm: Array | None) -> tuple[Array, Array]:
        U, A = self._expand(dW, dA, dnorm)
        if dnorm is not None:
            U[..., self.width :, :] = 0.0
        return U, A

    def _contract(self, dU: Array, dA: Array) -> tuple[Array, Array, Array | None]:
        """The adjoint of `_expand_direction`."""
        scale = np.sum(dA[..., self.width :], axis=-1) if self.norm_neuron else None
        return dU[..., : self.width, self._padding :], dA[..., : self.width], scale

    @property
    def _padding(self) -> int:
        """1 where only the target has a bias: then neurons act on (1, x) with a first weight of zero."""
        return int(self.affine and not self.bias)

    @property
    def _first(self) -> int:
        """Where x begins in the neurons: behind the bias, or behind the weights of constant inputs."""
        return int(self.bias) + self.constants

    # -- the orthogonality penalty γ‖WᵀW − I‖²_F ------------------------------------------------------------

    def _penalty(self, neurons: Array) -> tuple[Array, Array]:
        return penalty_and_slope(self.orthogonality, neurons, self._first)

    # -- function space --------------------------------------------------------------------------------

    @property
    def degree(self) -> int:
        """d, for problems with a Power activation and without bias."""
        if self.bias:
            raise InvalidProblem(
                "With a bias, networks are tensors in n + 1 inputs. Fix: ask this of problem.homogeneous(), the same "
                "problem on (1, x)."
            )
        if not isinstance(self.activation, Power):
            raise InvalidProblem(
                f"Only Power activations have one degree; this problem has {self.activation!r}."
            )
        return self.activation.degree

    def gram(self) -> Array:
        """The Gram matrix of the data's inner product on Sym^d(R^n): L = (s − s*)ᵀ G (s − s*) + L*."""
        return self.data.gram(self.degree)

    @cached_property
    def _optimum(self) -> tuple[Array, float]:
        """s* of shape (M, N) and L*."""
        if isinstance(self.objective, FunctionSpaceObjective):
            return self.objective.optimum, self.objective.floor
        samples = self.data.as_samples()
        if samples is not None:
            labels = labels_of(self.target, samples)
            objective = FunctionSpaceObjective.from_samples(samples, labels, self.degree)
            return objective.optimum, objective.floor
        assert self.target is not None
        if is_form(self.target, self.degree) and not self.affine:
            return tensors_of(self.target, self.degree), 0.0
        return best_forms(self.target, self.data, self.degree)

    def target_tensor(self) -> SymmetricTensor:
        """The minimiser of the loss over all of Sym^d(R^n): the teacher's tensor, or the least-squares one."""
        entries, _ = self._optimum
        if len(entries) != 1:
            raise InvalidProblem(f"This problem has {len(entries)} outputs, and so as many target tensors.")
        return SymmetricTensor(entries[0], self.n, self.degree)

    @property
    def floor(self) -> float:
        """L*, the loss at `target_tensor`: zero for a realisable target."""
        return self._optimum[1]

    def __repr__(self) -> str:
        parts = [
            "labelled samples" if self.target is None else repr(self.target),
            repr(self.data),
            f"width={self.width}",
            f"activation={self.activation!r}",
            "outer free" if self.outer is None else "outer fixed",
        ]
        if self.bias:
            parts.append("bias")
        if self.norm_neuron:
            parts.append("norm neuron")
        if self.orthogonality:
            parts.append(f"orthogonality={self.orthogonality:g}")
        return f"Problem({', '.join(parts)})"


class HomogeneousProblem(Problem):
    """A problem with bias on (1, x), the constant first: norm neuron and penalty leave it out."""

    def __init__(self, original: Problem) -> None:
        self.constants, self.original = 1, original
        outer = "free" if original.outer is None else original.outer
        data = with_constant(original.data, original.activation)
        given = lifted_target(original.target, original.n), data, original.width, original.activation
        super().__init__(*given, outer, original.norm_neuron, original.orthogonality)

    def construction(self) -> Construction:
        """HomogeneousProblem(original)."""
        return self.constructed(original=self.original)

    def unpack(self, theta: ArrayLike) -> Network:
        """The network with parameters θ; ‖x‖² without the constant is no norm neuron of a network on (1, x)."""
        if self.norm_neuron:
            raise InvalidProblem(
                "On (1, x) the norm neuron ‖x‖² is n neurons: unpack with the problem itself."
            )
        return super().unpack(theta)


def as_problem(value: Any) -> Problem:
    """The value if it is a problem; a sentence that says how to make one otherwise."""
    if isinstance(value, Problem):
        return value
    raise InvalidProblem(
        f"problem is {describe(value)}; expected a Problem. Fix: sh.Problem(target, data, width), for example "
        "sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), width=1)"
    )
