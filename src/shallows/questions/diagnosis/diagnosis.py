"""What is said of trained weights: results only."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.certificates.minimum import CertifiedMinimum
from shallows.questions.charts.points.point import Certificate, CriticalPoint
from shallows.questions.charts.result import Chart
from shallows.questions.connections.tree import MergeTree
from shallows.questions.connections.valley import Valley
from shallows.questions.descent.nearest_critical import NearestCritical
from shallows.questions.diagnosis.document import diagnosis_document
from shallows.questions.diagnosis.figure import spectrum_figure
from shallows.questions.diagnosis.file import KINDS, MAKE, parts, together
from shallows.questions.diagnosis.spectrum import Spectrum
from shallows.questions.diagnosis.text import diagnosis_text
from shallows.questions.geometry.escape.escape import Escape
from shallows.support.records import Kind, Records

#: The weights are at the critical point that Newton's method reaches when it is within this share of them: training to
#: a gradient of 1e-3 at curvatures of 0.1 leaves that much.
AT = 1e-2


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis:
    """One page about trained weights; `None` is what could not be known, and `notes` say why and what is only sampled.

    - `loss`, exact up to `loss_error` (zero but for Smooth activations) and rounding; `zero_loss` that of f = 0;
    - `gradient_norm` and `spectrum` (the Hessian's eigenvalues) at the weights;
    - `critical`: the critical point that Newton's method reaches from there, and how far it is;
    - `kind` of that point: "global minimum", "local minimum", "saddle", "local maximum", "degenerate"; "not critical"
      where the weights are further from it than a hundredth of their size, "not differentiable" at a zero ReLU neuron;
    - `lowest`: the lowest loss of all networks of this width, where it is known;
    - `certificate`: what is proved of the point (`minimum` has the bounds of a proved minimum);
    - `chart`, a complete list of critical points, `point`, the one of them nearest in function space, and `gap`, how
      far it is, √E(f − f*)²; `listed`, the one that `critical` is; `valley`, the leaf of the merge `tree` below the
      weights;
    - `escape`: a path along which the loss never rises to a lower one, from the critical point (from the weights, where
      there is none).

    >>> problem = sh.Problem(np.diag([2.0, -1.0]), sh.Gaussian(2), width=1)
    >>> trained = sh.Network([[0.001, 0.81]], a=[-0.5])
    >>> found = sh.diagnose(problem, trained)
    >>> found.kind, found.valley.leaf.number, f"{found.valley.height:.4f}", bool(found.escape)
    ('local minimum', 1, '0.3332', False)
    """

    problem: Problem = field(compare=False)
    network: Network
    loss: float
    loss_error: float
    zero_loss: float
    gradient_norm: float | None
    spectrum: Spectrum | None
    critical: NearestCritical | None
    kind: str
    lowest: float | None
    minimum: CertifiedMinimum | None
    chart: Chart | None
    tree: MergeTree | None
    point: CriticalPoint | None
    gap: float | None
    listed: CriticalPoint | None
    valley: Valley | None
    escape: Escape
    notes: tuple[str, ...]

    @property
    def certificate(self) -> Certificate | None:
        """What is proved about the critical point that the weights are at: by itself, or as a point of the chart."""
        if self.minimum is not None:
            return self.minimum.certificate
        here = self.kind != "not critical"
        if here and self.critical is not None and self.critical.certificate is not None:
            return self.critical.certificate
        return None if self.listed is None else self.listed.certificate

    @property
    def is_critical(self) -> bool:
        """Whether the weights are at the critical point that was reached: within a hundredth of their size."""
        return self.critical is not None and at_the_point(self.problem, self.network, self.critical)

    def to_dict(self) -> dict[str, Any]:
        """All of it in plain numbers and words."""
        return diagnosis_document(self)

    def save(self, path: str | Path) -> Path:
        """Write `path`.json, `to_dict()` and all that `Diagnosis.load` needs, and `path`.npz; the path of the first."""
        return _records(Path(path)).save(path, self, self.to_dict())

    @classmethod
    def load(cls, path: str | Path) -> Diagnosis:
        """What `save` wrote.

        >>> import tempfile
        >>> problem = sh.Problem(np.diag([2.0, -1.0]), sh.Gaussian(2), width=1)
        >>> found = sh.diagnose(problem, sh.Network([[0.001, 0.81]], a=[-0.5]))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     again = sh.Diagnosis.load(found.save(f"{folder}/trained"))
        >>> repr(again) == repr(found), again.valley
        (True, Valley(Leaf(1: local minimum, loss=10.666667, rank=1), 0.3332... below the way to leaf 0))
        """
        found: Diagnosis = _records(Path(path)).load(path)
        return found

    def figure(self) -> Any:
        """A Plotly figure: the spectrum of the Hessian at the weights."""
        return spectrum_figure(self)

    def report(self, path: str | Path) -> Path:
        """Write the page, one self-contained HTML file."""
        from shallows.uses.report.diagnosis import diagnosis_report

        return diagnosis_report(self, path)

    def __repr__(self) -> str:
        return diagnosis_text(self)


def _records(path: Path) -> Records:
    kind = Kind(Diagnosis, parts, lambda found: Diagnosis(**together(found, path)))
    return Records("shallows-diagnosis", 2, kind, *KINDS, make=MAKE, readable=2)


def at_the_point(problem: Problem, net: Network, critical: NearestCritical) -> bool:
    """Whether weights are at a critical point, see AT; a network of zeros is there when it did not move."""
    return critical.distance <= AT * float(np.linalg.norm(problem.pack(net)))
