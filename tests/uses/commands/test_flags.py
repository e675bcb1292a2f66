"""Every command, without exception: the same flags, help with two examples that the command understands."""

import shlex

import pytest
import typer

from shallows.uses.commands import cli

FLAGS = {"--help", "--json", "--out", "--seed", "--quiet", "--debug"}


def command_of(name):
    group = typer.main.get_command(cli.app)
    context = group.make_context("shallows", [], resilient_parsing=True)
    command = group.get_command(context, name)
    return command, typer.Context(command, info_name=name)


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_all_flags_and_two_examples(name, invoke):
    command, context = command_of(name)
    options = {option for parameter in command.get_params(context) for option in parameter.opts}
    needed = FLAGS - {"--seed", "--out"} if name == "warm" else FLAGS  # nothing random, and no result
    assert options >= needed, f"{name} lacks {needed - options}"
    text = " ".join(invoke(name, "--help").output.split())
    _, _, examples = text.partition("Examples:")
    assert examples.count(f"shallows {name}") >= 2
    helped = [parameter for parameter in command.get_params(context) if not getattr(parameter, "help", None)]
    assert not helped, f"{name}: no help for {helped}"


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_examples_are_understood(name):
    command, _ = command_of(name)
    module = __import__(f"shallows.uses.commands.{cli.COMMANDS[name]}", fromlist=["EXAMPLES"])
    for example in module.EXAMPLES:
        program, called, *arguments = shlex.split(example)
        assert (program, called) == ("shallows", name)
        with command.make_context(name, arguments) as context:
            assert context.params


@pytest.mark.parametrize("command", [[], *([name] for name in cli.COMMANDS)])
def test_help_asks_for_no_value_of_a_flag(command, invoke):
    assert "<bool>" not in invoke(*command, "--help").output


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_help_fits_a_narrow_terminal(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    command, context = command_of(name)
    text = command.get_help(context)
    assert max(map(len, text.splitlines())) <= 60
    assert "…" not in text, "a word was cut"


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_a_negative_seed_is_refused_before_any_work(name, invoke):
    arguments = {"ensemble": ["p.toml"], "discriminant": ["ellipse"], "fit": ["d.csv", "--target", "y"]}
    arguments |= {"sweep": ["s.toml"], "explore": ["--no-browser", "--out", "x.html"]}
    assert "--seed" in invoke(name, *arguments.get(name, []), "--seed", "-1", code=2).stderr
