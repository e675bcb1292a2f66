"""
Can a wide network get stuck?
=============================

A quadratic network with at least as many neurons as inputs has no bad local minimum in *function* space. In
*parameter* space it has: a neuron whose outer weight has the wrong sign can only shrink, and when all have,
W = 0 is a local minimum at any width (paper 000, Example 15). So training can stop there; but a path leads
out along which the loss never increases (Theorem 12).
"""

# sphinx_gallery_thumbnail_path = '_static/thumbnails/plot_02_wide_network_stuck.png'
import numpy as np
import plotly.graph_objects as go

import shallows as sh

problem = sh.Problem(np.diag([3.0, 2.0, 1.0]), sh.Gaussian(3), width=4)
shares = {}
for width in (1, 2, 3, 4, 6, 8):
    wider = sh.Problem(np.diag([3.0, 2.0, 1.0]), sh.Gaussian(3), width=width)
    runs = sh.ensemble(wider, runs=200, rng=0)
    shares[width] = float(np.mean(runs.losses > sh.chart(wider).minimum.loss + 1e-6))
    print(f"width {width}: {shares[width]:.1%} of 200 runs are stuck")

# %%
# Most runs are stuck at width 3, as many neurons as inputs; spare neurons help, because one of the right
# sign is enough.
figure = go.Figure(
    go.Bar(x=[str(width) for width in shares], y=list(shares.values()), marker_color="#E69F00")
)
figure.update_layout(
    template="plotly_white",
    xaxis={"title": "width, three inputs"},
    yaxis={"title": "share of runs above the minimum", "tickformat": ".0%"},
    height=360,
    margin={"t": 20},
)
figure.show()

# %%
# The way out of the worst of these points, at width 4: a walk inside the fiber, on which the function does
# not change, and then down to zero. No descent method sees it, since it begins flat.
stuck = sh.Network(np.zeros((4, 3)), a=[-1.0, -1.0, -2.0, -2.0])
escape = sh.explain_escape(problem, stuck)
print(escape.theorem, "·", ", ".join(dict.fromkeys(escape.path.labels)))
losses = escape.path.losses(300)
print(f"largest increase along the path: {max(np.diff(losses).max(), 0):.1e}")

figure = go.Figure(go.Scatter(x=np.linspace(0, 1, 300), y=losses, line={"color": "#0072B2", "width": 3}))
figure.update_layout(
    template="plotly_white",
    xaxis={"title": "position on the escape path"},
    yaxis={"title": "loss E(f − y)²"},
    margin={"t": 20},
)
figure.show()
