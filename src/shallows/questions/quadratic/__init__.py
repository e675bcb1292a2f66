"""Quadratic networks (papers 001 and 002): barriers, sample thresholds, certificates, spurious minima.

| question | tool |
| --- | --- |
| how low can a rank-deficient network get? | `energy_barrier` |
| do these samples determine the network? | `spans_symmetric`, `sample_threshold`, `prime_points` |
| which networks fit the samples and are wrong? | `bad_interpolator`, `generalisation_jump` |
| does W₀ᵀW₀ = γI start below the barrier? | `start_probability` |
| what is the best quadratic function? | `convex_optimum` |
| is this point global, a trap, a strict saddle? | `inspect`, `equivalent_set` |
| how do the three variants of paper 002 train? | `plain`, `with_norm`, `with_orthogonality`, `train`, `success_rate` |
| and the theorems on the orthogonality penalty? | `fit_orthogonal`, `eigendecompose` |
| and with several outputs? | `basis_network`, `fit_blocks` |
"""
