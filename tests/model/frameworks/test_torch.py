"""Modules, losses and functions of PyTorch, against PyTorch's own evaluation and differentiation."""

import numpy as np
import pytest

import shallows as sh

torch = pytest.importorskip("torch", reason="needs the extra torch: make test-frameworks installs it")
from torch import nn  # noqa: E402

# PyTorch's forward mode loads parts of PyTorch that warn of others
pytestmark = [
    pytest.mark.filterwarnings(f"ignore:.*torch.jit.script.*:{kind}")
    for kind in ("DeprecationWarning", "FutureWarning")
]

X = np.random.default_rng(5).standard_normal((40, 4))


class Square(nn.Module):
    def forward(self, z):
        return z**2


class Cubic(nn.Module):
    def forward(self, z):
        return 0.3 * z**3 - z + 1.25


class Functional(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 3), nn.Linear(3, 2)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.act, self.second = nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4)

    def forward(self, x):
        return x + self.second(self.act(self.first(x)))


ACTIVATIONS = {
    "relu": (nn.ReLU(), sh.ReLU()),
    "gelu": (nn.GELU(), sh.Smooth("gelu")),
    "gelu by tanh": (nn.GELU(approximate="tanh"), sh.Smooth("gelu_tanh")),
    "tanh": (nn.Tanh(), sh.Smooth("tanh")),
    "softplus": (nn.Softplus(), sh.Smooth("softplus")),
    "steep softplus": (nn.Softplus(beta=3.0), sh.Smooth("softplus")),
    "sigmoid": (nn.Sigmoid(), sh.Smooth("sigmoid")),
    "silu": (nn.SiLU(), sh.Smooth("silu")),
    "square": (Square(), sh.Power(2)),
    "cubic": (Cubic(), sh.Polynomial([1.25, -1.0, 0.0, 0.3])),
    "none": (nn.Identity(), sh.Power(1)),
}


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("bias", [(True, True), (True, False), (False, True), (False, False)])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_a_network_computes_what_its_module_does(name, bias, outputs):
    torch.manual_seed(len(name) + outputs)
    layer, activation = ACTIVATIONS[name]
    module = nn.Sequential(
        nn.Linear(4, 5, bias[0]), layer, nn.Dropout(), nn.Linear(5, outputs, bias[1])
    ).double()
    net = sh.Network.from_torch(module)
    assert net.activation == activation
    assert net.width == 5 + bias[1]  # an output bias is a neuron
    expected = module.eval()(torch.tensor(X)).detach().numpy()
    np.testing.assert_allclose(
        net(X).reshape(len(X), -1), expected, atol=1e-7
    )  # torch's softplus is linear from 20 on
    back = net.to_torch()(torch.tensor(X)).detach().numpy()
    np.testing.assert_allclose(back, net(X).reshape(len(X), -1), atol=1e-12)


def test_single_precision_is_read_exactly():
    module = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 1, bias=False))
    net = sh.Network.from_torch(module)
    assert np.array_equal(net.W, module[0].weight.detach().double().numpy())
    assert module.training  # the comparison in evaluation mode leaves no trace


def test_an_activation_in_forward_is_named_by_the_user_and_checked():
    module = Functional()
    assert sh.Network.from_torch(module, activation=sh.ReLU()).outputs == 2
    with pytest.raises(sh.InvalidProblem, match=r"differ by .* activation=sh\.ReLU"):
        sh.Network.from_torch(module)
    with pytest.raises(sh.InvalidProblem, match=r"Power\(2\) between them, computes something else"):
        sh.Network.from_torch(module, activation=sh.Power(2))


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (lambda: nn.Sequential(nn.Linear(3, 4), nn.LeakyReLU(), nn.Linear(4, 1)), "LeakyReLU"),
        (lambda: nn.Sequential(nn.Conv1d(3, 4, 1), nn.ReLU(), nn.Linear(4, 1)), "1 Linear layer .*Conv1d"),
        (
            lambda: nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 1)),
            r"BatchNorm1d \(1\), ReLU \(2\)",
        ),
        (
            lambda: nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1)),
            "3 Linear",
        ),
        (lambda: nn.Sequential(nn.Linear(3, 4), nn.PReLU(), nn.Linear(4, 1)), r"PReLU \(1\)"),
        (
            lambda: nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.LayerNorm(4), nn.Linear(4, 1)),
            r"LayerNorm \(2\)",
        ),
        (lambda: nn.Sequential(nn.Linear(3, 4), nn.Softmax(-1), nn.Linear(4, 1)), "Softmax"),
        (lambda: nn.LSTM(3, 4), "LSTM"),
        (lambda: nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1), nn.Sigmoid()), r"Sigmoid \(3\)"),
        (lambda: nn.Sequential(nn.ReLU(), nn.Linear(3, 4), nn.Linear(4, 1)), "differ by"),
        (Residual, "differ by"),
        (lambda: "weights.pt", "expected a torch.nn.Module"),
    ],
)
def test_other_modules_are_refused_by_name(module, message):
    with pytest.raises(sh.InvalidProblem, match=message):
        sh.Network.from_torch(module())


