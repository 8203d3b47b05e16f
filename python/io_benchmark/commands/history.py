# SPDX-License-Identifier: MPL-2.0
"""Show a pool's results over time and where their level changes.

Without ADDRESS, results come from the index of pushes and weekly runs. ADDRESS
is a folder that fetch filled, group:ID, or another address that compare takes.
A point is one task group. A change shows by how much the level moved and what
changed in host and storage.

Exit code: 0 a history was shown, 1 no result or a file could not be written,
2 wrong usage.
"""

import re

from io_benchmark.commands.option_table import Given, option, read_options
from io_benchmark.commands.options import parse_date, report_options, whole_number
from io_benchmark.context import Context
from io_benchmark.errors import UsageError
from io_benchmark.report.formats import HISTORY_FORMATS
from io_benchmark.text import clean

USAGE = "POOL [ADDRESS ...] [OPTION ...]"
EXAMPLES = (
    "io-benchmark history amd-16 --since 2026-05-01",
    "io-benchmark history amd-16 results --write html=amd-16.html",
)
MANUAL = "history.md"
MOST_POINTS = 300  # reading more takes minutes
# As the kind's transforms accept them.
_POOL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,44}")


def _parse_pool(text: str) -> str:
    if not _POOL.fullmatch(text):
        raise UsageError(
            f"{clean(text, 100)!r} is not a pool's name; name a task of kind.yml, such as amd-16"
        )
    return text


OPTIONS = {
    "what to show": (
        option("pool", type=_parse_pool, metavar="POOL", help="the pool, such as amd-16"),
        option(
            "addresses",
            nargs="*",
            metavar="ADDRESS",
            help="where its results are",
            excludes={"--project": "only the index has projects"},
        ),
        option("--project", metavar="NAME", help="project in the index (default: io-benchmark)"),
        option(
            "--last",
            type=whole_number(MOST_POINTS),
            metavar="N",
            help=f"show the newest N points (default: 100, at most {MOST_POINTS})",
        ),
        option(
            "--since",
            type=parse_date,
            metavar="DATE",
            help="show points from this day (UTC) on",
        ),
    ),
    "output": report_options(
        HISTORY_FORMATS, write_text="also write this format to FILE; can be given more than once"
    ),
}


def run(given: Given, context: Context) -> int:
    from io_benchmark.commands.output import EXIT_FAILED, print_report
    from io_benchmark.operations.history import HistoryOptions, history

    pool, addresses = given["pool"], given.get("addresses", ())
    options = read_options(HistoryOptions, given)
    with context.progress() as progress:
        report = history(pool, addresses, options, context.environment, progress)
    is_written = print_report(report, given, context, unreadable="note")
    if not report.series:
        context.tell(
            f"error: no result of {pool} was found that can be shown; see the report for the reasons"
        )
    return 0 if is_written and report.series else EXIT_FAILED
