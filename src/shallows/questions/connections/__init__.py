"""How critical points connect: merge trees of the loss."""