def test_what_is_no_module_stays_here():
    with pytest.raises(sh.InvalidProblem, match="no module of PyTorch"):
        sh.Network([[1.0]], activation=sh.Smooth(np.sin)).to_torch()
    with pytest.raises(sh.InvalidProblem, match="norm neuron"):
        sh.Network([[1.0]], norm=2.0).to_torch()


def tensors(problem, seed=0, batch=()):
    """Random parts of θ that require gradients."""
    rng, layout = np.random.default_rng(seed), problem.layout
    shapes = {"W": (layout.width, layout.n)}
    if layout.free:
        shapes["a"] = (layout.outputs, layout.width) if layout.outputs > 1 else (layout.width,)
    if layout.bias:
        shapes["bias"] = (layout.width,)
    if layout.norm:
        shapes["norm"] = (layout.outputs,) if layout.outputs > 1 else ()
    return {
        name: torch.tensor(rng.standard_normal((*batch, *shape)), requires_grad=True)
        for name, shape in shapes.items()
    }


EYE = np.eye(2)
PROBLEMS = {
    "relu": sh.Problem(sh.Network(EYE, activation=sh.ReLU()), sh.Gaussian(2), width=2),
    "fixed": sh.Problem(sh.Network(EYE, activation=sh.ReLU()), sh.Gaussian(2), width=2, outer="ones"),
    "norm": sh.Problem(np.diag([2.0, 1.0]), sh.IID.laplace(2), width=2, norm_neuron=True),
    "bias": sh.Problem(sh.Network(EYE, activation=sh.Smooth("tanh")), sh.Gaussian(2), width=2, bias=True),
    "relu with bias": sh.Problem(sh.Network(EYE, activation=sh.ReLU()), sh.Gaussian(2), width=2, bias=True),
    "gelu": sh.Problem(sh.Network(EYE, activation=sh.Smooth("gelu")), sh.Gaussian(2), width=2),
    "cubic": sh.Problem(sh.Network(EYE, activation=sh.Power(3)), sh.Gaussian(2), width=2),
    "polynomial": sh.Problem(
        sh.Network(EYE, activation=sh.Polynomial([1, -1, 0.5])), sh.Gaussian(2), width=2
    ),
    "samples": sh.Problem(None, sh.Samples(X[:, :2], X[:, 2]), width=2),
    "penalty": sh.Problem(np.diag([2.0, 1.0]), sh.Frobenius(2), width=2, outer="ones", orthogonality=0.1),
    "outputs": sh.Problem(sh.Network(EYE, a=[[1.0, 2.0], [0.0, 1.0], [1.0, 1.0]]), sh.Gaussian(2), width=2),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_losses_are_differentiable_twice(name):
    problem = PROBLEMS[name]
    parts = tensors(problem)

    def loss(*values):
        return problem.torch_loss(**dict(zip(parts, values, strict=True)))

    values = tuple(parts.values())
    assert torch.autograd.gradcheck(loss, values, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(loss, values)


@pytest.mark.parametrize("name", PROBLEMS)
def test_losses_are_those_of_the_network(name):
    problem = PROBLEMS[name]
    parts = {key: value.detach() for key, value in tensors(problem, seed=1).items()}
    order = [parts[key].reshape(-1) for key in ("W", "bias", "a", "norm") if key in parts]
    net = problem.unpack(torch.cat(order).numpy())
    assert float(problem.torch_loss(**parts)) == problem.loss(net)


@pytest.mark.parametrize("name", PROBLEMS)
def test_two_axes_of_batches(name):
    problem = PROBLEMS[name]
    parts = tensors(problem, batch=(2, 3))
    whole = problem.torch_loss(**parts)
    assert whole.shape == (2, 3)
    whole.sum().backward()
    single = {key: value.detach()[1, 2].requires_grad_() for key, value in parts.items()}
    loss = problem.torch_loss(**single)
    loss.backward()
    assert float(whole[1, 2].detach()) == pytest.approx(float(loss.detach()), rel=1e-13)
    for key, value in single.items():
        torch.testing.assert_close(parts[key].grad[1, 2], value.grad, rtol=1e-11, atol=1e-12)


def test_batches_and_transforms_of_functions():
    problem = PROBLEMS["relu"]
    parts = {key: value.detach() for key, value in tensors(problem, batch=(5,)).items()}
    W, a = parts["W"], parts["a"]
    whole = problem.torch_loss(W, a)
    assert whole.shape == (5,)
    assert torch.equal(torch.func.vmap(problem.torch_loss)(W, a), whole)
    slopes = torch.func.vmap(torch.func.grad(problem.torch_loss))(W, a)
    assert slopes.shape == W.shape
    hessian = torch.func.hessian(lambda w: problem.torch_loss(w, a[0]))(W[0]).reshape(4, 4)
    net = sh.Network(W[0].numpy(), a[0].numpy(), sh.ReLU())
    np.testing.assert_allclose(hessian.numpy(), problem.hessian(net)[:4, :4], atol=1e-13)


def test_an_optimiser_trains_single_precision_weights_on_the_population_loss():
    problem = sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), width=2)
    torch.manual_seed(1)
    W, a = torch.randn(2, 2, requires_grad=True), torch.ones(2, requires_grad=True)
    optimiser = torch.optim.Adam([W, a], lr=0.05)
    for _ in range(400):
        optimiser.zero_grad()
        problem.torch_loss(W, a).backward()
        optimiser.step()
    assert float(problem.torch_loss(W, a).detach()) < 1e-6


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: p["relu"].torch_loss(torch.ones(2, 2)), "a was not given"),
        (lambda p: p["fixed"].torch_loss(torch.ones(2, 2), torch.ones(2)), "outer weights are fixed"),
        (lambda p: p["relu"].torch_loss(torch.ones(2, 2), torch.ones(2), torch.ones(2)), "bias=True"),
        (lambda p: p["relu"].torch_loss(torch.ones(3, 2), torch.ones(2)), r"W has shape \(3, 2\)"),
        (
            lambda p: p["relu"].torch_loss(torch.ones(5, 2, 2), torch.ones(2)),
            r"a has shape .* after the axes \(5,\) of W",
        ),
    ],
)
def test_parts_that_do_not_fit_are_refused(call, message):
    with pytest.raises(sh.InvalidProblem, match=message):
        call(PROBLEMS)


