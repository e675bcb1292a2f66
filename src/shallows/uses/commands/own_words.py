"""The library's sentences in the words of the command line: `method="descent"` is `--method descent` there.

Messages name the arguments of functions. On the command line these are options, and keys of the problem file:

    method="descent"    --method descent                            an option of the command that runs
    certify=False       --no-certify                                one that is a flag
    rng=0               --seed 0
    outer="free"        outer = "free" in the problem file          where the command reads one
    sh.ensemble         shallows ensemble                           a function that is a command
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

#: An argument with its value, as messages write it.
_ARGUMENT = re.compile(r"""\b([a-z_]+)=("[^"]*"|'[^']*'|True|False|-?\d[\d.e+-]*\d|\d)""")
QUOTES = "\"'"
#: A sentence that begins with what an argument is.
_SUBJECT = re.compile(r"^([a-z_]+)(?= is )")
#: Arguments that the command line calls otherwise.
_OPTION_OF = {"rng": "seed"}
#: Arguments of `Problem` that are keys of a problem file.
_KEYS = {"width", "activation", "outer", "norm_neuron", "orthogonality"}


def on_the_command_line(
    text: str, options: Mapping[str, str], commands: Collection[str] = (), reads_problem: bool = False
) -> str:
    """The sentence with arguments written as options (`options`: the flag of each) or as keys of the problem file.

    >>> on_the_command_line('Use method="descent".', {"method": "--method"})
    'Use --method descent.'
    """

    def argument(found: re.Match[str]) -> str:
        name, value = _OPTION_OF.get(found[1], found[1]), found[2]
        if name in options:
            flag = options[name]
            if value in ("True", "False"):
                return flag if value == "True" else flag.replace("--", "--no-", 1)
            return f"{flag} {value.strip(QUOTES)}"
        if reads_problem and name in _KEYS:
            return f"{name} = {value.lower() if value in ('True', 'False') else value} in the problem file"
        return found[0]

    def subject(found: re.Match[str]) -> str:
        return options.get(_OPTION_OF.get(found[1], found[1]), found[0])

    text = _SUBJECT.sub(subject, _ARGUMENT.sub(argument, text))
    if commands:
        text = re.sub(rf"\bsh\.({'|'.join(commands)})\b(\(problem\))?", r"shallows \1", text)
    return text
