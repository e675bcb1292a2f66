"""Charts by msolve: an engine that shares nothing with homotopy."""
