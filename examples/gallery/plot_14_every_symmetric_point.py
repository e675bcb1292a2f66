"""
Every symmetric critical point of a ReLU network
================================================

Student and teacher are sums of k ReLU neurons, the teacher's are the coordinates. Networks αI + β11ᵀ are those that
all permutations fix, and a critical point among them is one of the whole loss. `symmetric_chart` searches all of
their directions by interval arithmetic and proves that there are exactly four, for each k: the teacher, a network
whose neurons are all turned around, and two in which all k rows are equal.
"""

# sphinx_gallery_thumbnail_path = '_static/thumbnails/plot_14_every_symmetric_point.png'
import plotly.graph_objects as go

import shallows as sh

chart = sh.relu.symmetric_chart(6, [6])
print(chart)

# %%
# The turned network is a saddle up to k = 5 and a local minimum from k = 6 on: its smallest curvature, on the
# exterior square of the standard representation, changes sign. Equal rows are always saddles: split them.
ks = [2, 3, 4, 5, 6, 8, 10, 15, 20, 30]
charts = [sh.relu.symmetric_chart(k, [k]) for k in ks]
names = ("the teacher", "turned around", "equal rows, along 1", "equal rows, against 1")
colours = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
figure = go.Figure()
for i, (name, colour) in enumerate(zip(names, colours, strict=True)):
    smallest = [c.symmetric[i].spectrum[0][0] / k for c, k in zip(charts, ks, strict=True)]
    figure.add_scatter(x=ks, y=smallest, name=name, line_color=colour, mode="lines+markers")
figure.update_layout(
    template="plotly_white",
    xaxis={"title": "k"},
    yaxis={"title": "smallest Hessian eigenvalue / k"},
    legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"},
    margin={"t": 40},
)
figure.show()
for k, found in zip(ks, charts, strict=True):
    print(k, found.kinds(), [f"{point.half_loss:.6f}" for point in found.symmetric])

# %%
# With one neuron apart from the others, blocks [1, k − 1], there are twelve for k = 3 to 15, eleven for k = 16 to 20,
# beside two families of parallel rows: in one saddle the neuron apart shrinks, from length 0.09 at k = 6 to 0.001 at
# k = 15, and at k = 16 it is gone. The lists are stored, and their points are proved anew here; each is followed in k.
chart = sh.relu.symmetric_chart(6, [1, 5])
print(chart.scope)
for point in chart.symmetric:
    if point.rows == 6:
        print(f"{point.half_loss:.6f}", point.signature, sh.relu.follow(point, to=100))

# %%
# With two neurons apart, blocks [2, k − 2], there are 32 for each k from 4 to 8, beside two families: four angles,
# about twenty million boxes. Minima appear as k grows; each global one is the teacher with a block's neurons in another
# order.
for k in range(4, 9):
    found = sh.relu.symmetric_chart(k, [2, k - 2])
    print(k, len(found.points), len(found.families), found.kinds(), found.completeness)
