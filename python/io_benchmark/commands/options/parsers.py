# SPDX-License-Identifier: MPL-2.0
"""The parsers of the command line: of a command, and of all commands together.

A command's module is imported only where its options are needed, so that --help is quick.
"""

import argparse
import importlib
from functools import partial
from typing import Any, NoReturn

from io_benchmark import __version__
from io_benchmark.commands.options.option import add_options
from io_benchmark.context import MESSAGE_LENGTH, Context
from io_benchmark.suggestions import did_you_mean
from io_benchmark.text import clean, clean_name

COMMANDS = {
    "investigate": "from a slow task's address to what to change",
    "rehearse": "run the tasks' commands on this machine and compare the results",
    "compare": "compare pools, or two pushes: which is slower, how sure, and why",
    "tasks": "compare how long real tasks take on several pools, and their cost",
    "phases": "show where the time of tasks went, by their logs",
    "history": "show a pool's results over time and where their level changes",
    "fleet": "show all pools: what each can do, what it costs, when it changed",
    "predict": "how long a profiled task would take on each pool",
    "fetch": "download results from Taskcluster",
    "submit": "create the tasks on Taskcluster without a push, wait, and compare",
    "init": "put the benchmark's kind into a project that uses taskgraph",
    "firefox": "install the benchmark's kind in a Firefox checkout",
    "script": "write the worker's script to one file that runs on any machine",
    "completion": "print what completes command lines in bash, zsh or fish",
}
# The pages of taskcluster/docs, which an installation has no copy of.
MANUAL = "https://mozilla-releng.github.io/io-benchmark/"
EXIT_USAGE = 2


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Names an option's value once: `-j, --jobs NAME`."""

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        value = self._format_args(action, self._get_default_metavar_for_optional(action))
        return f"{', '.join(action.option_strings)} {value}"

    def _format_args(self, action: argparse.Action, default_metavar: str) -> str:
        if action.nargs == argparse.ONE_OR_MORE:
            return f"{action.metavar or default_metavar} ..."
        return super()._format_args(action, default_metavar)


class CommandParser(argparse.ArgumentParser):
    """Writes to the context's streams."""

    def __init__(self, context: Context, **settings: Any) -> None:
        self._context = context  # first: argparse formats something in its __init__
        # The texts about options begin in column 27.
        formatter = partial(_HelpFormatter, max_help_position=27)
        super().__init__(formatter_class=formatter, add_help=False, **settings)
        # Not listed: a reader of the help knows the option.
        self.add_argument("-h", "--help", action="help", help=argparse.SUPPRESS)

    def format_help(self) -> str:
        """Return the help without an empty line below the usage: 40 lines are a screen."""
        return super().format_help().replace("\n\n", "\n", 1)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse after a look at the options: a misspelt one must not end as a missing argument."""
        for word in args or ():
            if word == "--":  # all after it are arguments
                break
            name = word.partition("=")[0]
            if not name.startswith("--") or " " in name:
                continue
            # As argparse: the end of a name may be left out.
            known = list(self._option_string_actions)
            if not any(option.startswith(name) for option in known):
                self.error(f"{clean_name(name)} is not an option{did_you_mean(name, known)}")
        return super().parse_known_args(args, namespace)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            choices = [str(choice) for choice in action.choices]
            problem = f"{value!r} is not one of {', '.join(choices)}"
            raise argparse.ArgumentError(action, problem + did_you_mean(str(value), choices))

    def _print_message(self, message: str, _file: object = None) -> None:
        """Print help or the version; `error` below writes mistakes itself."""
        self._context.stdout.write(message)

    def error(self, message: str) -> NoReturn:
        line = clean(message, MESSAGE_LENGTH)
        self._context.stderr.write(f"{self.format_usage()}{self.prog}: error: {line}\n")
        raise SystemExit(EXIT_USAGE)


def main_parser(context: Context) -> argparse.ArgumentParser:
    """Return the parser of what comes before a command."""
    parser = CommandParser(
        context,
        prog="io-benchmark",
        usage="io-benchmark COMMAND [OPTION ...]",
        description="Which worker pool is slower, by how much, how sure that is, and why.",
        epilog="commands:\n"
        + "".join(f"  {name:<12}{summary}\n" for name, summary in COMMANDS.items())
        + "\nio-benchmark COMMAND --help shows the options of a command.\n"
        + f"Manual: {MANUAL}",
    )
    # The first part of a version is the same in all distributions that read each other's results.
    readable = f"{__version__.partition('.')[0]}.x"
    parser.add_argument(
        "--version",
        action="version",
        version=f"%(prog)s {__version__} reads results of io-benchmark-taskgraph {readable}",
        help="print the version, and which results it reads",
    )
    return parser


def command_parser(command: str, context: Context) -> argparse.ArgumentParser:
    module = importlib.import_module(f"io_benchmark.commands.{command}")
    examples = "".join(f"  {example}\n" for example in module.EXAMPLES)
    # The site's first page is the index.
    page = module.MANUAL.removesuffix("index.md").replace(".md", "/")
    parser = CommandParser(
        context,
        prog=f"io-benchmark {command}",
        usage=f"io-benchmark {command} {module.USAGE}",
        description=module.__doc__,
        epilog=f"examples:\n{examples}\nManual: {MANUAL}{page}",
    )
    add_options(parser, module.OPTIONS)
    return parser
