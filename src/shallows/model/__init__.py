"""The model: activation × data → kernel → objective → problem, and problems as files."""
