"""
What a bias does to a landscape
===============================

One quadratic neuron a(w·x + b)² learns x₁² − x₂²/2 + 2βx₁ + c under Gaussian data. Without a bias the student does
not see β, sees c only as a multiple of ‖x‖², and has at most one minimum of each sign (paper 000, Theorem 35). With a
bias it sees all of the polynomial, and how many minima there are depends on where (β, c) lies: between one and three.
"""

# sphinx_gallery_thumbnail_path = '_static/thumbnails/plot_15_bias.png'
import numpy as np
import plotly.graph_objects as go

import shallows as sh

DATA = sh.Gaussian(2)


def target(beta, c):
    """The polynomial x₁² − x₂²/2 + 2βx₁ + c as a symmetric matrix; the constant 1 is the first input."""
    return np.array([[c, beta, 0.0], [beta, 1.0, 0.0], [0.0, 0.0, -0.5]])


chart = sh.chart(sh.Problem(target(0.2, 2.0), DATA, width=1, bias=True))
print(chart)

# %%
# The list is complete and proved: 3n + 1 = 7 complex critical points of rank one, of which five are real here. Two of
# them are minima, and the way from one to the other goes over a saddle:
tree = chart.connections()
print(tree)

# %%
# Now every (β, c) on a grid. A reflection x₁ → −x₁ turns β into −β, so half of the plane is enough; each cell is one
# proved chart, and the second one of a kind costs a few hundredths of a second.
betas, constants = np.linspace(0.02, 3.0, 16), np.linspace(-3.0, 3.0, 25)


def minima(beta, c):
    """How many minima there are, of points and of families."""
    kinds = sh.chart(sh.Problem(target(beta, c), DATA, width=1, bias=True)).kinds()
    return sum(count for kind, count in kinds.items() if kind in ("global minimum", "local minimum"))


counts = np.array([[minima(beta, c) for beta in betas] for c in constants])
for number in np.unique(counts):
    print(f"{np.mean(counts == number):.0%} of the cells: number of minima {number}")

# %%
# Three minima stand in the lower middle, where the constant is negative; above, a tongue with two minima lies inside
# the region with one. At every border a minimum and a saddle meet.
colours = {1: "#DDEBF4", 2: "#F5D08A", 3: "#A5DBCA"}
scale = [[place, colours[n]] for n in colours for place in ((n - 1) / 3, n / 3)]
figure = go.Figure(
    go.Heatmap(
        x=np.r_[-betas[::-1], betas],
        y=constants,
        z=np.c_[counts[:, ::-1], counts],
        colorscale=scale,
        zmin=0.5,
        zmax=3.5,
        colorbar={"tickvals": [1, 2, 3], "ticktext": ["1 minimum", "2 minima", "3 minima"], "len": 0.6},
        hovertemplate="β = %{x:.2f}, c = %{y:.2f}: %{z} minima<extra></extra>",
    )
)
figure.update_layout(template="plotly_white", xaxis={"title": "β"}, yaxis={"title": "c"}, margin={"t": 20})
figure.show()
