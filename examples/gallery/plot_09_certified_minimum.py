"""
A certified minimum
===================

Descent stops where the gradient is small. Is there a minimum nearby? `certify_minimum` answers with a proof
in ball arithmetic: exactly one critical point within a radius, and positive lower bounds on the Hessian's
eigenvalues there. A point that is not one must not certify, and does not.
"""

# sphinx_gallery_thumbnail_path = '_static/thumbnails/plot_09_certified_minimum.png'
import numpy as np
import plotly.graph_objects as go

import shallows as sh

problem = sh.relu_problem(7)
minimum = sh.symmetric_minimum(7, [1, 6]).network()
proof = sh.certify_minimum(problem, minimum)
low, high = proof.half_loss_bounds
print(f"proved: a strict local minimum within {proof.radius:.0e}, ½E between {low:.15f} and {high:.15f}")

# %%
# How close must the end point be? Move it by a random vector of growing size, and ask again.
rng = np.random.default_rng(0)
distances = np.logspace(-13, -1, 13)
radii = []
for distance in distances:
    move = rng.standard_normal(minimum.W.shape)
    moved = sh.Network(minimum.W + distance * move / np.linalg.norm(move), activation=sh.ReLU())
    try:
        radii.append(sh.certify_minimum(problem, moved).radius)
    except sh.NotConverged as error:
        print(f"at distance {distance:.0e}: {error}")
        radii.append(np.nan)

figure = go.Figure(go.Scatter(x=distances, y=radii, mode="lines+markers", line_color="#009E73"))
figure.update_layout(
    template="plotly_white",
    xaxis={"title": "distance of the given point", "type": "log", "exponentformat": "power"},
    yaxis={"title": "proved radius", "type": "log", "exponentformat": "power"},
    margin={"t": 20},
)
figure.show()
