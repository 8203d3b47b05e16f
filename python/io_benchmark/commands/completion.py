# SPDX-License-Identifier: MPL-2.0
"""Print what completes command lines of io-benchmark in bash, zsh or fish.

Redirect it into the file that your shell reads:
  bash  ~/.local/share/bash-completion/completions/io-benchmark
  zsh   _io-benchmark in a folder of $fpath
  fish  ~/.config/fish/completions/io-benchmark.fish
Needs io-benchmark[all].

Exit code: 0 printed, 1 failed, 2 wrong usage.
"""

import argparse
from functools import partial
from importlib import import_module
from typing import Any

from io_benchmark.commands.options.option import Given, add_options, required
from io_benchmark.commands.options.values import parse_name
from io_benchmark.context import Context

USAGE = "SHELL"
EXAMPLES = ("io-benchmark completion bash", "io-benchmark completion zsh")
MANUAL = "index.md"
SHELLS = ("bash", "zsh", "fish")
SHELL = required("shell", "SHELL", "bash, zsh or fish", parse_name, choices=SHELLS)
OPTIONS = {"output": (SHELL,)}
# The names in the help of values that are completed as files, and as folders.
FILES = ("ADDRESS", "FILE", "PROFILE")
FOLDERS = ("DIR", "PATH")


def run(given: Given, context: Context) -> int:
    import shtab

    context.stdout.write(shtab.complete(_whole_parser(context), given[SHELL]))
    return 0


def _whole_parser(context: Context) -> argparse.ArgumentParser:
    """Return one parser of all commands, in which values are marked that are files or folders."""
    import shtab

    from io_benchmark.commands.options.parsers import COMMANDS, CommandParser, main_parser

    parser = main_parser(context)
    # Any callable will do; argparse's own types want a class.
    parser_class: Any = partial(CommandParser, context)
    commands = parser.add_subparsers(parser_class=parser_class)
    for name, summary in COMMANDS.items():
        options = import_module(f"io_benchmark.commands.{name}").OPTIONS
        for action in add_options(commands.add_parser(name, help=summary), options):
            if action.metavar in FILES:
                action.complete = shtab.FILE  # type: ignore[attr-defined] # read by shtab
            elif action.metavar in FOLDERS:
                action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    return parser
