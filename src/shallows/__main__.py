"""`python -m shallows` is the command line."""

from shallows.uses.commands.cli import main

main()
