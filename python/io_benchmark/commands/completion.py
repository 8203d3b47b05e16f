# SPDX-License-Identifier: MPL-2.0
"""Print a script that completes commands and options in a shell."""

import argparse
import importlib

from io_benchmark.commands.context import Context
from io_benchmark.commands.option_table import Given, add_options, option

SHELLS = ("bash", "zsh", "tcsh")
USAGE = "SHELL"
EXAMPLES = (
    'eval "$(io-benchmark completion bash)"',
    "io-benchmark completion zsh > ~/.zfunc/_io-benchmark",
)
MANUAL = "how-to.md"


OPTIONS = {
    "output": (
        option("shell", choices=SHELLS, metavar="SHELL", help=f"the shell: {', '.join(SHELLS)}"),
    ),
}


def run(given: Given, context: Context) -> int:
    import shtab

    context.print(shtab.complete(build_whole_parser(), given["shell"]))
    return 0


def build_whole_parser() -> argparse.ArgumentParser:
    """Return a parser of all commands; elsewhere only the called command is loaded."""
    from io_benchmark.cli import COMMANDS

    parser = argparse.ArgumentParser(prog="io-benchmark")
    commands = parser.add_subparsers()
    for name, summary in COMMANDS.items():
        module = importlib.import_module(f"io_benchmark.commands.{name}")
        add_options(commands.add_parser(name, help=summary), module.OPTIONS)
    return parser
