# SPDX-License-Identifier: MPL-2.0
"""The command line: parse it, run the command, turn errors into one line and an exit code.

A command's module is imported only when it is called, so that --help is quick.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from io_benchmark.command_lines import write_script
from io_benchmark.commands.options.option import Given, check_options
from io_benchmark.commands.options.parsers import COMMANDS, command_parser, main_parser
from io_benchmark.context import MESSAGE_LENGTH, Context
from io_benchmark.errors import IoBenchmarkError
from io_benchmark.process import Terminated, interruptions, replace_standard_streams
from io_benchmark.suggestions import did_you_mean
from io_benchmark.text import clean, clean_name

# Packages of extras; reading results of this machine needs none of them.
OF_EXTRAS = ("aiohttp", "io_benchmark_taskgraph", "shtab", "slugid", "taskcluster", "taskgraph")
# The worker's program as one file, and its commands
FILE = "io-benchmark.pyz"
OF_THE_FILE = ("run", "measure")
EXIT_INTERRUPTED = 130
# What a shell shows for a program that SIGPIPE has ended.
EXIT_BROKEN_PIPE = 141


def console_main() -> int:
    """Run the command of this process, on its streams, so that every signal cleans up."""
    # numpy would start a thread per CPU, and no matrix here is large enough for two.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    output = replace_standard_streams()
    context = Context(sys.stdin, sys.stdout, sys.stderr, os.environ)
    status = main(sys.argv[1:], context, interruptions())
    try:
        sys.stdout.flush()
    except KeyboardInterrupt:  # its reader neither reads nor goes; nothing more is written
        output.failure = InterruptedError()
        return EXIT_INTERRUPTED
    if output.failure is None:
        return status
    if isinstance(output.failure, BrokenPipeError):
        # Its reader has seen enough (head, less): quiet, as other programs.
        return status or EXIT_BROKEN_PIPE
    return _fail(context, f"cannot write to stdout: {output.failure.strerror}", status or 1)


def main(
    arguments: Sequence[str], context: Context, signals: AbstractContextManager[None] | None = None
) -> int:
    """Run a command, with signals handled in this way, and return its exit code."""
    try:
        with signals or nullcontext():
            return _dispatch(arguments, context)
    except SystemExit as stopped:  # argparse has printed help or what is wrong
        return stopped.code if isinstance(stopped.code, int) else 0
    except IoBenchmarkError as error:
        return _fail(context, str(error), error.exit_code)
    except ModuleNotFoundError as missing:
        package = str(missing.name).partition(".")[0]
        if package not in OF_EXTRAS:
            raise
        advice = "install io-benchmark[all], such as by: pipx install --force 'io-benchmark[all]'"
        return _fail(context, f"this needs the package {package}; {advice}")
    except OSError as error:
        # What no layer below could say more about.
        path = f"{error.filename}: " if isinstance(error.filename, str) else ""
        return _fail(context, f"{path}{error.strerror or error}")
    except KeyboardInterrupt as interruption:
        context.stderr.write("stopped\n")
        return interruption.exit_code if isinstance(interruption, Terminated) else EXIT_INTERRUPTED


def _dispatch(arguments: Sequence[str], context: Context) -> int:
    parser = main_parser(context)
    parser.add_argument("command", metavar="COMMAND", help=argparse.SUPPRESS)
    command = parser.parse_args(arguments[:1]).command
    if command not in COMMANDS:
        parser.error(_unknown_command(command))
    module = importlib.import_module(f"io_benchmark.commands.{command}")
    given = Given(vars(command_parser(command, context).parse_args(arguments[1:])))
    check_options(module.OPTIONS, given)
    return int(module.run(given, context))


def _unknown_command(word: str) -> str:
    if word in OF_THE_FILE:
        return (
            f"{word} is a command of the one file that measures a machine; write the file by "
            f"{write_script(FILE)}, and run python3 {FILE} {word}"
        )
    hint = did_you_mean(word, COMMANDS) or "; io-benchmark --help lists them"
    return f"{clean_name(word)!r} is not a command{hint}"


def _fail(context: Context, message: str, code: int = 1) -> int:
    # Names come from anywhere, and a newline in one must not look like a second message.
    line = clean(" ".join(message.splitlines()), MESSAGE_LENGTH)
    context.stderr.write(f"error: {line}\n")
    return code


if __name__ == "__main__":
    sys.exit(console_main())
