"""A diagnosis as a page of text: one line a question, and what is only sampled at its end."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from shallows.support.checks import counted

if TYPE_CHECKING:
    from shallows.questions.diagnosis.diagnosis import Diagnosis

#: Columns of the page.
WIDTH = 120
#: Columns of the headings.
LABEL = 16


def diagnosis_text(diagnosis: Diagnosis) -> str:
    """The page."""
    lines = [f"Diagnosis: {diagnosis.problem!r}"]
    for name, words in diagnosis_rows(diagnosis):
        lines += textwrap.wrap(
            words,
            WIDTH,
            initial_indent=f"  {name:{LABEL}}",
            subsequent_indent=" " * (LABEL + 2),
            break_long_words=False,
        )
    if diagnosis.notes:
        lines.append("  not proved, or only sampled:")
        for note in diagnosis.notes:
            lines += textwrap.wrap(note, WIDTH, initial_indent="    - ", subsequent_indent="      ")
    return "\n".join(lines)


def diagnosis_rows(diagnosis: Diagnosis) -> list[tuple[str, str]]:
    """What is said, by heading."""
    return [
        ("loss", _loss(diagnosis)),
        ("gradient", _gradient(diagnosis)),
        ("critical point", _critical(diagnosis)),
        ("kind", _kind(diagnosis)),
        ("certificate", _certificate(diagnosis)),
        ("spectrum", "none" if diagnosis.spectrum is None else repr(diagnosis.spectrum)[9:-1]),
        ("chart", _chart(diagnosis)),
        ("valley", _valley(diagnosis)),
        ("escape", _escape(diagnosis)),
    ]


def _loss(diagnosis: Diagnosis) -> str:
    words = f"{diagnosis.loss:.12g}"
    if diagnosis.loss_error:
        words += f" ± {diagnosis.loss_error:.1e}"
    if diagnosis.zero_loss > 0:
        words += f", {diagnosis.loss / diagnosis.zero_loss:.3g} of that of f = 0"
    return words


def _gradient(diagnosis: Diagnosis) -> str:
    return "the loss has none here" if diagnosis.gradient_norm is None else f"{diagnosis.gradient_norm:.3g}"


def _critical(diagnosis: Diagnosis) -> str:
    critical = diagnosis.critical
    if critical is None:
        return "none was reached"
    signs = "{} positive, {} flat, {} negative curvatures".format(*critical.signature)
    return f"{critical.distance:.3g} away, loss {critical.loss:.12g}, {signs}"


def _kind(diagnosis: Diagnosis) -> str:
    words = diagnosis.kind
    if diagnosis.kind == "not critical" and diagnosis.critical is not None:
        words += f"; the point that Newton's method reaches from there is a {diagnosis.critical.kind}"
    if diagnosis.listed is not None:
        words += f"; in function space: {diagnosis.listed.kind}"
    lowest = diagnosis.lowest
    if lowest is None:
        return words + "; the lowest loss of this width is not known"
    return words + f"; the lowest loss of this width is {lowest:.12g}"


def _certificate(diagnosis: Diagnosis) -> str:
    if diagnosis.minimum is not None:
        return repr(diagnosis.minimum).partition(": ")[2][:-1]
    proof = diagnosis.certificate
    if proof is None:
        return "none"
    chart = diagnosis.listed is not None and proof is diagnosis.listed.certificate
    return ("as a point of the chart: " if chart else "") + repr(proof)[len("Certificate(") : -1]


def _chart(diagnosis: Diagnosis) -> str:
    chart = diagnosis.chart
    if chart is None:
        return "none"
    words = f"{counted(len(chart.critical), 'critical point')}, {chart.completeness}"
    if diagnosis.point is not None:
        point = diagnosis.point
        words += (
            f"; nearest in function space, {diagnosis.gap:.3g} away: {point.kind} of rank {point.rank}, loss "
            f"{point.loss:.8g}"
        )
    return words


def _valley(diagnosis: Diagnosis) -> str:
    valley = diagnosis.valley
    if valley is None:
        return "not known"
    words = repr(valley.leaf)[len("Leaf(") : -1]
    others = [str(i) for i in valley.leaves if i != valley.leaf.number]
    if others:
        words += f"; at the height of the weights it is one valley with {', '.join(others)}"
    if valley.height > 0:
        words += f"; to the lowest leaf the loss has to climb by {valley.height:.6g}, to {valley.barrier:.8g}"
    return f"leaf {words}"


def _escape(diagnosis: Diagnosis) -> str:
    escape = diagnosis.escape
    if escape.path is None:
        return f"none: {escape.reason}"
    first, last = escape.path.losses(2)
    return f"{escape.theorem}: {escape.reason}; the loss falls from {first:.8g} to {last:.8g}"
