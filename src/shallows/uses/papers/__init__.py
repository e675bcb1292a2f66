"""The four papers as code that runs: claims to verify, and experiments to reproduce."""
