"""The command line: `shallows COMMAND`, one file a command in `shallows.commands`, loaded when it is called."""

from __future__ import annotations

import sys
import traceback
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from shallows.commands._common import ANSWER_IS_NO, BAD_INPUT, BUG, INTERRUPTED, MISSING
from shallows.errors import IncompleteChart, MissingExtra, NotConverged, ShallowsError

#: Command -> the module of `shallows.commands` with a function of that name (and `EXAMPLES`, two or more lines).
COMMANDS = {
    "chart": "chart",
    "ensemble": "ensemble",
    "discriminant": "discriminant",
    "verify": "verify",
    "reproduce": "reproduce",
    "fit": "fit",
    "sweep": "sweep",
    "explore": "explore",
    "new": "new",
    "doctor": "doctor",
}


class PlainFlags:
    """Help that shows no type beside a flag: `--json <bool>` reads as if a value were wanted."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options of the command, flags without a type."""
        options: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for option in options:
            if getattr(option, "is_flag", False) and option.metavar is None:
                option.metavar = ""
        return options


class PlainCommand(PlainFlags, TyperCommand):
    """A command."""


class LazyGroup(PlainFlags, TyperGroup):
    """A group whose commands are imported when somebody asks for them."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The commands in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """One command, or None when there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"shallows.commands.{COMMANDS[cmd_name]}")
        single = typer.Typer(add_completion=False)
        single.command(name=cmd_name, cls=PlainCommand, epilog=examples_text(module))(
            getattr(module, cmd_name)
        )
        return typer.main.get_command(single)


def examples_text(module: Any) -> str:
    """The end of a command's help: its examples, a line each."""
    lines = getattr(module, "EXAMPLES", ())
    return "\n\n".join(["Examples:", *(f"  {line}" for line in lines)]) if lines else ""


app = typer.Typer(cls=LazyGroup, no_args_is_help=True, pretty_exceptions_enable=False)


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"shallows {version('shallows')}")
        raise typer.Exit


@app.callback()
def _shallows(
    version: bool = typer.Option(
        False, "--version", help="Print the version and exit.", is_eager=True, callback=_print_version
    ),
    debug: bool = typer.Option(False, "--debug", help="Show tracebacks; may stand anywhere on the line."),
) -> None:
    """The loss landscapes of shallow neural networks.

    Exit status: 0 done, 1 the answer is no or not complete, 2 the input is wrong,
    3 something is not installed, 4 a bug, 130 interrupted.
    """


def main() -> None:
    """Run the command line; an error is a sentence on stderr and an exit status, a traceback only with --debug."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    debug = len(arguments) < len(sys.argv) - 1
    try:
        app(args=arguments)
    except KeyboardInterrupt:
        fail("interrupted", INTERRUPTED)
    except Exception as error:
        if debug:
            traceback.print_exc()
        fail(sentence(error), status_of(error))


def status_of(error: Exception) -> int:
    """The exit status an error stands for."""
    if isinstance(error, MissingExtra):
        return MISSING
    if isinstance(error, NotConverged | IncompleteChart):
        return ANSWER_IS_NO
    return BAD_INPUT if isinstance(error, ShallowsError | OSError) else BUG


def sentence(error: Exception) -> str:
    """The error in words; an error that is not ours is called what it is."""
    if isinstance(error, ShallowsError):
        return str(error)
    if isinstance(error, OSError):
        return f"{error.filename or ''}: {error.strerror or error}".lstrip(": ")
    return f"a bug: {type(error).__name__}: {error}. Run again with --debug to see where."


def fail(text: str, status: int) -> None:
    """One sentence on stderr, and out."""
    print(f"shallows: {text}", file=sys.stderr)
    sys.exit(status)
