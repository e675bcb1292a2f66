"""Plausible mistakes: each is met by a typed error that says what was given, what was expected and how to go on.

A row is a call that somebody might write, and a piece of the sentence that helps.
"""

import math
import re

import numpy as np
import pytest

import shallows as sh

W = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]])
LINE = np.arange(40.0)
NET = sh.Network([[1.0, 0.0]])
RELU = sh.Network(np.eye(2), activation=sh.ReLU())
TENSOR_GONE_WRONG = "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."


def plain(width=1, **arguments):
    return sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), width=width, **arguments)


def of_three(width=1):
    return sh.Problem(np.diag([3.0, 2.0, 1.0]), sh.Gaussian(3), width=width)


def rank_one():
    return sh.discriminants.rank_one(2)


def quintic():
    return sh.homotopy.PolynomialFamily.read(["x^5 - a*x + b"], ["x"], ["a", "b"])


class Tensor:
    """As PyTorch's: with gradients, NumPy cannot read it."""

    shape, ndim, requires_grad = (1, 2), 2, True

    def detach(self):
        return self

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError(TENSOR_GONE_WRONG)


def of_tensors(z):
    raise TypeError("tanh(): argument 'input' (position 1) must be Tensor, not numpy.ndarray")


MISTAKES = {
    # activations
    "a power of zero": (lambda: sh.Power(0), r"degree of Power is 0; expected an integer of at least 1"),
    "a fractional power": (lambda: sh.Power(2.5), r"is 2\.5; expected an integer"),
    "a constant polynomial": (lambda: sh.Polynomial([1.0]), r"expected a non-constant"),
    "a polynomial as text": (lambda: sh.Polynomial("z^2"), r"is 'z\^2'; expected an array"),
    "a number for coefficients": (lambda: sh.Polynomial(2), r"has shape \(\); expected 1 axis"),
    "an unknown name of a function": (lambda: sh.Smooth("swish"), r"'swish'; expected one of tanh, erf, .*"),
    "a number for a function": (lambda: sh.Smooth(3.0), r"is 3\.0; .* Fix: Smooth\(np\.tanh\)"),
    "a function of tensors": (
        lambda: sh.Smooth(of_tensors),
        r"must be Tensor.*lambda z: of_tensors\(torch\.from_numpy",
    ),
    "a function of one number": (lambda: sh.Smooth(math.tanh), r"Fix: np\.vectorize\(tanh\)"),
    "a function that forgets z": (lambda: sh.Smooth(lambda z: 1.0), r"expected 7 finite numbers"),
    "a function of half the line": (
        lambda: sh.Smooth(np.log),
        r"Fix: a function that is defined on the whole line",
    ),
    "a number as derivative": (lambda: sh.Smooth(np.tanh, None, 3.0), r"second_derivative is 3\.0; expected"),
    # networks
    "one neuron as a vector": (
        lambda: sh.Network([1.0, 2.0]),
        r"W has shape \(2,\).*\[w\] for a single neuron",
    ),
    "a missing weight": (
        lambda: sh.Network([[1.0, np.nan]]),
        r"1 NaN .* first at \(0, 1\); remove or replace",
    ),
    "rows of different length": (lambda: sh.Network([[1.0, 2.0], [3.0]]), r"Fix: rows of the same length"),
    "complex weights": (lambda: sh.Network(np.array([[1j, 2]])), r"Fix: W\.real"),
    "a tensor with gradients": (
        lambda: sh.Network(Tensor()),
        r"a Tensor of shape \(1, 2\).*Fix: W\.detach\(\)",
    ),
    "outer weights of columns": (
        lambda: sh.Network(W, a=[1.0, 2.0, 3.0]),
        r"2 neurons, the rows of W.*Fix: W\.T",
    ),
    "outer weights as a column": (
        lambda: sh.Network(W, a=[[1.0], [2.0]]),
        r"a has shape \(2, 1\).*Fix: a\.T",
    ),
    "an activation's name": (lambda: sh.Network(W, activation="relu"), r"is 'relu'; .* Fix: ReLU\(\)"),
    "an activation's class": (lambda: sh.Network(W, activation=sh.ReLU), r"the class ReLU; .* Fix: ReLU\(\)"),
    "a bare function": (lambda: sh.Network(W, activation=np.tanh), r"Fix: Smooth\(tanh\)"),
    "an exponent": (lambda: sh.Network(W, activation=3), r"Fix: Power\(3\)"),
    "points as columns": (lambda: sh.Network(W)(np.ones((3, 5))), r"shape \(3, 5\).*Fix: X\.T"),
    "a point of other size": (lambda: sh.Network(W)([1.0]), r"last axis must have 3 coordinates"),
    "a point as text": (lambda: sh.Network(W)("abc"), r"X is 'abc'; expected an array"),
    "the tensor of a ReLU network": (lambda: RELU.tensor(), r"Only networks with a Power activation"),
    "a neuron that is not there": (lambda: NET.split(3, 0.5), r"there are neurons 0 to 0"),
    # data
    "samples of one input": (lambda: sh.Samples(LINE), r"X\[:, None\] for samples of one input"),
    "samples as columns": (
        lambda: sh.Samples(np.ones((2, 40)), LINE),
        r"2 samples, the rows of X.*Fix: X\.T",
    ),
    "too few labels": (lambda: sh.Samples(np.ones((4, 2)), [1.0]), r"y has shape \(1,\) for 4 samples"),
    "a covariance of other size": (lambda: sh.Gaussian(2, np.eye(3)), r"shape \(3, 3\); expected \(2, 2\)"),
    "variances": (lambda: sh.Gaussian(2, [1.0, 2.0]), r"Fix: np\.diag\(covariance\)"),
    "one variance": (lambda: sh.Gaussian(2, 2.0), r"Fix: covariance \* np\.eye\(2\)"),
    "a mean of other size": (lambda: sh.Gaussian(2, mean=[1, 2, 3]), r"mean has 3 entries; expected n = 2"),
    "the name of a law": (lambda: sh.IID(2, "laplace"), r"Fix: one of .*IID\.laplace"),
    "too few moments": (
        lambda: sh.Problem(np.eye(2), sh.IID(2, [1, 0, 1]), 1),
        r"order 4 is needed.*Fix: IID\(n",
    ),
    "impossible moments": (lambda: sh.IID(2, [1, 0, 1, 0, 0.5]), r"μ4 = 0\.5 is less than μ2² = 1"),
    "tails that are too heavy": (lambda: sh.Problem(np.eye(2), sh.IID.student(2, 3), 1), r"needs df > 4"),
    "weights that do not add up": (
        lambda: sh.Mixture([0.5, 0.6], [sh.Gaussian(2), sh.Gaussian(2)]),
        r"sum 1\.1; expected .* sum 1",
    ),
    "parts of different size": (
        lambda: sh.Mixture([0.5, 0.5], [sh.Gaussian(2), sh.Gaussian(3)]),
        r"dimensions \[2, 3\]; expected one",
    ),
    "a metric on inputs": (lambda: sh.Metric(2, 2, np.eye(2)), r"dimension 3, so expected 3 × 3"),
    # problems
    "other numbers of inputs": (
        lambda: sh.Problem(np.eye(3), sh.Gaussian(2), 1),
        r"Fix: Gaussian\(3, \.\.\.\)",
    ),
    "weights as target": (lambda: sh.Problem(W, sh.Gaussian(3), 1), r"shape \(2, 3\).*Fix: sh\.Network\(W\)"),
    "a target that is not symmetric": (
        lambda: sh.Problem([[1.0, 2.0], [0.0, 1.0]], sh.Gaussian(2), 1),
        r"Use \(matrix \+ matrix\.T\) / 2",
    ),
    "a vector as target": (
        lambda: sh.Problem([1.0, 2.0], sh.Gaussian(2), 1),
        r"expected a Network, a SymmetricTensor",
    ),
    "no target": (lambda: sh.Problem(None, sh.Gaussian(2), 1), r"must be labelled Samples"),
    "samples without labels": (lambda: sh.Problem(None, sh.Samples(W), 1), r"Fix: Samples\(X, y\)"),
    "an array as data": (lambda: sh.Problem(np.eye(2), np.ones((5, 2)), 1), r"Fix: Samples\(X\)"),
    "a class as data": (
        lambda: sh.Problem(np.eye(2), sh.Gaussian, 1),
        r"the class Gaussian.*Fix: Gaussian\(n",
    ),
    "a number as data": (lambda: sh.Problem(np.eye(2), 2, 1), r"Fix: Gaussian\(2\)"),
    "no neuron": (lambda: plain(width=0), r"width is 0; expected an integer of at least 1"),
    "outer weights misspelt": (lambda: plain(outer="one"), r"outer is 'one'; expected \"free\", \"ones\""),
    "outer weights of another width": (lambda: plain(outer=[1, 1]), r"shape \(2,\); expected \(1,\)"),
    "a ReLU network in a metric": (
        lambda: sh.Problem(RELU, sh.Frobenius(2), 1),
        r"no kernel for ReLU.*Samples",
    ),
    "a network of another width": (
        lambda: plain().loss(sh.Network(np.eye(2))),
        r"Fix: W with 1 row, or .*width=2",
    ),
    "a network of other inputs": (
        lambda: plain().loss(sh.Network([[1.0, 2.0, 3.0]])),
        r"Fix: W with 2 columns",
    ),
    "transposed weights": (lambda: of_three(2).loss(sh.Network(W.T)), r"W is transposed.*Fix: Network\(W\.T"),
    "another activation": (
        lambda: plain(2).loss(RELU),
        r"is ReLU\(\); .*Fix: Network\(\.\.\., activation=Power\(2\)",
    ),
    "a vector for a network": (lambda: plain().loss([1.0, 2.0, 3.0]), r"Use problem\.unpack\(theta\)"),
    "too few parameters": (lambda: plain().unpack([1.0]), r"must have 3 parameters: W \(1×2\), a \(1×1\)"),
    # charts and training
    "a chart of a network": (
        lambda: sh.chart(NET),
        r"expected a Problem\. Fix: sh\.Problem\(target, data, width\)",
    ),
    "an unknown method": (lambda: sh.chart(plain(), method="newton"), r"expected one of auto, closed-form"),
    "a chart of ReLU": (lambda: sh.chart(sh.Problem(RELU, sh.Gaussian(2), 3)), r"Use method=\"descent\""),
    "a seed as text": (lambda: sh.chart(plain(), rng="x"), r"rng is 'x'; .* Fix: rng=0"),
    "a chart that is not there": (lambda: sh.load_chart("nothing"), r"Cannot read nothing\.json"),
    "training a network": (lambda: sh.ensemble(NET), r"expected a Problem"),
    "no runs": (lambda: sh.ensemble(plain(), runs=0), r"runs is 0; expected"),
    "a start by another name": (lambda: sh.ensemble(plain(), init="glorot"), r"expected one of xavier"),
    "starts of another size": (
        lambda: sh.ensemble(plain(), 3, init=np.ones((3, 2))),
        r"problem\.pack\(net\) makes a row",
    ),
    "a start function of another size": (
        lambda: sh.ensemble(plain(), 3, init=lambda rng: np.ones(2)),
        r"expected \(3,\): W row by row.*Fix: problem\.pack\(net\)",
    ),
    "a negative step": (
        lambda: sh.ensemble(plain(), 3, step=-1.0),
        r"step is -1\.0; expected a positive number",
    ),
    "a tolerance below rounding": (
        lambda: sh.ensemble(plain(), 3, tolerance=0.0),
        r"Use a tolerance of at least",
    ),
    "an option of another library": (
        lambda: sh.ensemble(plain(), 3, momentum=0.9),
        r"Unknown option momentum; there",
    ),
    "descent from another width": (lambda: sh.descend(plain(), sh.Network(np.eye(2))), r"Fix: W with 1 row"),
    "sampling a metric": (
        lambda: sh.ensemble(sh.Problem(np.eye(2), sh.Frobenius(2), 1), 3, method="sgd"),
        r"cannot be sampled\. Use method='gd'",
    ),
    "arguments the wrong way round": (
        lambda: sh.check_derivatives(NET, plain()),
        r"problem is Network.*expected a Problem",
    ),
    # discriminants, homotopy, geometry, papers
    "a variable that is not there": (
        lambda: rank_one().specialize(m99=1),
        r"unknown variable m99: the variables are",
    ),
    "an axis that is not there": (
        lambda: sh.landscape_regions(plain(), ("x", -1, 1), ("t11", -1, 1)),
        r"no variable x; the axes are two of t00",
    ),
    "an axis without a range": (
        lambda: sh.landscape_regions(plain(), "t00", "t11"),
        r"Fix: \('t00', -1, 1\)",
    ),
    "a slice of three inputs": (
        lambda: sh.landscape_regions(of_three(), ("t00", -1, 1), ("t11", -1, 1)),
        r"for 2 inputs and width 1\. Fix: use focal_cloud",
    ),
    "a path between other inputs": (
        lambda: sh.follow(plain(), of_three()),
        r"2 and 3 inputs.*needs the same of both",
    ),
    "half an equation": (
        lambda: sh.homotopy.solve(["x^2 -"]),
        r"cannot read equation 1: expected a number, a variable",
    ),
    "a product without sign": (lambda: sh.homotopy.solve(["2x - 1"]), r"write \* between factors"),
    "too few equations to certify": (
        lambda: sh.homotopy.PolynomialSystem.read(["x + y"]),
        r"Fix: give as many equations as variables",
    ),
    "monodromy at half a member": (
        lambda: sh.homotopy.monodromy(quintic(), [[1.0]], [1.0]),
        r"expected 2 numbers",
    ),
    "a barrier of full rank": (
        lambda: sh.energy_barrier(np.diag([2.0, 1.0]), rank=2),
        r"expected at most d − 1 = 1",
    ),
    "the rank of a vector": (
        lambda: sh.real_rank(np.array([1.0, 2.0])),
        r"expected a SymmetricTensor, a symmetric matrix",
    ),
    "blocks that do not fill": (lambda: sh.symmetric_minimum(10, [1, 8]), r"they must add up to k = 10"),
    "a fifth paper": (lambda: sh.claims("4"), r"expected one of 000, 001, 002, 003"),
    "a folder that is no sweep": (lambda: sh.load_sweep("nothing"), r"no folder of sweep results"),
    "a problem file that is not there": (
        lambda: sh.load_problem("nothing.toml"),
        r"Cannot read nothing\.toml",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_met_with_a_sentence_that_helps(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, helps = MISTAKES[name]
    with pytest.raises(sh.ShallowsError) as caught:
        call()
    text = str(caught.value)
    assert re.search(helps, text, re.S), text
    assert len(text) > 30 and "object at 0x" not in text


def test_there_are_sixty():
    assert len(MISTAKES) >= 60
