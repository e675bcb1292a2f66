"""
Fit a quadratic receptive field to spikes
=========================================

A complex cell of visual cortex responds to the squares of a few projections of its stimulus: some excite,
some suppress. Its spike counts are a regression on quadratic features; the eigenvectors of the fitted
matrix are the cell's filters (paper 002). The optimum is global and proved to be.
"""

# sphinx_gallery_thumbnail_path = '_static/thumbnails/plot_06_receptive_field.png'
import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from shallows.learn import QuadraticNetRegressor, receptive_field, simulate_spikes

side = 6
x = np.linspace(-1, 1, side)
X, Y = np.meshgrid(x, x)
envelope = np.exp(-3 * (X**2 + Y**2))
truth = [envelope * wave for wave in (np.cos(5 * X), np.sin(5 * X), np.cos(5 * Y))]
truth = [image / np.linalg.norm(image) for image in truth]
excite, suppress = np.array([image.ravel() for image in truth[:2]]), 0.8 * truth[2].ravel()[None]
stimuli, spikes = simulate_spikes(excite, suppress, 20_000, rng=0)

model = QuadraticNetRegressor(method="statistics").fit(stimuli, spikes)
field = receptive_field(model)
print(field)
print("proved to be the optimum:", model.certificate_.proved)

# %%
# The two exciting filters come out as a basis of the plane they span, which may be turned against the true
# ones. What counts is the angle between the planes; the pictures below show the true filters and the
# closest ones in the estimated span.
estimated = field.excitatory[:2]
cosines = np.linalg.svd(np.linalg.qr(excite.T)[0].T @ estimated.T, compute_uv=False)
print(
    "angles between the excitatory planes, degrees:", np.degrees(np.arccos(np.clip(cosines, 0, 1))).round(1)
)

spans = [estimated, estimated, field.suppressive[:1]]
closest = [span.T @ (span @ image.ravel()) for span, image in zip(spans, truth, strict=True)]
images = [*truth, *(filter.reshape(side, side) for filter in closest)]
titles = ["excitatory 1", "excitatory 2", "suppressive", "estimated", "estimated", "estimated"]
figure = make_subplots(2, 3, subplot_titles=titles, vertical_spacing=0.12, horizontal_spacing=0.04)
for place, image in enumerate(images):
    heat = go.Heatmap(z=image, zmid=0, colorscale="RdBu", showscale=False)
    figure.add_trace(heat, row=place // 3 + 1, col=place % 3 + 1)
figure.update_xaxes(visible=False)
figure.update_yaxes(visible=False)
figure.update_layout(template="plotly_white", height=460, margin={"t": 40, "l": 10, "r": 10, "b": 10})
figure.show()
