"""What to cite: the papers and engines behind a result, or behind the parts of the library that were used."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Reference:
    """A work to cite: a BibTeX entry, why it is due, and the modules whose use makes it due."""

    key: str
    kind: str
    fields: tuple[tuple[str, str], ...]
    reason: str
    modules: tuple[str, ...]

    def bibtex(self) -> str:
        """The entry, with the reason as a comment."""
        lines = [f"  {name:<9} = {{{value}}}," for name, value in self.fields]
        return "\n".join([f"% {self.reason}", f"@{self.kind}{{{self.key},", *lines, "}"])


def _entry(key: str, kind: str, reason: str, modules: tuple[str, ...], **fields: str) -> Reference:
    return Reference(key, kind, tuple(fields.items()), reason, modules)


REFERENCES = (
    _entry(
        "shallows", "software", "the library", (),
        title="shallows: the loss landscapes of shallow neural networks", author="The shallows developers",
    ),
    _entry(
        "arjevani2025geometry", "misc", "polynomial networks: widths, fibers, metrics, focal loci, critical points",
        ("geometry", "discriminants", "chart", "charts.closed_form.rotation_invariant", "charts.algebraic"),
        author="Arjevani, Yossi and Bruna, Joan and Kileel, Joe and Polak, Elzbieta and Trager, Matthew",
        title="Geometry and Optimization of Shallow Polynomial Networks", year="2025",
    ),
    _entry(
        "gamarnik2019stationary", "misc", "quadratic networks: energy barrier, initialisation, sample threshold",
        ("quadratic",),
        author="Gamarnik, David and K{\\i}z{\\i}lda{\\u{g}}, Eren C. and Zadik, Ilias",
        title="Stationary Points of Shallow Neural Networks with Quadratic Activation Function", year="2019",
    ),
    _entry(
        "kazemipour2019avoiding", "misc", "quadratic networks on samples: certificates, norm neuron, penalty, depth",
        ("quadratic", "learn"), author="Kazemipour, Abbas and Larsen, Brett W. and Druckmann, Shaul",
        title="Avoiding Spurious Local Minima in Deep Quadratic Networks", year="2019",
    ),
    _entry(
        "safran2021effects", "inproceedings", "ReLU networks: exact Hessians, minima, splitting neurons", ("relu",),
        author="Safran, Itay and Yehudai, Gilad and Shamir, Ohad",
        title="The Effects of Mild Over-parameterization on the Optimization Landscape of Shallow ReLU Neural Networks",
        booktitle="Conference on Learning Theory", year="2021",
    ),
    _entry(
        "duff2019solving", "article", "critical points by homotopy continuation and monodromy", ("homotopy",),
        author="Duff, Timothy and Hill, Cvetelina and Jensen, Anders and Lee, Kisun and Leykin, Anton and others",
        title="Solving polynomial systems via homotopy continuation and monodromy",
        journal="IMA Journal of Numerical Analysis", year="2019",
    ),
    _entry(
        "johansson2017arb", "article", "certificates: ball arithmetic", ("balls",), author="Johansson, Fredrik",
        title="Arb: efficient arbitrary-precision midpoint-radius interval arithmetic",
        journal="IEEE Transactions on Computers", year="2017",
    ),
    _entry(
        "berthomieu2021msolve", "inproceedings", "exact critical points: Gr{\\\"o}bner bases and real root isolation",
        ("charts.exact.engine",),
        author="Berthomieu, J{\\'e}r{\\'e}my and Eder, Christian and Safey El Din, Mohab",
        title="msolve: A Library for Solving Polynomial Systems", booktitle="ISSAC", year="2021",
    ),
    _entry(
        "pedregosa2011scikit", "article", "estimators", ("learn",), author="Pedregosa, Fabian and others",
        title="Scikit-learn: Machine Learning in Python", journal="Journal of Machine Learning Research", year="2011",
    ),
    _entry(
        "rocklin2015dask", "inproceedings", "sweeps on many cores", ("sweep",), author="Rocklin, Matthew",
        title="Dask: Parallel Computation with Blocked algorithms and Task Scheduling",
        booktitle="Python in Science Conference", year="2015",
    ),
)  # fmt: skip


def citation(*results: Any) -> None:
    """Print what to cite, as BibTeX: for these results, or for the parts of the library loaded in this session.

    `results` may be charts, ensembles, problems, claims and estimators; what they rest on is printed.

    >>> import numpy as np
    >>> import shallows as sh
    >>> chart = sh.chart(sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), width=1))
    >>> [reference.key for reference in due(chart)]
    ['shallows', 'arjevani2025geometry', 'johansson2017arb']
    """
    print("\n\n".join(reference.bibtex() for reference in due(*results)))


def due(*results: Any) -> list[Reference]:
    """The references that these results rest on, or those of the parts loaded in this session."""
    used = {part for result in results for part in _parts_of(result)} if results else _loaded()
    return [
        reference for reference in REFERENCES if not reference.modules or used.intersection(reference.modules)
    ]


def _loaded() -> set[str]:
    """The parts of the library that were imported: they load when first used (the chart loads its own engines)."""
    return {_part(name) for name in sys.modules if name.startswith("shallows.")}


def _part(module: str) -> str:
    """A module's name within its storey: "shallows.questions.geometry.paths" is "geometry.paths"."""
    return ".".join(module.split(".")[2:])


def _parts_of(result: Any) -> set[str]:
    """The parts a result was made with."""
    from shallows.model.activations import ReLU
    from shallows.questions.charts.result import Chart

    parts: set[str] = set()
    parts.add(_part(type(result).__module__).split(".")[0])
    if isinstance(result, Chart):
        parts |= {"chart"} | {"homotopy": {"homotopy"}, "exact": {"charts.exact.engine"}}.get(
            result.method, set()
        )
        if any(point.certificate is not None for point in result.points):
            parts.add("balls")
    problem = getattr(result, "problem", result)
    activation = getattr(problem, "activation", None)
    if isinstance(activation, ReLU):
        parts.add("relu")
        parts.discard("chart")
    elif getattr(activation, "degree", None) is not None:
        parts.add("chart")
    paper = str(getattr(result, "paper", ""))
    return parts | {
        "000": {"geometry"},
        "001": {"quadratic"},
        "002": {"quadratic", "learn"},
        "003": {"relu"},
    }.get(paper, set())
