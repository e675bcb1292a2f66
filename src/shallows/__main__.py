"""`python -m shallows` is the command line."""

from shallows.cli import main

main()
