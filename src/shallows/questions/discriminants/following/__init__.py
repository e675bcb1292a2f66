"""Critical points along a path of problems, and the events on it."""
