"""
What happens between two problems?
==================================

Move from one teacher to another in a straight line and follow all critical points on the way. Where two of
them meet, both stop being real; where one passes through zero, its index changes. With two inputs every
such event is found, and proved.
"""

# sphinx_gallery_thumbnail_path = '_static/thumbnails/plot_11_follow.png'
import numpy as np

import shallows as sh

start = sh.Problem(np.array([[1.0, 0.1], [0.1, 1.0]]), sh.IID.laplace(2), width=1)
end = sh.Problem(np.array([[-3.0, 1.0], [1.0, 0.5]]), sh.IID.laplace(2), width=1)
following = sh.follow(start, end)
print(following)

# %%
following.figure().show()
