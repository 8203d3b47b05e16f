# SPDX-License-Identifier: MPL-2.0
"""Run the tasks' commands on this machine, one at a time, and compare the results.

All pools are this one machine, so any difference is noise, unless --at puts a
pool on another disk. A new folder gets the results; compare can read it again.
The task for a push's report, if selected, runs last on these results.

Exit code: 0 all tasks completed, 1 a task failed, 2 wrong usage.
"""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TextIO

from io_benchmark.commands import options
from io_benchmark.context import Context
from io_benchmark.sources.folder.output_folder import DEFAULT_FOLDER

USAGE = "[OPTION ...]"
EXAMPLES = (
    "io-benchmark rehearse -j amd-16,intel --baseline intel",
    "io-benchmark rehearse --at amd-16=/mnt --full --output results",
)
MANUAL = "rehearsal.md"
LINE_LENGTH = 400  # of a task's log


def _parse_pool_and_folder(value: str) -> tuple[str, Path]:
    pool, equals, folder = value.partition("=")
    if not re.fullmatch("[A-Za-z0-9][A-Za-z0-9_.-]*", pool) or not equals or not folder:
        raise options.wrong_value(value, "is not POOL=DIR, such as amd-16=/mnt")
    return pool, Path(folder)


OPTIONS = {
    "what to run": (
        options.jobs(" (default: io-benchmark)"),
        options.flag(
            "--quick",
            "an eightieth of the sizes, 100 retrieves (default; a twentieth, 200 with --at or "
            "--confirm)",
        ),
        options.flag(
            "--full", "the sizes of a worker: 5.6 GiB of cache per task", excludes={"--quick": ""}
        ),
        options.flag("--confirm", "run all trials, and paced runs that confirm causes"),
        options.ROOT,
    ),
    "where to run it": (
        options.repeatable(
            "--at",
            "POOL=DIR",
            "put this pool's workspace in an existing folder, such as one on another disk; can "
            "be given more than once",
            _parse_pool_and_folder,
        ),
    ),
    "output": (
        options.BASELINE,
        options.option(
            "--output",
            "DIR",
            f"new folder for results (default: {DEFAULT_FOLDER}/rehearsal-TIME)",
            Path,
        ),
        options.flag("--json", "print the comparison as JSON"),
        options.flag("--verbose", "show the logs of the tasks and of taskgraph"),
    ),
}


def run(given: options.Given, context: Context) -> int:
    # Imported here: generating takes half a second to load, and --help must not wait for it.
    from io_benchmark.commands.output import EXIT_FAILED, print_report
    from io_benchmark.operations.rehearse import RehearsalOptions, rehearse

    verbose = "verbose" in given

    def log(line: str) -> None:
        # run-task writes the whole command, script and all, in one line.
        if verbose:
            context.tell(line if len(line) <= LINE_LENGTH else line[:LINE_LENGTH] + " …")

    with _taskgraph_log(context.stderr) if verbose else nullcontext():
        outcome = rehearse(options.read_options(RehearsalOptions, given), context, log)
    print_report(outcome.report, given, context)
    folder = outcome.folder
    context.tell(
        f"Results: {folder}; read everything with: io-benchmark compare {folder} --details"
    )
    for page in outcome.pages:
        context.tell(f"Report of the report task: {page}")
    context.tell_errors(outcome.failures)
    return EXIT_FAILED if outcome.failures else 0


@contextmanager
def _taskgraph_log(stream: TextIO) -> Iterator[None]:
    """Write log records to a stream in this block."""
    root, program = logging.getLogger(), logging.getLogger("io_benchmark")
    handler, level = logging.StreamHandler(stream), program.level
    root.addHandler(handler)
    program.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        program.setLevel(level)
        root.removeHandler(handler)
