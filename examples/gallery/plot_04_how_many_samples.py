"""
How many samples are enough?
============================

A quadratic network of d inputs is a symmetric matrix: d(d+1)/2 numbers. With fewer samples than that there
are networks that fit all of them and are wrong everywhere else; from n* = d(d+1)/2 on, a perfect fit is the
teacher (paper 001, Theorems 2.6 and 2.9). There is nothing in between.
"""

# sphinx_gallery_thumbnail_path = '_static/thumbnails/plot_04_how_many_samples.png'
import numpy as np
import plotly.graph_objects as go

from shallows import quadratic

d = 5
jump = quadratic.generalisation_jump(d, range(6, 20), runs=5, rng=0)
print(jump)

# %%
# All these students have an empirical risk of zero. The line is the median error of the trained ones on
# fresh data, the crosses are networks constructed to be wrong.
shown = np.maximum(np.median(jump.trained, axis=1), 1e-16)
below = jump.counts < jump.threshold
figure = go.Figure()
figure.add_scatter(x=jump.counts, y=shown, mode="lines+markers", name="trained, median", line_color="#0072B2")
figure.add_scatter(
    x=jump.counts[below],
    y=jump.constructed[below],
    mode="markers",
    name="constructed (Theorem 2.9)",
    marker={"symbol": "x", "color": "#D55E00", "size": 9},
)
figure.add_vline(x=jump.threshold - 0.5, line={"dash": "dash", "color": "#8a8f98"})
figure.update_layout(
    template="plotly_white",
    xaxis={"title": "samples", "dtick": 1},
    yaxis={"title": "population loss / E y²", "type": "log", "exponentformat": "power"},
    legend={"x": 0.98, "xanchor": "right", "y": 0.98},
    margin={"t": 20},
)
figure.show()
