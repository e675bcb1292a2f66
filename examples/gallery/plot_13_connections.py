"""
How high is the way out of a minimum?
=====================================

Four minima of one quadratic neuron under heavy-tailed data, all with the same loss. Which saddle separates which, and
where do all of them meet? From the complete list of critical points that is computed, not sampled, and proved.
"""

# sphinx_gallery_thumbnail_path = '_static/thumbnails/plot_13_connections.png'
import numpy as np

import shallows as sh

problem = sh.Problem(np.diag([2.0, 1.5, 1.0]), sh.IID(3, [1, 0, 1, 0, 30]), width=1)
chart = sh.chart(problem)
tree = chart.connections().with_runs(sh.ensemble(problem, runs=200, rng=0, chart=chart))
print(tree)

# %%
# The disconnectivity graph: height is the loss, a trunk is the wider the more training runs end there.
tree.figure().show()

# %%
# The way over the lowest barrier.
tree.crossing(0).figure().show()

# %%
# And the sublevel sets themselves, in the space of the three weights: at the lower level valleys meet in pairs, at the
# higher one all of them are one. (w and −w are the same function, so every valley stands twice.)
tree.sublevel_figure().show()
