"""Descents that run whole in compiled code; the slow twins are in `methods`."""
