"""Data: one distribution (or metric) a file, each with its Gram matrices on Sym^d(R^n) and its samples."""
