"""The commands of the command line, one a file; each imports what it needs when it runs."""
