"""Proofs in ball arithmetic: roots of exact systems, their number, realness and signatures."""

from shallows.mathematics.balls.certification import Certification, certify
from shallows.mathematics.balls.collector import Collector
from shallows.mathematics.balls.inertia import Inertia, inertia
from shallows.mathematics.balls.krawczyk import CertifiedRoot
from shallows.mathematics.exact.msolve import real_roots

__all__ = [
    "Certification",
    "CertifiedRoot",
    "Collector",
    "Inertia",
    "certify",
    "inertia",
    "real_roots",
]
