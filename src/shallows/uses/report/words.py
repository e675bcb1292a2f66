"""The summary of a report, in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from shallows.model.activations import Power
from shallows.model.problem import Problem
from shallows.questions.charts.completeness import COMPLETENESS
from shallows.questions.charts.result import Chart
from shallows.questions.descent.results.ensemble import Ensemble
from shallows.questions.geometry.ranks.widths import regime
from shallows.support.checks import counted
from shallows.uses.report.entries import Entry

#: Shares below this would be shown as 0.0%.
SMALLEST_SHARE = 0.001


def joined(parts: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def percent(share: float) -> str:
    """A share for reading: few digits, and no "0%" for what happened."""
    if 0 < share < SMALLEST_SHARE:
        return "less than 0.1%"
    return f"{share:.0%}" if share in (0.0, 1.0) else f"{share:.1%}"


def regime_sentence(problem: Problem) -> str:
    """Where the width stands in the function space."""
    if not isinstance(problem.activation, Power):
        return f"The activation {problem.activation!r} is no power, so the function space has infinite dimension."
    inputs = problem.n + int(problem.bias)  # with a bias, forms in (1, x)
    place = regime(problem.activation.degree, inputs, problem.width)
    low, high = place.filling
    filling = f"{low}" if low == high else f"between {low} and {high}"
    return (
        f"Width {problem.width} is {place.name}: the functions of such networks have dimension {place.dimension} in a "
        f"space of {place.ambient}; they are thick from width {place.thick} and fill the space from width {filling}."
    )


def chart_sentences(chart: Chart, entries: Sequence[Entry]) -> list[str]:
    """How many points of which kind, how complete, how certified."""
    kinds = joined([counted(count, kind) for kind, count in chart.kinds().items()])
    sentences = [f"The loss has {_listed(chart)}: {kinds}.{_lower_sentence(entries)}"]
    isolated = " isolated points" if chart.families else ""
    ranks = [
        f"{chart.complex_count[rank]}{isolated} over the complex numbers at rank {rank}, {chart.real_count[rank]} of "
        "them real"
        for rank in sorted(chart.complex_count)
        if rank
    ]
    if ranks:
        sentences.append(f"There are {'; '.join(ranks)}.")
    sentences.append(f"Completeness is “{chart.completeness}”: {completeness_words(chart)}.")
    sentences.append(_proof_sentence(entries))
    for family in chart.families:
        sentences.append(
            f"A family of dimension {family.dimension} and rank {family.rank} has loss {family.loss:.8g} "
            f"({'numerical' if family.certificate is None else 'proved'}): {family.description}."
        )
    return sentences


def completeness_words(chart: Chart) -> str:
    """What is proved of the list, and of which networks: exclusion proves it for all, or for those in its scope."""
    words = COMPLETENESS[chart.completeness]
    if chart.method == "exclusion":
        words = "interval arithmetic excludes every direction in which there could be another critical point"
        if chart.completeness != "proved":
            words = "interval arithmetic has not excluded all directions, so that there may be further critical points"
    return f"{words}. The list is of {chart.scope}" if chart.scope else words


def _lower_sentence(entries: Sequence[Entry]) -> str:
    """What is to be known of saddles of lower rank, which may have index 0."""
    count = sum(entry.lower for entry in entries)
    if not count:
        return ""
    one = count == 1
    zero = one and next(entry for entry in entries if entry.lower).rank == 0
    who = f"{counted(count, 'saddle')}{', the zero network, has' if zero else ' has' if one else ' have'}"
    them = "it" if one else "each of them"
    return f" {who} a lower rank than the width: a further neuron leads down from {them}, whatever its index."


def _listed(chart: Chart) -> str:
    """ "3 real critical points and a family of them"."""
    points = counted(len(chart.points), "real critical point")
    if not chart.families:
        return points
    families = counted(len(chart.families), "family")
    return f"{points} and {families} of them" if len(chart.points) else f"{families} of real critical points"


def _proof_sentence(entries: Sequence[Entry]) -> str:
    count = Counter(entry.proof for entry in entries)
    full, some, total = count["point and signature"], count["point"], len(entries)
    if full == total:
        return "Every point and its signature are proved in ball or exact arithmetic."
    if not full and not some:
        return "No point is certified: positions and signatures are floating-point results."
    return (
        f"Of {counted(total, 'point')}, {full} are proved with their signature, {some} without it, and "
        f"{count['no']} are floating-point results."
    )


def training_sentences(runs: Ensemble, entries: Sequence[Entry], elsewhere: float) -> list[str]:
    """What share of runs ends where."""
    opening = f"Of {counted(len(runs), 'run')} of {_METHODS.get(runs.method, runs.method)}"
    sentences = []
    by_kind: dict[str, float] = {}
    for entry in entries:
        if entry.share:
            by_kind[entry.kind] = by_kind.get(entry.kind, 0.0) + entry.share
    parts = [f"{percent(share)} end at {_article(kind)}" for kind, share in by_kind.items()]
    sentences.append(f"{opening}, {joined(parts)}." if parts else f"{opening}, none ends at a listed point.")
    if _held_at_saddles(runs, entries):
        sentences.append(
            "Runs that end at a saddle of function space are at points of lower rank, where the Hessian in the "
            "parameters has no negative eigenvalue: an idle neuron has the wrong sign (paper 000, Example 15)."
        )
    if elsewhere:
        sentences.append(f"{percent(elsewhere)} of the runs ended at a point that is not listed.")
    open_ended = 1 - float(runs.ended.mean()) if len(runs) else 0.0
    if open_ended:
        sentences.append(
            f"{percent(open_ended)} of the runs had not ended when their iterations were used up."
        )
    return sentences


def _held_at_saddles(runs: Ensemble, entries: Sequence[Entry]) -> bool:
    """Whether runs end at saddles, all of lower rank and without a negative eigenvalue in the parameters."""
    saddles = [entry for entry in entries if entry.share and entry.kind == "saddle"]
    return bool(saddles) and all(
        entry.rank is not None
        and entry.rank < runs.problem.width
        and entry.eigenvalues is not None
        and float(entry.eigenvalues[0]) >= 0
        for entry in saddles
    )


_METHODS = {"gd": "gradient descent", "perturbed": "perturbed gradient descent", "sgd": "stochastic gradient descent",
            "adam": "Adam", "flow": "gradient flow", "lbfgs": "L-BFGS", "newton": "Newton’s method",
            "lm": "Levenberg–Marquardt"}  # fmt: skip


def _article(kind: str) -> str:
    return {
        "global minimum": "a global minimum",
        "lowest minimum": "the lowest loss found",
        "lowest degenerate minimum": "the lowest loss found",
    }.get(kind, f"a {kind}")
