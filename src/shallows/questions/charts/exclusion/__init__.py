"""Charts of ReLU networks by exclusion: every critical point, proved by interval arithmetic over directions."""
