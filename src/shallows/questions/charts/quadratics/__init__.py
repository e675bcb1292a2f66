"""Networks of two and more quadratic neurons a(αz² + βz + γ) of which the power in one input more is no model."""
