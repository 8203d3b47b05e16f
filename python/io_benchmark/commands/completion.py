# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Print a script that completes commands and options in a shell.

For bash: `eval "$(io-benchmark completion bash)"`, or write it to the folder that your shell loads
completions from.
"""

import argparse
import importlib

from io_benchmark.commands.context import Context

SHELLS = ("bash", "zsh", "tcsh")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS)


def run(arguments: argparse.Namespace, context: Context) -> int:
    import shtab

    context.print(shtab.complete(whole_parser(), arguments.shell))
    return 0


def whole_parser() -> argparse.ArgumentParser:
    """Every command with its options; elsewhere only the one that is called is loaded."""
    from io_benchmark.cli import COMMANDS

    parser = argparse.ArgumentParser(prog="io-benchmark")
    commands = parser.add_subparsers()
    for name, what in COMMANDS.items():
        module = importlib.import_module(f"io_benchmark.commands.{name}")
        module.add_arguments(commands.add_parser(name, help=what))
    return parser
