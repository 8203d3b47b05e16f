# SPDX-License-Identifier: MPL-2.0
"""Show all worker pools: what each can do, what it costs, and when it changed.

ADDRESS is the name of a project in the index (default: io-benchmark), a folder
that fetch filled, group:ID, or another address that compare takes. All but
folders need io-benchmark[all]. Of a project, the pushes of the last 12 months
are read, the newest first, and none that a weekly task has kept. With
--readings, a reading that was stopped or limited resumes. Pools whose intervals
overlap share a rank.

Exit code: 0 a table was shown, 1 no result or a file could not be written,
2 wrong usage, 3 a pool has become slower, with --fail-on-slower.
"""

from io_benchmark.commands.options.common import (
    DETAILS,
    FLEET_OUTPUT,
    MARGIN,
    PRICES,
    REPORT_OUTPUT,
)
from io_benchmark.commands.options.option import Given, flag, option, several
from io_benchmark.commands.options.values import (
    parse_date,
    parse_name,
    parse_order,
    parse_path,
    whole_number,
)
from io_benchmark.context import Context

USAGE = "[PROJECT | ADDRESS ...] [OPTION ...]"
EXAMPLES = (
    "io-benchmark fleet mozilla-central --by unpack --write html=fleet.html",
    "io-benchmark fleet results --for profile.json --prices prices.yml",
)
MANUAL = "fleet.md"
DEFAULT_PROJECT = "io-benchmark"
ORDER_OF_TASK = "minutes"
DEFAULT_REQUESTS, MOST_REQUESTS = 400, 100_000
ADDRESSES = several(
    "addresses", "ADDRESS", "project in the index, or where results are", parse_name, nargs="*"
)
BY = option(
    "--by",
    "FIGURE",
    "best pool first by unpack, price, … (default: what most pools have)",
    parse_order,
    default=None,
)
FOR = option(
    "--for",
    "PROFILE",
    "predict a task: task:ID, or a file of its profile",
    parse_name,
    default=None,
)
AS_OF = option(
    "--as-of", "DATE", "the table of this day (default: today)", parse_date, default=None
)
READINGS = option(
    "--readings",
    "FILE",
    "keep what was read in FILE, and read only what is new",
    parse_path,
    default=None,
)
REQUESTS = option(
    "--requests",
    "N",
    f"send about this many requests of an index (default: {DEFAULT_REQUESTS})",
    whole_number(MOST_REQUESTS),
    default=DEFAULT_REQUESTS,
)
FAIL_ON_SLOWER = flag("--fail-on-slower", "exit with 3 if a pool has become slower")
EVERYTHING = DETAILS._replace(summary="show every column, all changes and all notes")
OPTIONS = {
    "what to show": (ADDRESSES, BY, FOR, AS_OF, MARGIN, FAIL_ON_SLOWER),
    "what to read": (READINGS, REQUESTS),
    REPORT_OUTPUT: (PRICES, EVERYTHING, *FLEET_OUTPUT),
}


def run(given: Given, context: Context) -> int:
    from io_benchmark.commands.output import EXIT_UNDECIDED, print_report
    from io_benchmark.operations.fleet import FleetQuery, alerts_of, check_order, fleet

    profile = given[FOR]
    by = given[BY] or (ORDER_OF_TASK if profile else "")
    check_order(by, has_profile=bool(profile), has_prices=bool(given[PRICES]))
    query = FleetQuery(
        addresses=given[ADDRESSES] or [DEFAULT_PROJECT],
        by=by,
        profiles=[profile] if profile else [],
        prices=given[PRICES],
        margin_ratio=given[MARGIN],
        as_of=given[AS_OF],
        readings=given[READINGS],
        most_requests=given[REQUESTS],
    )
    table = fleet(context, query)
    nothing = "" if table.pools else "no pool has a result; see the report for the reasons"
    exit_code = print_report(table, given, context, nothing, unreadable="note")
    alerts = alerts_of(table) if given[FAIL_ON_SLOWER] else []
    for alert in alerts:
        context.tell(f"alert: {alert}")
    return EXIT_UNDECIDED if alerts and not exit_code else exit_code
