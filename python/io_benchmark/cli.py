# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The command line: parses, dispatches, and turns errors into one line and an exit code.

A command's module is imported only when it is called, so that help stays quick.
"""

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import NoReturn

from io_benchmark import __version__
from io_benchmark.errors import IoBenchmarkError, explain_os_error
from io_benchmark.interruption import Terminated, interruptions
from io_benchmark.printing import standard_streams
from io_benchmark.text import clean

COMMANDS = {
    "rehearse": "run the tasks' own commands on this machine and compare them",
    "compare": "compare pools, or two pushes: which is slower, how sure, and why",
    "history": "follow a pool over time: its level, and what changed where it does",
    "fetch": "download results from Taskcluster",
    "submit": "create the tasks in a Taskcluster from here, wait, and compare",
    "firefox": "put the benchmark's kind into a Firefox checkout, or check it",
    "script": "write the worker's script as one file, to run it on any machine",
    "completion": "print a shell's completion script",
}
EXIT_INTERRUPTED = 130
# What a shell shows for a program that SIGPIPE has ended.
EXIT_BROKEN_PIPE = 141
MESSAGE_LENGTH = 4000  # some list what there is


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        super().error(clean(message, MESSAGE_LENGTH))


def main(arguments: Sequence[str]) -> int:
    parser = _Parser(
        prog="io-benchmark",
        description="Which worker pool is slower, by how much, how sure that is, and why.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="commands:\n"
        + "".join(f"  {name:<12}{what}\n" for name, what in COMMANDS.items())
        + "\n'io-benchmark COMMAND --help' tells more.",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    parser.add_argument("command", choices=COMMANDS, metavar="COMMAND", help="see below")
    known = arguments[:1]
    command = parser.parse_args(known).command
    module = importlib.import_module(f"io_benchmark.commands.{command}")
    sub_parser = _Parser(
        prog=f"io-benchmark {command}",
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.add_arguments(sub_parser)
    result: int = module.run(sub_parser.parse_args(arguments[1:]))
    return result


def console_main() -> int:
    with standard_streams() as stdout:
        status = _status(sys.argv[1:])
        try:
            sys.stdout.flush()
        except KeyboardInterrupt:  # its reader neither reads nor goes
            stdout.drop()
            return EXIT_INTERRUPTED
        if stdout.failure is None:
            return status
        if isinstance(stdout.failure, BrokenPipeError):
            # Its reader has seen enough (head, less): quiet, as other programs.
            return status or EXIT_BROKEN_PIPE
        return _failed(f"cannot write to stdout: {stdout.failure.strerror}", status or 1)


def _status(arguments: Sequence[str]) -> int:
    try:
        with interruptions():
            return main(arguments)
    except SystemExit as stopped:  # argparse has printed help or what is wrong
        return stopped.code if isinstance(stopped.code, int) else 0
    except IoBenchmarkError as error:
        return _failed(str(error), error.exit_code)
    except OSError as error:
        # What no layer below could say more about.
        return _failed(explain_os_error(error))
    except KeyboardInterrupt as interruption:
        print("stopped", file=sys.stderr)
        return interruption.exit_code if isinstance(interruption, Terminated) else EXIT_INTERRUPTED


def _failed(message: str, code: int = 1) -> int:
    # Names come from anywhere, and a newline in one must not look like a second message.
    print(f"error: {clean(' '.join(message.splitlines()), MESSAGE_LENGTH)}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(console_main())
