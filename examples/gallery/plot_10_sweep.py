"""
A sweep
=======

From 3 critical points to 13, by way of 5, 7 and 9: how many there are, by the kurtosis of the data. A sweep
file names the axes and what to compute; results go to Parquet files, and a second run computes only what is
missing.
"""

# sphinx_gallery_thumbnail_path = '_static/thumbnails/plot_10_sweep.png'
import tempfile
from pathlib import Path

from shallows import load_sweep, run_sweep
from shallows.sweep import line

SWEEP = """
title = "real critical points by kurtosis"
[problem]
width = 1
target = { diagonal = [2.0, 1.5, 1.0] }
data = { law = "iid", n = 3, moments = [1, 0, 1, 0, 3] }
[[axes]]
name = "kurtosis"
path = "problem.data.moments.4"
range = { start = 1.2, stop = 9.0, step = 0.2 }
[compute]
what = "chart"
"""
with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "kurtosis.toml"
    file.write_text(SWEEP)
    run = run_sweep(file, Path(folder) / "results", engine="process")
    frame = load_sweep(Path(folder) / "results")
    again = run_sweep(file, Path(folder) / "results", engine="process")
print(f"{run.computed} cells computed, then {again.computed}; completeness: {set(frame['completeness'])}")

# %%
# On the command line this is ``shallows sweep kurtosis.toml``, on all cores or on a cluster.
figure = line(frame, "kurtosis", "real")
figure.update_traces(line_shape="hv")
figure.update_layout(
    template="plotly_white",
    xaxis={"title": "E x⁴"},
    yaxis={"title": "real critical points"},
    margin={"t": 20},
)
figure.show()
