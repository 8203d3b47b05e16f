# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The command line: parses, dispatches, and turns errors into one line and an exit code.

A command's module is imported only when it is called, so that help stays quick.
"""

import argparse
import importlib
import io
import os
import sys
from collections.abc import Sequence

from io_benchmark import __version__
from io_benchmark.errors import IoBenchmarkError
from io_benchmark.interruption import Terminated, interruptions

COMMANDS = {
    "rehearse": "run the tasks' own commands on this machine and compare them",
    "compare": "compare pools, or two pushes: which is slower, how sure, and why",
    "history": "follow a pool over time: its level, and what changed where it does",
    "fetch": "download results from Taskcluster",
    "submit": "create the tasks in a Taskcluster from here, wait, and compare",
    "firefox": "put the benchmark's kind into a Firefox checkout, or check it",
    "completion": "print a shell's completion script",
}
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
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
    sub_parser = argparse.ArgumentParser(
        prog=f"io-benchmark {command}",
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.add_arguments(sub_parser)
    result: int = module.run(sub_parser.parse_args(arguments[1:]))
    return result


def console_main() -> int:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Where × cannot be written, a question mark is better than a traceback.
            stream.reconfigure(errors="replace")
    try:
        status = _status(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of stdout has gone (head, less): nothing more to say, and not at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status


def _status(arguments: Sequence[str]) -> int:
    try:
        with interruptions():
            return main(arguments)
    except SystemExit as stopped:  # argparse has printed help or what is wrong
        return stopped.code if isinstance(stopped.code, int) else 0
    except IoBenchmarkError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt as interruption:
        print("stopped", file=sys.stderr)
        return EXIT_TERMINATED if isinstance(interruption, Terminated) else EXIT_INTERRUPTED


if __name__ == "__main__":
    sys.exit(console_main())
