"""The problem in mathematics, as MathML: browsers draw it without any script."""

from __future__ import annotations

import re
from html import escape

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Activation, Polynomial, Power, ReLU
from shallows.model.data.base import Distribution, InnerProduct
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.support.checks import Array, counted

#: Larger matrices are described in words.
LARGEST_SHOWN = 7
LONGEST_FORM = 12
#: Larger numbers are written with an exponent.
PLAIN = 1e4


def name(text: str) -> str:
    """A variable (one letter is italic by itself)."""
    return f"<mi>{escape(text)}</mi>"


def sign(text: str) -> str:
    """An operator."""
    return f"<mo>{escape(text)}</mo>"


def number(value: float) -> str:
    """A number, with a proper minus sign."""
    text = f"{abs(value):.4g}" if abs(value) < PLAIN else f"{abs(value):.3e}"
    return (sign("−") if value < 0 else "") + f"<mn>{text}</mn>"


def row(*parts: str) -> str:
    """Parts side by side."""
    return f"<mrow>{''.join(parts)}</mrow>"


def sub(base: str, index: str) -> str:
    """base_index."""
    return f"<msub>{base}{index}</msub>"


def power(base: str, exponent: str) -> str:
    """base^exponent."""
    return f"<msup>{base}{exponent}</msup>"


def fenced(inner: str, left: str = "(", right: str = ")") -> str:
    """(inner)."""
    return row(sign(left), inner, sign(right))


def total(index: str, top: str, body: str) -> str:
    """Σ_{index=1}^{top} body."""
    low = row(name(index), sign("="), "<mn>1</mn>")
    return row(f"<munderover>{sign('∑')}{low}{top}</munderover>", body)


def matrix(values: Array) -> str:
    """A matrix in brackets."""
    rows = "".join(
        "<mtr>" + "".join(f"<mtd>{number(x)}</mtd>" for x in line) + "</mtr>" for line in values.tolist()
    )
    return fenced(f"<mtable>{rows}</mtable>")


def math(inner: str) -> str:
    """A formula on a line of its own."""
    return f'<math display="block">{inner}</math>'


def loss_formula(problem: Problem) -> str:
    """L = E(f − y)², with the student written out."""
    inner = row(student(problem), sign("−"), row(name("y"), fenced(name("x"))))
    mean = row(sub(name("𝔼"), name("x")), power(fenced(inner), "<mn>2</mn>"))
    penalty = ""
    if problem.orthogonality:
        gram = row(power(name("W"), sign("⊤")), name("W"), sign("−"), name("I"))
        norm = "<msubsup>" + fenced(gram, "‖", "‖") + name("F") + "<mn>2</mn></msubsup>"
        penalty = row(sign("+"), number(problem.orthogonality), norm)
    if not isinstance(problem.data, Distribution):  # a norm of tensors, no mean over x
        lines = row(fenced(row(name("τ"), sign("−"), name("T")), "‖", "‖"))
        where = row(name("τ"), sign("="), _student_tensor(problem))
        mean = row(power(lines, "<mn>2</mn>"), sign(","), "<mspace width='1em'/>", where)
    return math(row(name("L"), sign("="), mean, penalty))


def student(problem: Problem) -> str:
    """Σ aᵢ σ(wᵢ·x + βᵢ), with a left out when it is fixed to ones, and without the sum for a single neuron."""
    single = problem.width == 1
    weights, neuron = (
        (name("a"), name("w")) if single else (sub(name("a"), name("i")), sub(name("w"), name("i")))
    )
    if problem.outer is not None and np.all(problem.outer == 1):
        weights = ""
    argument = row(neuron, sign("·"), name("x"))
    if problem.bias:
        argument = row(argument, sign("+"), name("β") if single else sub(name("β"), name("i")))
    term = row(weights, applied(problem.activation, argument))
    body = term if single else total("i", f"<mn>{problem.width}</mn>", term)
    if not problem.norm_neuron:
        return body
    return row(body, sign("+"), name("α"), power(row(sign("‖"), name("x"), sign("‖")), "<mn>2</mn>"))


def _student_tensor(problem: Problem) -> str:
    weight = "" if problem.outer is not None and np.all(problem.outer == 1) else sub(name("a"), name("i"))
    w = f"<msubsup>{name('w')}{name('i')}{row(sign('⊗'), f'<mn>{problem.degree}</mn>')}</msubsup>"
    return total("i", f"<mn>{problem.width}</mn>", row(weight, w))


def applied(activation: Activation, argument: str) -> str:
    """σ(argument)."""
    if isinstance(activation, Power):
        return power(fenced(argument), f"<mn>{activation.degree}</mn>")
    if isinstance(activation, ReLU):
        return row("<mi>max</mi>", fenced(row("<mn>0</mn>", sign(","), argument)))
    return row(name("σ"), fenced(argument))


