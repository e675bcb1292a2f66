"""
Which activation has how many minima?
=====================================

One neuron aσ(w·x) with σ(z) = z² + βz + γ learns two neurons of the same kind (paper 001's activations) under Gaussian
data. Its critical points are the real zeros of one polynomial of degree 3n + 1, so that the (β, γ) at which two of them
meet form a curve that is known exactly.
"""

# sphinx_gallery_thumbnail_path = '_static/thumbnails/plot_17_activation.png'
import shallows as sh

teacher = sh.Network([[1.0, 0.5], [-0.5, 1.25]], [1.0, 1.0], activation=sh.Polynomial([1, 1, 1]))
family = sh.discriminants.activation(teacher)
print(family)
print(family.factor()[0], family.factor()[1])

# %%
# A window of activations. Between one and three minima, beside three to seven critical points.
window = sh.discriminants.activation_regions(family, beta=(0.05, 3), gamma=(-4, 2), resolution=121)
for region in window.regions[:6]:
    print(region)
window.figure().show()

# %%
# One of its points, by other means: a chart is a homotopy from a generic problem, and knows nothing of the curve.
beta, gamma = window.regions[0].point
print(sh.chart(family.problem(beta, gamma)))
