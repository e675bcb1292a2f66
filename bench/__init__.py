"""Speed as ratios, one file a question; `make bench` runs them all in one process, one thread."""
