# SPDX-License-Identifier: MPL-2.0
"""Run the tasks' commands on this machine, one at a time, and compare the results.

All pools are this one machine, so any difference is noise, unless --at puts a
pool on another disk. A new folder gets the results; compare can read it again.
Needs io-benchmark[all].

Exit code: 0 all tasks completed, 1 a task failed, 2 wrong usage.
"""

from io_benchmark.command_lines import show_everything
from io_benchmark.commands import options
from io_benchmark.context import Context
from io_benchmark.paths import DEFAULT_FOLDER

USAGE = "[OPTION ...]"
EXAMPLES = (
    "io-benchmark rehearse -j amd-16,intel --baseline intel",
    "io-benchmark rehearse --at amd-16=/mnt --full --output results",
)
MANUAL = "rehearsal.md"

OPTIONS = {
    "what to run": (
        options.JOBS,
        options.flag(
            "--full",
            "the sizes of a worker, 5.6 GiB of cache per task (default: an eightieth; a twentieth with "
            "--at or --confirm)",
        ),
        options.flag("--confirm", "run all trials, and paced runs that confirm causes"),
        options.ROOT,
    ),
    "where to run it": (
        options.option(
            "--at",
            "POOL=DIR",
            "put this pool's workspace in an existing folder, such as one on another disk; can "
            "be given more than once",
            **options.per_pool(
                "(?s)([A-Za-z0-9][A-Za-z0-9_.-]*)=(.+)",
                "is not POOL=DIR, such as amd-16=/mnt",
                options.parse_path,
            ),
        ),
    ),
    "output": (
        options.BASELINE,
        options.option(
            "--output",
            "DIR",
            f"new folder for results (default: {DEFAULT_FOLDER}/rehearsal-TIME)",
            options.parse_path,
        ),
        options.flag("--json", "print the comparison as JSON"),
    ),
}


def run(given: options.Given, context: Context) -> int:
    # Imported here: generating takes half a second to load, and --help must not wait for it.
    from io_benchmark.commands.output import EXIT_FAILED, print_report
    from io_benchmark.operations.rehearse import rehearse

    report, folder, failures = rehearse(context, **options.arguments(rehearse, given))
    exit_code = print_report(report, given, context, whole=show_everything(folder))
    context.tell(f"Results: {folder}")
    context.tell_errors(failures)
    return EXIT_FAILED if failures else exit_code
