"""What is proved about a fit: optimality gaps and bounds in ball arithmetic."""
