"""The command line as Markdown, read from the commands themselves."""

from __future__ import annotations

from typing import Any

import typer.main


def commands() -> str:
    """A section a command: what it does, its arguments and options, its examples."""
    from shallows.uses.commands.cli import COMMANDS, app

    group: Any = typer.main.get_command(app)
    parts = [_section(group, name) for name in COMMANDS]
    return "\n".join(parts)


def _section(group: Any, name: str) -> str:
    from importlib import import_module

    from shallows.uses.commands.cli import COMMANDS

    context = group.make_context("shallows", [], resilient_parsing=True)
    command = group.get_command(context, name)
    module = import_module(f"shallows.uses.commands.{COMMANDS[name]}")
    examples = "\n".join(getattr(module, "EXAMPLES", ()))
    pieces = [piece.strip("{}").upper() for piece in command.collect_usage_pieces(context)]
    usage = " ".join(["shallows", name, *pieces])
    lines = [
        f"(command-{name})=",
        f"## shallows {name}",
        "",
        command.help or "",
        "",
        f"```text\n{usage}\n```",
        "",
    ]
    lines += _table(command, context)
    if examples:
        lines += ["", f"```sh\n{examples}\n```"]
    return "\n".join([*lines, ""])


def _table(command: Any, context: Any) -> list[str]:
    rows = []
    for parameter in command.get_params(context):
        if parameter.name == "help":
            continue
        if parameter.param_type_name == "argument":
            name = f"`{parameter.name.upper()}`"
        else:
            name = ", ".join(f"`{option}`" for option in [*parameter.opts, *parameter.secondary_opts])
        rows.append(f"| {name} | {_cell(parameter.help)} | {_default(parameter)} |")
    return ["| | what it does | default |", "| --- | --- | --- |", *rows] if rows else []


def _cell(text: str | None) -> str:
    return (text or "").replace("|", "\\|").replace("\n", " ")


def _default(parameter: Any) -> str:
    value = parameter.default
    return "" if value is None or value is False or callable(value) or value == () else f"`{value}`"