def target_formula(problem: Problem) -> str:
    """y(x), or where the labels come from."""
    left = row(name("y"), fenced(name("x")), sign("="))
    target = problem.target
    if target is None:
        return "<p>The labels y are those of the samples.</p>"
    if isinstance(target, Network):
        v = row(sub(name("v"), name("j")), sign("·"), name("x"))
        if target.bias is not None:
            v = row(v, sign("+"), sub(name("c"), name("j")))
        weight = "" if np.all(target.a == 1) else sub(name("b"), name("j"))
        body = total("j", f"<mn>{target.width}</mn>", row(weight, applied(target.activation, v)))
        text = _weights(target)
        return math(row(left, body)) + text
    if target.degree == 2 and target.n <= LARGEST_SHOWN:
        x = name("x") if target.n == problem.n else fenced(row("<mn>1</mn>", sign(","), name("x")))
        xtx = row(power(x, sign("⊤")), name("T"), x)
        shown = row(name("T"), sign("="), matrix(target.to_matrix()))
        return math(row(left, xtx, sign(","), "<mspace width='1em'/>", shown))
    if len(target.entries) <= LONGEST_FORM:
        return math(row(left, form(target)))
    entries = counted(len(target.entries), "entry")
    return f"<p>The target is a symmetric tensor of degree {target.degree} with {entries}.</p>"


def form(tensor: SymmetricTensor) -> str:
    """The homogeneous polynomial x ↦ T(x)."""
    terms: list[str] = []
    exponents = coordinates.exponents(tensor.n, tensor.degree)
    for value, powers in zip(tensor.coefficients, exponents, strict=True):
        if value == 0:
            continue
        variables = [
            sub(name("x"), f"<mn>{i + 1}</mn>") if e == 1
            else f"<msubsup>{name('x')}<mn>{i + 1}</mn><mn>{e}</mn></msubsup>"
            for i, e in enumerate(powers.tolist()) if e
        ]  # fmt: skip
        joint = sign("−" if value < 0 else "+") if terms or value < 0 else ""
        coefficient = "" if abs(value) == 1 else number(abs(value))
        terms.append(row(joint, coefficient, *variables))
    return row(*terms) if terms else "<mn>0</mn>"


def _weights(target: Network) -> str:
    if np.array_equal(target.W, np.eye(target.n)) and target.bias is None:
        return "<p>The teacher's neurons are the standard basis vectors.</p>"
    if target.width <= LARGEST_SHOWN and target.n <= LARGEST_SHOWN:
        shown = row(name("V"), sign("="), matrix(target.W))
        if not np.all(target.a == 1) and target.a.ndim == 1:
            outer = row(name("b"), sign("="), matrix(target.a[None]))
            shown = row(shown, sign(","), "<mspace width='1em'/>", outer)
        if target.bias is not None:
            moved = row(name("c"), sign("="), matrix(target.bias[None]))
            shown = row(shown, sign(","), "<mspace width='1em'/>", moved)
        return math(shown)
    neurons, inputs = counted(target.width, "neuron"), counted(target.n, "input")
    return f"<p>The teacher has {neurons} with {inputs}; it is drawn below.</p>"


def data_formula(data: InnerProduct) -> str:
    """The law of x, or the norm, as it says itself; one that is Gaussian, by whatever name, as 𝒩(m, Σ)."""
    gaussian = data.as_gaussian()
    if gaussian is not None and data.n <= LARGEST_SHOWN:
        mean = "<mn>0</mn>" if gaussian.centred else matrix(gaussian.mean[:, None])
        spread = sub(name("I"), f"<mn>{data.n}</mn>") if gaussian.white else matrix(gaussian.covariance)
        return math(row(name("x"), sign("∼"), name("𝒩"), fenced(row(mean, sign(","), spread))))
    sentence = re.sub(
        r"\^(\d+)", r"<sup>\1</sup>", escape((data if gaussian is None else gaussian).sentence())
    )
    shown: list[str] = []
    for order, value in data.telling_moments().items() if gaussian is None else ():
        moment = f"<msubsup>{name('x')}{name('i')}<mn>{order}</mn></msubsup>"
        shown += [row(name("𝔼"), moment, sign("=")), number(value), sign(","), "<mspace width='0.6em'/>"]
    return f"<p>{sentence}</p>" + (math(row(*shown[:-2])) if shown else "")


def activation_formula(activation: Activation) -> str:
    """σ where `loss_formula` does not write it out."""
    if isinstance(activation, Power | ReLU):
        return ""
    if not isinstance(activation, Polynomial):
        return f"<p>σ is {escape(repr(activation))}.</p>"
    terms: list[str] = []
    for order, value in enumerate(activation.values):
        if not value:
            continue
        z = "" if not order else name("z") if order == 1 else power(name("z"), f"<mn>{order}</mn>")
        plus = sign("−" if value < 0 else "+") if terms or value < 0 else ""
        terms.append(row(plus, "" if abs(value) == 1 and order else number(abs(value)), z))
    return math(row(name("σ"), fenced(name("z")), sign("="), *terms))


def problem_html(problem: Problem) -> str:
    """Everything that defines the problem."""
    return "".join(
        [
            loss_formula(problem),
            activation_formula(problem.activation),
            target_formula(problem),
            data_formula(problem.data),
        ]
    )
