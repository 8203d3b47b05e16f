# SPDX-License-Identifier: MPL-2.0
"""Show a pool's results over time and where their level changes.

Without ADDRESS, results come from the index of pushes and weekly runs. ADDRESS
is a folder that fetch filled, group:ID, or another address that compare takes.
All but folders need io-benchmark[all]. A point is one task group. A change
shows by how much the level moved and what changed in host and storage.

Exit code: 0 a history was shown, 1 no result or a file could not be written,
2 wrong usage.
"""

from io_benchmark.commands.options.common import DETAILS, GENERAL_OUTPUT, PROJECT, REPORT_OUTPUT
from io_benchmark.commands.options.option import Given, option, required, several
from io_benchmark.commands.options.values import matching, parse_date, parse_name, whole_number
from io_benchmark.context import Context

USAGE = "POOL [ADDRESS ...] [OPTION ...]"
EXAMPLES = (
    "io-benchmark history amd-16 --since 2026-05-01",
    "io-benchmark history amd-16 results --write html=amd-16.html",
)
MANUAL = "history.md"
MOST_POINTS = 300  # reading more takes minutes
DEFAULT_POINTS = 100  # two years of weeks
# As the kind's transforms accept it.
_parse_pool = matching(
    "[A-Za-z0-9][A-Za-z0-9._-]{0,44}",
    "is not a pool's name; name a task of kind.yml, such as amd-16",
    str,
)
POOL = required("pool", "POOL", "the pool, such as amd-16", _parse_pool)
ADDRESSES = several(
    "addresses",
    "ADDRESS",
    "where its results are",
    parse_name,
    nargs="*",
    excludes={"--project": "only the index has projects"},
)
LAST = option(
    "--last",
    "N",
    f"show the newest N points (default: {DEFAULT_POINTS}, at most {MOST_POINTS})",
    whole_number(MOST_POINTS),
    default=DEFAULT_POINTS,
)
SINCE = option("--since", "DATE", "show points from this day (UTC) on", parse_date, default=None)
SERIES = DETAILS._replace(summary="show each series, its points, and all notes")
OPTIONS = {
    "what to show": (POOL, ADDRESSES, PROJECT, LAST, SINCE),
    REPORT_OUTPUT: (SERIES, *GENERAL_OUTPUT),
}


def run(given: Given, context: Context) -> int:
    from io_benchmark.commands.output import print_report
    from io_benchmark.operations.history import history

    pool, addresses = given[POOL], given[ADDRESSES]
    project, last, since = given[PROJECT], given[LAST], given[SINCE]
    report = history(context, pool, addresses, project=project, last=last, since=since)
    nothing = ""
    if not report.series:
        problem = f"no result of {pool} was found that can be shown"
        nothing = f"{problem}; see the report for the reasons"
    return print_report(report, given, context, nothing, unreadable="note")
