"""The four papers: what they are called, how to cite them, and their claims; and our own findings."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from shallows.support.errors import InvalidProblem
from shallows.uses.papers.claim import Claim
from shallows.uses.papers.findings.finding import FINDINGS, Finding


@dataclass(frozen=True)
class Paper:
    """One of the four papers; `module` holds its claims."""

    number: str
    authors: str
    title: str
    year: int
    subject: str
    module: str

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The paper's numbered statements, in its own order."""
        return tuple(import_module(f"shallows.uses.papers.{self.module}").CLAIMS)


PAPERS = (
    Paper(
        "000",
        "Yossi Arjevani, Joan Bruna, Joe Kileel, Elzbieta Polak, Matthew Trager",
        "Geometry and Optimization of Shallow Polynomial Networks",
        2025,
        "width regimes, fibers, metrics, focal loci, discriminants, all critical points of quadratic networks",
        "arjevani",
    ),
    Paper(
        "001",
        "David Gamarnik, Eren C. Kızıldağ, Ilias Zadik",
        "Stationary Points of Shallow Neural Networks with Quadratic Activation Function",
        2020,
        "planted quadratic networks: energy barrier, initialisation, the sample threshold d(d+1)/2",
        "gamarnik",
    ),
    Paper(
        "002",
        "Abbas Kazemipour, Brett W. Larsen, Shaul Druckmann",
        "Avoiding Spurious Local Minima in Deep Quadratic Networks",
        2019,
        "quadratic networks trained on samples: norm neuron, orthogonality penalty, several outputs, depth",
        "kazemipour",
    ),
    Paper(
        "003",
        "Itay Safran, Gilad Yehudai, Ohad Shamir",
        "The Effects of Mild Over-parameterization on the Optimization Landscape of Shallow ReLU Neural Networks",
        2021,
        "ReLU teacher and student: exact Hessians, the neighbourhood of global minima, splitting neurons",
        "safran",
    ),
)


#: Where findings stand beside papers: on the page that `shallows verify --findings --out` writes.
OWN = Paper(
    FINDINGS,
    "The shallows developers",
    "Findings: what the papers do not have",
    2026,
    "statements that are in none of the four papers, proved or observed",
    FINDINGS,
)


def findings() -> list[Finding]:
    """Statements that are in none of the four papers, in the form of claims, each proved or observed.

    >>> import shallows as sh
    >>> barrier = next(f for f in sh.findings() if "barrier" in f.title)
    >>> barrier.name, barrier.basis, barrier.verify(rng=0).holds
    ('finding-8', 'proved', True)
    """
    return [each for each in OWN.claims if isinstance(each, Finding)]


def claims(paper: str | None = None) -> list[Claim]:
    """Every numbered statement of the four papers, or of one ("000" to "003"), as a check that runs.

    >>> import shallows as sh
    >>> theorem = next(c for c in sh.claims("000") if c.number == "Theorem 35")
    >>> theorem.name, theorem.verify(rng=0).holds
    ('thm-35', True)
    """
    known = {p.number: p for p in PAPERS}
    if paper is not None and paper not in known:
        raise InvalidProblem(f"There is no paper {paper!r}; expected one of {', '.join(known)}.")
    chosen = PAPERS if paper is None else (known[paper],)
    return [claim for p in chosen for claim in p.claims]


def find_claims(name: str, paper: str | None = None) -> list[Claim]:
    """The claims called `name` ("thm-35", "Theorem 35" or "000/thm-35"), in all papers unless one is given."""
    return _called(name, claims(paper), f"claim {name!r}{' in paper ' + paper if paper else ''}")


def find_findings(name: str) -> list[Claim]:
    """The finding called `name` ("finding-3", "Finding 3" or "findings/finding-3"), in a list."""
    return _called(name, list(findings()), f"finding {name!r}")


def _called(name: str, among: list[Claim], words: str) -> list[Claim]:
    found = [c for c in among if name.lower() in (c.name, c.key, c.number.lower())]
    if not found:
        near = [c.key for c in among if name.lower().split("-")[-1].split()[-1] in c.name]
        hint = f" Did you mean {', '.join(near[:4])}?" if near else ""
        raise InvalidProblem(f"There is no {words}.{hint}")
    return found