def test_tensors_stand_for_arrays_and_a_graph_is_not_cut_in_silence():
    net = sh.Network(torch.eye(2), torch.ones(2))
    assert np.array_equal(net.W, np.eye(2))
    with pytest.raises(sh.InvalidProblem, match=r"W\.detach"):
        sh.Network(torch.eye(2, requires_grad=True))


WHERE_ARRAYS_ARE = {
    "Network": lambda W, x: sh.Network(W),
    "calls": lambda W, x: sh.Network(np.eye(2))(W),
    "target": lambda W, x: sh.Problem(W + W.T, sh.Gaussian(2), width=1),
    "covariance": lambda W, x: sh.Gaussian(2, covariance=W @ W.T),
    "samples": lambda W, x: sh.Samples(W, x[:2]),
    "outer": lambda W, x: sh.Problem(np.eye(2), sh.Gaussian(2), width=2, outer=x[:2]),
    "unpack": lambda W, x: QUADRATIC.unpack(x),
    "hvp": lambda W, x: QUADRATIC.hvp(sh.Network(np.eye(2)), x),
    "metric": lambda W, x: sh.Metric(1, 2, W[:1, :1]),
    "tensor": lambda W, x: sh.SymmetricTensor(x[:3], 2, 2),
    "starts": lambda W, x: sh.ensemble(QUADRATIC, runs=1, init=x[None]),
    "fit": lambda W, x: sh.learn.QuadraticNetRegressor(certify=False, alpha=1.0).fit(W, x[:2]),
    "span": lambda W, x: sh.spans_symmetric(W),
    "value": lambda W, x: QUADRATIC.value(x),
    "gradient": lambda W, x: QUADRATIC.value_and_gradient(x),
    "product": lambda W, x: QUADRATIC.hessian_product(np.ones(6), x),
    "activation": lambda W, x: sh.ReLU()(x),
    "roots": lambda W, x: sh.certify.certify(sh.homotopy.PolynomialSystem.read(["x^2 - 1"]), x[:1, None]),
}
QUADRATIC = sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), width=2)


@pytest.mark.parametrize("name", WHERE_ARRAYS_ARE)
def test_wherever_arrays_are_tensors_will_do_and_graphs_will_not(name):
    W, x = torch.tensor([[1.0, 0.2], [0.3, 2.0]]), torch.arange(1.0, 7.0)
    assert WHERE_ARRAYS_ARE[name](W, x) is not None
    with pytest.raises(sh.InvalidProblem, match="requires gradients"):
        WHERE_ARRAYS_ARE[name](W.requires_grad_(), x.requires_grad_())


@pytest.mark.parametrize(
    ("function", "name"),
    [(torch.tanh, "tanh"), (nn.Softplus(), "softplus"), (nn.functional.gelu, "gelu")],
)
def test_functions_of_tensors_are_activations(function, name):
    own, known = sh.Smooth(function), sh.Smooth(name)
    z = np.linspace(-3, 3, 31)
    for order in range(3):
        np.testing.assert_allclose(own.derivative(z, order), known.derivative(z, order), atol=1e-13)
    problem = sh.Problem(sh.Network(EYE, activation=own), sh.Gaussian(2), width=2)
    other = sh.Problem(sh.Network(EYE, activation=known), sh.Gaussian(2), width=2)
    W = [[1.0, 0.5], [0.0, 2.0]]
    loss = problem.loss(sh.Network(W, activation=own))
    assert loss == pytest.approx(other.loss(sh.Network(W, activation=known)), abs=1e-12)
