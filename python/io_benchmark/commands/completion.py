# SPDX-License-Identifier: MPL-2.0
"""Print a script that completes commands and options in a shell."""

import argparse
import importlib

from io_benchmark.commands.context import Context

SHELLS = ("bash", "zsh", "tcsh")
USAGE = "SHELL"
EXAMPLES = (
    'eval "$(io-benchmark completion bash)"',
    "io-benchmark completion zsh > ~/.zfunc/_io-benchmark",
)
MANUAL = "index.md"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument(
        "shell", choices=SHELLS, metavar="SHELL", help=f"the shell: {', '.join(SHELLS)}"
    )


def run(arguments: argparse.Namespace, context: Context) -> int:
    import shtab

    context.print(shtab.complete(_build_whole_parser(), arguments.shell))
    return 0


def _build_whole_parser() -> argparse.ArgumentParser:
    """Return a parser of all commands; elsewhere only the called command is loaded."""
    from io_benchmark.cli import COMMANDS

    parser = argparse.ArgumentParser(prog="io-benchmark")
    commands = parser.add_subparsers()
    for name, summary in COMMANDS.items():
        module = importlib.import_module(f"io_benchmark.commands.{name}")
        module.add_arguments(commands.add_parser(name, help=summary))
    return parser
