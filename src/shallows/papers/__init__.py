"""The four papers as code that runs: claims to verify, and experiments to reproduce."""

from shallows.papers.claim import Claim, Evidence
from shallows.papers.library import PAPERS, Paper, claims, find_claims

__all__ = ["PAPERS", "Claim", "Evidence", "Paper", "claims", "find_claims"]
