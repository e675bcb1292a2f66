"""Proofs in ball arithmetic: roots of exact systems, their number, realness and signatures."""

import shallows.certify.copies  # noqa: F401  (results that hold balls can be pickled)
from shallows.certify.collector import Collector
from shallows.certify.krawczyk import CertifiedRoot
from shallows.certify.msolve import real_roots
from shallows.certify.report import Certification, certify
from shallows.certify.signature import Inertia, inertia

__all__ = ["Certification", "CertifiedRoot", "Collector", "Inertia", "certify", "inertia", "real_roots"]
