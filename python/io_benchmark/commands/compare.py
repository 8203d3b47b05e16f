# SPDX-License-Identifier: MPL-2.0
"""Compare pools, or two pushes: which is slower, by how much, how sure, and why.

ADDRESS is a folder or file of results, or (with io-benchmark[all]) task:ID,
group:ID, index:ROUTE, or an address pasted from Taskcluster or Treeherder.
Each pool is compared with the baseline pool; with --against, with itself there.

Exit code: 0 compared, 1 failed, 2 wrong usage, 3 an expectation is not met.
"""

from typing import TYPE_CHECKING

from io_benchmark.analysis.statistics.levels import (
    DEFAULT_WORKER_VARIATION,
    SINGLE_WORKER_VARIATION,
)
from io_benchmark.commands import options
from io_benchmark.context import Context
from io_benchmark.errors import UsageError
from io_benchmark.report.formats import FORMATS
from io_benchmark.suggestions import did_you_mean

if TYPE_CHECKING:
    from io_benchmark.analysis.statistics.looks import Schedule

USAGE = "ADDRESS ... [OPTION ...]"
EXAMPLES = (
    "io-benchmark compare group:Fqm6GL_zRPurCmd1rRuTRQ --write html=report.html",
    "io-benchmark compare after --against before",
)
MANUAL = "comparing.md"


def _parse_looks(value: str) -> "Schedule":
    from io_benchmark.analysis.statistics.looks import Schedule

    schedule = Schedule.parse(value)
    if schedule is None:
        raise options.wrong_value(
            value, "is not a rising list of numbers from 2 to 100, such as 3,6,12"
        )
    return schedule


def _parse_rule(value: str) -> str:
    from io_benchmark.analysis.validity.rules import RULES

    if value not in RULES:
        known = f"not a validity rule; choose one of {', '.join(RULES)}"
        raise UsageError(f"--allow {value}: {known}{did_you_mean(value, RULES)}")
    return value


OPTIONS = {
    "what to compare": (
        options.option("addresses", "ADDRESS", "where the results are", nargs="+"),
        options.AGAINST,
        options.BASELINE,
        options.option(
            "--wait",
            "MINUTES",
            "wait at most this long for the tasks to end",
            options.matching(
                r"[0-9]{1,4}(\.[0-9]{1,3})?", "is not a number of minutes, such as 90", float
            ),
        ),
        options.flag("--partial", "name missing results instead of failing"),
    ),
    "how to judge": (
        options.MARGIN,
        options.option(
            "--worker-variation",
            "PERCENT",
            f"assumed variation between workers (default: {100 * DEFAULT_WORKER_VARIATION:g}%%; at "
            f"least {100 * SINGLE_WORKER_VARIATION:g}%% of a single one)",
            options.parse_percentage,
        ),
        options.option(
            "--looks", "N[,N...]", "workers per pool at each planned comparison", _parse_looks
        ),
        options.option(
            "--allow", "RULE", "ignore this validity rule *", _parse_rule, action="append"
        ),
        options.EXPECT,
    ),
    options.REPORT_OUTPUT: (
        options.flag("--details", "show everything, with every measurement in full"),
        options.PRICES,
        *options.report_options(FORMATS),
    ),
}


def run(given: options.Given, context: Context) -> int:
    from io_benchmark.commands.output import print_comparison
    from io_benchmark.operations.compare import compare

    report = compare(context, **options.arguments(compare, given))
    return print_comparison(report, given, context)
