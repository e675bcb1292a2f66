"""
Does the data distribution change the landscape?
================================================

One quadratic neuron learns diag(2, 1.5, 1). Under Gaussian inputs the loss has three critical points
besides zero, one for each eigenvector (paper 000, Theorem 35). Give the inputs heavier tails, the same mean
and the same covariance, and there are thirteen (Theorem 36). Nothing else has changed.
"""

# sphinx_gallery_thumbnail_path = '_static/thumbnails/plot_01_data_distribution.png'
import numpy as np
from plotly.subplots import make_subplots

import shallows as sh

teacher = np.diag([2.0, 1.5, 1.0])
laws = {
    "Gaussian, E x⁴ = 3": sh.Gaussian(3),
    "heavy tails, E x⁴ = 30": sh.IID(3, moments=[1, 0, 1, 0, 30]),
}
charts = {name: sh.chart(sh.Problem(teacher, data, width=1)) for name, data in laws.items()}
for name, chart in charts.items():
    print(f"{name}: {chart.real_count[1]} critical points of rank one, {chart.completeness}, {chart.kinds()}")

# %%
# Both lists are complete, and every point is certified. Under Gaussian data there is one minimum; under
# heavy tails there are four of the same loss, and which of them descent finds depends on where it starts.
figure = make_subplots(cols=2, subplot_titles=list(charts), shared_yaxes=True)
for column, chart in enumerate(charts.values(), start=1):
    for trace in chart.figure().data:
        trace.showlegend = column == 2
        figure.add_trace(trace, row=1, col=column)
figure.update_xaxes(title="index on the rank stratum", dtick=1)
figure.update_yaxes(title="loss E(f − y)²", col=1)
figure.update_layout(template="plotly_white", legend={"orientation": "h", "y": -0.25}, margin={"t": 40})
figure.show()
