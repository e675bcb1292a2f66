"""
Where do ReLU networks get stuck, and why does splitting help?
==============================================================

The minima that trap ReLU students are highly symmetric: for every k there is one with a single neuron
turned around, fixed by all permutations of the other k − 1. `symmetric_minimum` finds it for any k and
proves that it is a local minimum. Split a neuron of it in two and the function is the same, but the point
is a saddle (paper 003, Theorems 8, 9).
"""

# sphinx_gallery_thumbnail_path = '_static/thumbnails/plot_05_splitting.png'
import numpy as np
import plotly.graph_objects as go

import shallows as sh
from shallows.relu import descend_from_split, splits, wider

k = 7
minimum = sh.symmetric_minimum(k, [1, k - 1])
problem, net = sh.relu_problem(k), minimum.network()
found = splits(problem, net)
run = descend_from_split(problem, net)
print(f"loss {minimum.loss:.6f}: {minimum.kind}; smallest eigenvalue {minimum.smallest_eigenvalue:.4f}")
print(found)
print(f"after splitting, descent ends at a loss of {run.loss:.1e}")

# %%
# The loss along the direction that pushes the two halves of a neuron apart, (u, −u): a parabola that opens
# downwards. Along every direction of the unsplit network it opens upwards.
i = int(np.argmin(found.eigenvalues[:, 0]))
big = wider(problem)
start, direction = big.pack(net.split(i, 0.5)), found.escape(i)
steps = np.linspace(-0.8, 0.8, 81)
narrow = np.zeros((k, k))
narrow[i] = found.direction(i)
figure = go.Figure()
figure.add_scatter(
    x=steps,
    y=big.value(start + steps[:, None] * direction),
    name="split neuron, halves apart",
    line_color="#D55E00",
)
figure.add_scatter(
    x=steps,
    y=problem.value(problem.pack(net) + steps[:, None] * narrow.ravel()),
    name="the neuron as a whole",
    line_color="#0072B2",
)
figure.update_layout(
    template="plotly_white",
    xaxis={"title": "distance from the minimum"},
    yaxis={"title": "loss E(f − y)²", "range": [0, 0.2]},
    legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"},
    margin={"t": 40},
)
figure.show()
