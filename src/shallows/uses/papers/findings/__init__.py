"""Findings: statements that are in none of the four papers, in the form of claims (`shallows verify --findings`)."""

from shallows.uses.papers.findings.barrier import barrier
from shallows.uses.papers.findings.origin import origin
from shallows.uses.papers.findings.turned_pair import turned_pair

CLAIMS = (turned_pair, origin, barrier)
