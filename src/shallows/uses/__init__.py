"""Uses: reports, the explorer, sweeps, the papers, the command line."""
