"""Every zero of a system in a region: interval branch and prune, with the boxes that stay undecided."""
