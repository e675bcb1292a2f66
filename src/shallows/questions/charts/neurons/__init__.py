"""Critical sums Σ aᵢ ψ(wᵢ) of neurons that are no powers: polynomial activations, a trained or fixed, many outputs."""
