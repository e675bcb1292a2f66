"""PyTorch and JAX: their functions, modules and losses, each loaded only when it is asked for."""
