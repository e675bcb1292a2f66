"""The landscape of shallow ReLU networks (paper 003): certificates, symmetric families, geometry, splitting."""
