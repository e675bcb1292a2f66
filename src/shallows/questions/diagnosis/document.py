"""A diagnosis in plain numbers and words, for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from shallows.questions.diagnosis.diagnosis import Diagnosis


def diagnosis_document(diagnosis: Diagnosis) -> dict[str, Any]:
    """What a script wants to know; what is not known is null."""
    return {
        "problem": repr(diagnosis.problem),
        "loss": diagnosis.loss,
        "loss_error": diagnosis.loss_error,
        "zero_loss": diagnosis.zero_loss,
        "lowest_loss": diagnosis.lowest,
        "gradient_norm": diagnosis.gradient_norm,
        "kind": diagnosis.kind,
        "critical_point": _critical(diagnosis),
        "certificate": _certificate(diagnosis),
        "spectrum": _spectrum(diagnosis),
        "chart": _chart(diagnosis),
        "valley": _valley(diagnosis),
        "escape": _escape(diagnosis),
        "notes": list(diagnosis.notes),
    }


def _critical(diagnosis: Diagnosis) -> dict[str, Any] | None:
    critical = diagnosis.critical
    if critical is None:
        return None
    return {
        "distance": critical.distance,
        "loss": critical.loss,
        "gradient_norm": critical.gradient_norm,
        "kind": critical.kind,
        "signature": list(critical.signature),
        "W": critical.network.W.tolist(),
        "a": critical.network.a.tolist(),
        "bias": None if critical.network.bias is None else critical.network.bias.tolist(),
    }


def _certificate(diagnosis: Diagnosis) -> dict[str, Any] | None:
    proof = diagnosis.certificate
    if proof is None:
        return None
    minimum = diagnosis.minimum
    return {
        "radius": proof.radius,
        "signature_certified": proof.signature_certified,
        "method": proof.method,
        "loss_bounds": None if minimum is None else list(minimum.loss_bounds),
        "eigenvalue_bound": None if minimum is None else minimum.eigenvalue_bound,
    }


def _spectrum(diagnosis: Diagnosis) -> dict[str, Any] | None:
    spectrum = diagnosis.spectrum
    if spectrum is None:
        return None
    return {
        "eigenvalues": spectrum.values.tolist(),
        "errors": spectrum.errors.tolist(),
        "proved": spectrum.proved,
        "signature": list(spectrum.signature),
    }


def _chart(diagnosis: Diagnosis) -> dict[str, Any] | None:
    chart, point = diagnosis.chart, diagnosis.point
    if chart is None:
        return None
    near = (
        None
        if point is None
        else {"kind": point.kind, "rank": point.rank, "loss": point.loss, "distance": diagnosis.gap}
    )
    return {"completeness": chart.completeness, "critical_points": len(chart.critical), "nearest": near}


def _valley(diagnosis: Diagnosis) -> dict[str, Any] | None:
    valley = diagnosis.valley
    if valley is None:
        return None
    return {
        "leaf": valley.leaf.number,
        "leaf_loss": valley.leaf.loss,
        "leaves": list(valley.leaves),
        "barrier": valley.barrier if np.isfinite(valley.barrier) else None,
    }


def _escape(diagnosis: Diagnosis) -> dict[str, Any]:
    escape = diagnosis.escape
    document: dict[str, Any] = {"theorem": escape.theorem or None, "reason": escape.reason, "path": None}
    if escape.path is not None:
        first, last = (float(x) for x in escape.path.losses(2))
        document["path"] = {"length": escape.path.length, "from_loss": first, "to_loss": last}
    return document
