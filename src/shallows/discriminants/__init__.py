"""Discriminants and focal loci: where the landscape changes (paper 000, sections 3.2 and 3.3)."""

from shallows.discriminants.counting import LandscapeCount, landscape_at
from shallows.discriminants.known import ellipse, rank_one
from shallows.discriminants.polynomial import Discriminant, Factor, Factorization
from shallows.discriminants.regions import LandscapeRegions, Region, Wall, landscape_regions
from shallows.discriminants.signs import SignSlice

__all__ = [
    "Discriminant",
    "Factor",
    "Factorization",
    "LandscapeCount",
    "LandscapeRegions",
    "Region",
    "SignSlice",
    "Wall",
    "ellipse",
    "landscape_at",
    "landscape_regions",
    "rank_one",
]
