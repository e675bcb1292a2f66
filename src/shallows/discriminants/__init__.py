"""Discriminants and focal loci: where the landscape changes (paper 000, sections 3.2 and 3.3)."""

from shallows.discriminants.counting import LandscapeCount, landscape_at
from shallows.discriminants.envelope import FocalCurve, focal_curve
from shallows.discriminants.focal_slices import focal_slice
from shallows.discriminants.follow import Event, Following, follow
from shallows.discriminants.known import ellipse, rank_one
from shallows.discriminants.loci import FocalCloud, focal_cloud
from shallows.discriminants.polynomial import Discriminant, Factor, Factorization
from shallows.discriminants.regions import LandscapeRegions, Region, Wall, landscape_regions
from shallows.discriminants.signs import SignSlice
from shallows.discriminants.storage import load
from shallows.discriminants.students import CriticalStudent, critical_students
from shallows.discriminants.walls import vertex_curve

__all__ = [
    "CriticalStudent",
    "Discriminant",
    "Event",
    "Factor",
    "Factorization",
    "FocalCloud",
    "FocalCurve",
    "Following",
    "LandscapeCount",
    "LandscapeRegions",
    "Region",
    "SignSlice",
    "Wall",
    "critical_students",
    "ellipse",
    "focal_cloud",
    "focal_curve",
    "focal_slice",
    "follow",
    "landscape_at",
    "landscape_regions",
    "load",
    "rank_one",
    "vertex_curve",
]
