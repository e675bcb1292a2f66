"""Proofs in ball arithmetic: roots of exact systems, their number, realness and signatures."""

from shallows.mathematics.balls.certification import Certification, certify
from shallows.mathematics.balls.collector import Collector
from shallows.mathematics.balls.inertia import Inertia, inertia
from shallows.mathematics.balls.krawczyk import CertifiedRoot
from shallows.mathematics.exact.msolve import real_roots
from shallows.mathematics.homotopy.double_roots import DoubleRoot, double_root

__all__ = [
    "Certification",
    "CertifiedRoot",
    "Collector",
    "DoubleRoot",
    "Inertia",
    "certify",
    "double_root",
    "inertia",
    "real_roots",
]
