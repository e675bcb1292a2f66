"""Discriminants and focal loci: where the landscape changes (paper 000, sections 3.2 and 3.3)."""

from shallows.questions.connections.along import trees_along
from shallows.questions.discriminants.activation_family import ActivationDiscriminant, activation
from shallows.questions.discriminants.activation_regions import ActivationRegions, activation_regions
from shallows.questions.discriminants.counting import LandscapeCount, landscape_at
from shallows.questions.discriminants.envelope import FocalCurve, focal_curve
from shallows.questions.discriminants.focal_slices import focal_slice as focal_slice
from shallows.questions.discriminants.following.follow import follow as follow
from shallows.questions.discriminants.following.result import Event, Following
from shallows.questions.discriminants.known import ellipse, rank_one
from shallows.questions.discriminants.loci import FocalCloud
from shallows.questions.discriminants.loci import focal_cloud as focal_cloud
from shallows.questions.discriminants.polynomial import Discriminant, Factor, Factorization, load
from shallows.questions.discriminants.regions import LandscapeRegions, Region, Wall
from shallows.questions.discriminants.regions import landscape_regions as landscape_regions
from shallows.questions.discriminants.signs import SignSlice
from shallows.questions.discriminants.students import CriticalStudent, critical_students
from shallows.questions.discriminants.walls import vertex_curve

# `name as name`: a name of `shallows` itself; older scripts have it from here.
__all__ = [
    "ActivationDiscriminant",
    "ActivationRegions",
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
    "activation",
    "activation_regions",
    "critical_students",
    "ellipse",
    "focal_curve",
    "landscape_at",
    "load",
    "rank_one",
    "trees_along",
    "vertex_curve",
]
