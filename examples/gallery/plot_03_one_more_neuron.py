"""
What does one more neuron do?
=============================

A ReLU student learns a teacher of ten orthonormal neurons. With ten neurons of its own it often ends at a
minimum that is not global; one or two more, and that becomes rare (paper 003, section 4.2).
"""

# sphinx_gallery_thumbnail_path = '_static/thumbnails/plot_03_one_more_neuron.png'
import plotly.graph_objects as go

from shallows import ensemble, relu_problem

RUNS = 100
shares = {}
for extra in (0, 1, 2):
    runs = ensemble(relu_problem(10, width=10 + extra), runs=RUNS, tolerance=1e-7, rng=0)
    shares[extra] = float((runs.losses < 1e-4).mean())
    print(f"{10 + extra} neurons: {shares[extra]:.0%} of {RUNS} runs reach the teacher")

# %%
# Why it helps is the next question: see *Where do ReLU networks get stuck, and why does splitting help?*
errors = [1.96 * (share * (1 - share) / RUNS) ** 0.5 for share in shares.values()]
figure = go.Figure(
    go.Bar(
        x=[f"k + {extra}" if extra else "k" for extra in shares],
        y=list(shares.values()),
        error_y={"type": "data", "array": errors},
        marker_color="#009E73",
    )
)
figure.update_layout(
    template="plotly_white",
    xaxis={"title": "neurons of the student, k = 10"},
    yaxis={"title": "share of runs at the global minimum", "tickformat": ".0%", "range": [0, 1.05]},
    margin={"t": 20},
)
figure.show()
