"""
Hessian eigenvalues beside PyHessian and curvlinops
===================================================

PyHessian and curvlinops take eigenvalues of a loss's Hessian by products with vectors, which is the way for
large networks. A small network has all of its eigenvalues here, each with an error that is proved in ball
arithmetic. The same network on the same samples, three times: the largest eigenvalues by size agree, and the
proved error says to which digit the iterations of the others have come.
"""

# sphinx_gallery_thumbnail_path = '_static/thumbnails/plot_16_hessian_eigenvalues.png'
import numpy as np
import plotly.graph_objects as go

import shallows as sh

rng = np.random.default_rng(0)
X = rng.standard_normal((200, 4))
y = np.tanh(X @ [1.0, -1.0, 0.5, 0.0]) + 0.1 * rng.standard_normal(200)
problem = sh.Problem(None, sh.Samples(X, y), width=5, activation=sh.Smooth("tanh"), bias=True)
net = problem.unpack(np.random.default_rng(1).standard_normal(problem.size))
spectrum = sh.diagnose(problem, net, chart=False).spectrum
order = np.argsort(-np.abs(spectrum.values))[:5]
ours, errors = spectrum.values[order], spectrum.errors[order]
print(spectrum)

# %%
# What the others say. Their numbers are computed where PyTorch and both packages are installed (`pip install pyhessian
# curvlinops-for-pytorch`), and are those of torch 2.15.0, PyHessian 0.1 and curvlinops 3.0.1 elsewhere.
STORED = {
    "PyHessian, as it comes": [5.251724113, 2.746771402, 2.246165087, -1.542279177, -1.481053098],
    "PyHessian, tol=1e-9": [
        5.254071680440667,
        2.754414483766992,
        2.244949632988603,
        -1.547121353494,
        -1.484153440696,
    ],
    "curvlinops and eigsh": [
        5.254082191187177,
        2.7544199997718866,
        2.244954121701237,
        -1.5471244670760245,
        -1.4841564022301557,
    ],
}


def others():
    """The five eigenvalues of largest size by PyHessian and by curvlinops."""
    import torch
    from curvlinops import HessianLinearOperator
    from pyhessian import hessian
    from scipy.sparse.linalg import eigsh

    torch.manual_seed(0)
    module, data = net.to_torch(), (torch.tensor(X), torch.tensor(y)[:, None])
    loss = torch.nn.MSELoss()
    found = {}
    for name, options in (("as it comes", {}), ("tol=1e-9", {"tol": 1e-9, "maxIter": 20_000})):
        found[f"PyHessian, {name}"] = hessian(module, loss, data=data, cuda=False).eigenvalues(
            top_n=5, **options
        )[0]
    operator = HessianLinearOperator(module, loss, list(module.parameters()), [data])
    found["curvlinops and eigsh"] = eigsh(
        operator.to_scipy(), k=5, which="LM", v0=np.ones(problem.size), return_eigenvectors=False
    )
    return {name: sorted(map(float, values), key=lambda x: -abs(x)) for name, values in found.items()}


try:
    table = others()
except ImportError:
    table = STORED

print(f"{'':24}", *(f"{value:14.9f}" for value in ours))
print(f"{'proved to':24}", *(f"{error:14.0e}" for error in errors))
for name, values in table.items():
    print(f"{name:24}", *(f"{value:14.9f}" for value in values))

# %%
# The distance of each from the true eigenvalue, on a logarithmic scale. Below the dotted line nothing can be told:
# that is the proved error of ours.
figure = go.Figure()
places = [f"λ{i + 1}" for i in range(5)]
for name, values in table.items():
    gap = np.maximum(np.abs(np.array(values) - ours), errors)
    figure.add_scatter(x=places, y=gap, mode="markers+lines", name=name, marker={"size": 9})
figure.add_scatter(
    x=places, y=errors, mode="lines", name="proved error", line={"color": "#8a8f98", "dash": "dot"}
)
figure.update_layout(
    template="plotly_white",
    yaxis={"title": "distance from the eigenvalue", "type": "log", "exponentformat": "power"},
    margin={"t": 20},
)
figure.show()
