"""Mathematics of use without networks: tensors, ball arithmetic, exact arithmetic, homotopy continuation."""
