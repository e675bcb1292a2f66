"""The compiled loops of the ReLU kernel; their slow NumPy twin is `relu.ReLUKernel`."""
