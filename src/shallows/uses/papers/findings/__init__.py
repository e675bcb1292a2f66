"""Findings: statements that are in none of the four papers, in the form of claims (`shallows verify --findings`)."""

from shallows.uses.papers.findings.bad_cone import bad_cone
from shallows.uses.papers.findings.barrier import barrier
from shallows.uses.papers.findings.bias_minima import bias_minima
from shallows.uses.papers.findings.conic_network import conic_network
from shallows.uses.papers.findings.counts import counts
from shallows.uses.papers.findings.digits import digits
from shallows.uses.papers.findings.four_points import four_points
from shallows.uses.papers.findings.kurtosis import real_points
from shallows.uses.papers.findings.norm_sums import norm_sums
from shallows.uses.papers.findings.off_centre import off_centre
from shallows.uses.papers.findings.origin import origin
from shallows.uses.papers.findings.plane_cubics import plane_cubics
from shallows.uses.papers.findings.turned_pair import turned_pair
from shallows.uses.papers.findings.wide_valleys import wide_valleys

CLAIMS = (
    turned_pair, origin, conic_network, plane_cubics, bad_cone, wide_valleys, norm_sums, barrier, counts, four_points,
    real_points, bias_minima, digits, off_centre,
)  # fmt: skip
