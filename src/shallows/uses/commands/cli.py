"""The command line: `shallows COMMAND`, one file a command in `uses.commands`, loaded when it is called."""

from __future__ import annotations

import io
import os
import shutil
import sys
import traceback
from contextlib import nullcontext
from copy import copy
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from shallows.support.errors import IncompleteChart, MissingExtra, NotConverged, ShallowsError
from shallows.support.version import __version__
from shallows.uses.commands._common import (
    ANSWER_IS_NO,
    BAD_INPUT,
    BUG,
    INTERRUPTED,
    MISSING,
    NARROW,
    READER_GONE,
    WRITTEN,
    Interrupted,
)

#: Command -> the module of `uses.commands` with a function of that name (and `EXAMPLES`, two or more lines).
COMMANDS = {
    "chart": "chart",
    "connections": "connections",
    "diagnose": "diagnose",
    "ensemble": "ensemble",
    "discriminant": "discriminant",
    "verify": "verify",
    "reproduce": "reproduce",
    "fit": "fit",
    "sweep": "sweep",
    "explore": "explore",
    "new": "new",
    "doctor": "doctor",
    "warm": "warm",
}
DEBUG_HELP = "Show a traceback before the sentence of an error; may stand anywhere on the line."


class ReaderGone(Exception):
    """Nobody reads stdout any more: `shallows chart | head -1`."""


class Printed(io.TextIOWrapper):
    """stdout; a closed pipe behind it is `ReaderGone`, which rich and typer pass on: BrokenPipeError they exit 1 at."""

    def write(self, text: str) -> int:
        """Write, unless nobody reads."""
        try:
            return super().write(text)
        except BrokenPipeError:
            raise ReaderGone from None

    def flush(self) -> None:
        """Send what waits, unless nobody reads."""
        try:
            super().flush()
        except BrokenPipeError:
            raise ReaderGone from None


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

    def invoke(self, ctx: Any) -> Any:
        """Run the command; under --quiet, nothing that it calls draws a progress bar. Errors speak of options."""
        from shallows.support.progress import silent

        with silent() if ctx.params.get("quiet") else nullcontext():
            try:
                return super().invoke(ctx)
            except ShallowsError as error:
                error.args = (self._in_its_words(str(error)), *error.args[1:])
                raise

    def _in_its_words(self, text: str) -> str:
        """A message of the library, with the options of this command where it names arguments."""
        from shallows.uses.commands.own_words import on_the_command_line

        options = {option.name: option.opts[0] for option in self.params if option.opts[0].startswith("--")}
        return on_the_command_line(
            text,
            options,
            COMMANDS,
            reads_problem=self.name in ("chart", "connections", "diagnose", "ensemble"),
        )


class LazyGroup(PlainFlags, TyperGroup):
    """A group whose commands are imported when somebody asks for them."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The commands in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """One command, or None when there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"shallows.uses.commands.{COMMANDS[cmd_name]}")
        single = typer.Typer(add_completion=False, rich_markup_mode=help_style())
        single.command(name=cmd_name, cls=PlainCommand, epilog=examples_text(module))(
            getattr(module, cmd_name)
        )
        command = typer.main.get_command(single)
        command.params += [_not_passed_on(option) for option in self.params if option.name == "debug"]
        return command

    def invoke(self, ctx: Any) -> Any:
        """Run a command; at Ctrl-C and at a broken pipe (not stdout's) typer would exit without a word."""
        WRITTEN.clear()
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted(_written()) from None
        except BrokenPipeError as error:
            raise RuntimeError(f"a pipe to another process broke: {error}") from error


def _not_passed_on(option: Any) -> Any:
    """An option of the group as one of a command's, whose function knows nothing of it: `main` reads it."""
    twin = copy(option)
    twin.expose_value = False
    return twin


def _written() -> str:
    """What an interrupted command leaves behind."""
    return f"written before that: {', '.join(map(str, WRITTEN))}" if WRITTEN else "nothing was written"


def help_style() -> Any:
    """Frames around help where there is room for them; in a narrow terminal they would leave a few letters a line."""
    return None if shutil.get_terminal_size().columns < NARROW else "rich"


def examples_text(module: Any) -> str:
    """The end of a command's help: its examples, a line each."""
    lines = getattr(module, "EXAMPLES", ())
    return "\n\n".join(["Examples:", *(f"  {line}" for line in lines)]) if lines else ""


app = typer.Typer(cls=LazyGroup, no_args_is_help=True, pretty_exceptions_enable=False)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"shallows {__version__}")
        raise typer.Exit


@app.callback()
def _shallows(
    version: bool = typer.Option(
        False, "--version", help="Print the version and exit.", is_eager=True, callback=_print_version
    ),
    debug: bool = typer.Option(False, "--debug", help=DEBUG_HELP),
) -> None:
    """The loss landscapes of shallow neural networks.

    Exit status: 0 done, 1 the answer is no or not complete, 2 the input is wrong,
    3 something is not installed, 4 a bug, 130 interrupted.
    """


def main() -> None:
    """Run the command line; an error is a sentence on stderr and an exit status, a traceback only with --debug."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    debug = len(arguments) < len(sys.argv) - 1
    sys.stdout = _watched(sys.stdout)
    try:
        try:
            app(args=arguments)
        finally:
            sys.stdout.flush()
    except ReaderGone:
        _leave_quietly()
    except Interrupted as interrupt:
        fail(f"interrupted; {interrupt}", INTERRUPTED)
    except KeyboardInterrupt:
        fail("interrupted before anything was done", INTERRUPTED)
    except Exception as error:
        if debug:
            traceback.print_exc()
        fail(sentence(error), status_of(error))


def _watched(stdout: Any) -> Printed:
    """The same stream, watched for a reader that goes away; nowhere, if the caller closed it."""
    if stdout is None:
        stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  (it is stdout until the program ends)
    encoding, errors, lines = stdout.encoding, stdout.errors, stdout.line_buffering
    return Printed(stdout.detach(), encoding=encoding, errors=errors, line_buffering=lines)


def _leave_quietly() -> None:
    """End as a program does that the closed pipe killed; what waits in the buffer goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(READER_GONE)


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
