# SPDX-License-Identifier: MPL-2.0
"""Show where the time of tasks went, by their logs: set-up, own work, artifacts.

ADDRESS is a file of a task's log, a folder of such files, or (with
io-benchmark[all]) task:ID, task:ID.RUN, group:ID, index:ROUTE, or their web
address. A file NAME.log needs no deployment; with NAME.status.json and
NAME.task.json beside it, as the queue answers them, the run is known exactly.
Of a task, its completed run is read, else its newest one. At most 1,000 logs,
32 MiB of each and 1 GiB in all are read in 10 minutes; with --readings, a
reading that was stopped or limited resumes.

Exit code: 0 shown, 1 no log or not all could be read, 2 wrong usage.
"""

from io_benchmark.commands.options import common
from io_benchmark.commands.options.option import Given, option
from io_benchmark.commands.options.values import parse_path
from io_benchmark.context import Context

USAGE = "ADDRESS ... [OPTION ...]"
EXAMPLES = (
    "io-benchmark phases task:cQ4kTnR7QTq1p2L0dJ8wXg",
    "io-benchmark phases live_backing.log --write html=phases.html",
)
MANUAL = "phases.md"
ADDRESSES = common.ADDRESSES._replace(summary="logs, or addresses of tasks")
READINGS = option(
    "--readings",
    "FILE",
    "keep what was read in FILE, and read only what is new",
    parse_path,
    default=None,
)
OPTIONS = {
    "what to read": (ADDRESSES, READINGS),
    common.REPORT_OUTPUT: (common.DETAILS, *common.GENERAL_OUTPUT),
}


def run(given: Given, context: Context) -> int:
    from io_benchmark.commands.output import print_report
    from io_benchmark.operations.phases import show_phases

    report = show_phases(context, given[ADDRESSES], readings=given[READINGS])
    nothing = "" if report.runs else "no log could be read"
    return print_report(report, given, context, nothing)
