"""Charts: results, their text, their picture, their files; no algorithms."""
