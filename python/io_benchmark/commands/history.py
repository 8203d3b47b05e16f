# SPDX-License-Identifier: MPL-2.0
"""Show a pool's results over time and where their level changes.

Without ADDRESS, results come from the index of pushes and weekly runs. ADDRESS
is a folder that fetch filled, group:ID, or another address that compare takes.
All but folders need io-benchmark[all]. A point is one task group. A change
shows by how much the level moved and what changed in host and storage.

Exit code: 0 a history was shown, 1 no result or a file could not be written,
2 wrong usage.
"""

from io_benchmark.commands import options
from io_benchmark.context import Context
from io_benchmark.report.formats import GENERAL_FORMATS

USAGE = "POOL [ADDRESS ...] [OPTION ...]"
EXAMPLES = (
    "io-benchmark history amd-16 --since 2026-05-01",
    "io-benchmark history amd-16 results --write html=amd-16.html",
)
MANUAL = "history.md"
MOST_POINTS = 300  # reading more takes minutes
# As the kind's transforms accept it.
_parse_pool = options.matching(
    "[A-Za-z0-9][A-Za-z0-9._-]{0,44}",
    "is not a pool's name; name a task of kind.yml, such as amd-16",
)
OPTIONS = {
    "what to show": (
        options.option("pool", "POOL", "the pool, such as amd-16", _parse_pool),
        options.option(
            "addresses",
            "ADDRESS",
            "where its results are",
            nargs="*",
            excludes={"--project": "only the index has projects"},
        ),
        options.PROJECT,
        options.option(
            "--last",
            "N",
            f"show the newest N points (default: 100, at most {MOST_POINTS})",
            options.whole_number(MOST_POINTS),
        ),
        options.option("--since", "DATE", "show points from this day (UTC) on", options.parse_date),
    ),
    options.REPORT_OUTPUT: (
        options.flag("--details", "show each series, its points, and all notes"),
        *options.report_options(GENERAL_FORMATS),
    ),
}


def run(given: options.Given, context: Context) -> int:
    from io_benchmark.commands.output import print_report
    from io_benchmark.operations.history import history

    report = history(context, **options.arguments(history, given))
    nothing = (
        f"no result of {given['pool']} was found that can be shown; see the report for the reasons"
    )
    return print_report(report, given, context, "" if report.series else nothing, unreadable="note")
