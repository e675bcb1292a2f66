"""
Classify digits with a two-layer quadratic network
==================================================

Handwritten digits, 8 × 8 pixels, reduced to their first principal components. A two-layer quadratic network
is a symmetric matrix a class, so the best one is found without descent; a small ridge keeps it from fitting
noise.
"""

# sphinx_gallery_thumbnail_path = '_static/thumbnails/plot_07_digits.png'
import plotly.graph_objects as go
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from shallows.learn import QuadraticNetClassifier

X, y = load_digits(return_X_y=True)
seen, unseen, labels, truth = train_test_split(X / 16, y, test_size=0.3, random_state=0, stratify=y)
models = {
    "linear": make_pipeline(StandardScaler(), RidgeClassifier(alpha=1.0)),
    "quadratic": make_pipeline(
        PCA(16, random_state=0), StandardScaler(), QuadraticNetClassifier(alpha=0.1, certify=False)
    ),
}
for name, model in models.items():
    print(
        f"{name}: {model.fit(seen, labels).score(unseen, truth):.1%} of {len(truth)} unseen digits are right"
    )

# %%
# What is confused with what (correct ones are left out).
table = confusion_matrix(truth, models["quadratic"].predict(unseen))
for digit in range(10):
    table[digit, digit] = 0
figure = go.Figure(go.Heatmap(z=table, colorscale="Oranges", colorbar={"title": "count", "dtick": 1}))
figure.update_layout(
    template="plotly_white",
    xaxis={"title": "predicted", "dtick": 1},
    yaxis={"title": "digit", "dtick": 1, "autorange": "reversed"},
    margin={"t": 20},
)
figure.show()
