"""
A discriminant and its walls
============================

Move the teacher of one quadratic neuron in a plane. The number of critical points changes only on a curve,
the teacher-metric discriminant (paper 000, Theorem 25); and there is a second kind of wall, where a
critical point passes through zero and a saddle becomes a minimum.
"""

# sphinx_gallery_thumbnail_path = '_static/thumbnails/plot_08_discriminant.png'
import numpy as np

import shallows as sh

problem = sh.Problem(np.eye(2), sh.IID.laplace(2), width=1)
regions = sh.landscape_regions(problem, ("t00", -1, 3), ("t01", -2, 2))
print(regions)

# %%
# The curve is exact: it is the zero set of a polynomial with rational coefficients.
P = sh.discriminants.rank_one(2).specialize(data=sh.IID.laplace(2), t11=1)
print(P.text())
regions.figure().show()
