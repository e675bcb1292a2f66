"""
Two networks, one function: how do you walk from one to the other?
==================================================================

Quadratic networks with the same function form a fiber. With one spare neuron it is connected (paper 000,
Theorem 37), and `fiber_path` walks through it: the neurons move, the function does not.
"""

# sphinx_gallery_thumbnail_path = '_static/thumbnails/plot_12_two_networks_one_function.png'
import numpy as np
import plotly.graph_objects as go

import shallows as sh

c, s = np.cosh(1.0), np.sinh(1.0)
first = sh.Network([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], a=[1.0, -1.0, 1.0])
second = sh.Network([[0.0, 0.0], [s, c], [c, s]], a=[0.0, -1.0, 1.0])
matrix = first.tensor().to_matrix()
print("same function:", np.allclose(matrix, second.tensor().to_matrix()))
print("components of the fiber by width:", [sh.fiber_components(matrix, width) for width in (1, 2, 3)])

path = sh.fiber_path(first, second)
print(f"largest change of the function on the way: {path.drift(400):.1e}")

# %%
# Each curve is one neuron √|aᵢ| wᵢ; solid where it counts positively, dashed where it counts negatively.
walk = [path(t) for t in np.linspace(0, 1, 300)]
W = np.array([net.W * np.sqrt(np.abs(net.a))[:, None] for net in walk])
signs = np.array([net.a for net in walk])
figure = go.Figure()
for neuron, colour in enumerate(("#0072B2", "#E69F00", "#009E73")):
    for sign, dash in ((1, "solid"), (-1, "dash")):
        shown = np.where((sign * signs[:, neuron] > 0)[:, None], W[:, neuron], np.nan)
        if np.isfinite(shown).any():
            name = f"neuron {neuron + 1}, {'positive' if sign > 0 else 'negative'}"
            figure.add_scatter(
                x=shown[:, 0], y=shown[:, 1], mode="lines", name=name, line={"color": colour, "dash": dash}
            )
figure.update_layout(
    template="plotly_white",
    xaxis={"title": "x₁"},
    yaxis={"title": "x₂", "scaleanchor": "x"},
    height=480,
    margin={"t": 20},
)
figure.show()
