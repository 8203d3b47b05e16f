# SPDX-License-Identifier: MPL-2.0
"""Run the tasks' commands on this machine, one at a time, and compare the results.

All pools are this one machine, so any difference is noise, unless --at puts a
pool on another disk. A new folder gets the results; compare can read it again.
Needs io-benchmark[all].

Exit code: 0 all tasks completed, 1 a task failed, 2 wrong usage.
"""

from io_benchmark.command_lines import show_everything
from io_benchmark.commands.options.common import BASELINE, JOBS, JSON, ROOT
from io_benchmark.commands.options.option import Given, flag, option, per_pool
from io_benchmark.commands.options.values import parse_path
from io_benchmark.context import Context
from io_benchmark.paths import DEFAULT_FOLDER

USAGE = "[OPTION ...]"
EXAMPLES = (
    "io-benchmark rehearse -j amd-16,intel --baseline intel",
    "io-benchmark rehearse --at amd-16=/mnt --full --output results",
)
MANUAL = "rehearsal.md"

FULL = flag(
    "--full",
    "the sizes of a worker, 5.6 GiB of cache per task (default: an eightieth; a twentieth with "
    "--at or --confirm)",
)
CONFIRM = flag("--confirm", "run all trials, and paced runs that confirm causes")
AT = per_pool(
    "--at",
    "POOL=DIR",
    "put this pool's workspace in an existing folder, such as one on another disk; can "
    "be given more than once",
    "(?s)([A-Za-z0-9][A-Za-z0-9_.-]*)=(.+)",
    "is not POOL=DIR, such as amd-16=/mnt",
    parse_path,
)
_FOLDER = f"new folder for results (default: {DEFAULT_FOLDER}/rehearsal-TIME)"
OUTPUT = option("--output", "DIR", _FOLDER, parse_path, default=None)
COMPARISON = JSON._replace(summary="print the comparison as JSON", excludes={})
OPTIONS = {
    "what to run": (JOBS, FULL, CONFIRM, ROOT),
    "where to run it": (AT,),
    "output": (BASELINE, OUTPUT, COMPARISON),
}


def run(given: Given, context: Context) -> int:
    # Imported here, because --help must not wait for them.
    from io_benchmark.commands.output import EXIT_FAILED, print_report
    from io_benchmark.operations.rehearse import rehearse

    report, folder, failures = rehearse(
        context,
        jobs=given[JOBS],
        full=given[FULL],
        confirm=given[CONFIRM],
        root=given[ROOT],
        at=given[AT],
        baseline=given[BASELINE],
        output=given[OUTPUT],
    )
    exit_code = print_report(report, given, context, whole=show_everything(folder))
    context.tell(f"Results: {folder}")
    context.tell_errors(failures)
    return EXIT_FAILED if failures else exit_code
