"""What every storey uses: errors, checks, seeds, progress, cores, files, colours, tolerances."""
