"""Charts of networks with several outputs: students Σ aᵢ ⊗ wᵢ^⊗d, one metric for every output."""
