# SPDX-License-Identifier: MPL-2.0
"""Compare pools, or two pushes: which is slower, by how much, how sure, and why.

ADDRESS is a folder, zip file or file of results, task:ID, group:ID,
index:ROUTE, or an address pasted from Taskcluster or Treeherder. Each pool is
compared with the baseline pool; with --against, with itself there.

Exit code: 0 compared, 1 failed, 2 wrong usage, 3 an expectation is not met.
"""

import re
from typing import TYPE_CHECKING

from io_benchmark.analysis.inference.levels import DEFAULT_WORKER_VARIATION
from io_benchmark.commands.option_table import Given, flag, option, read_options, repeatable
from io_benchmark.commands.options import (
    BASELINE,
    MARGIN,
    PRICES,
    against,
    expectation,
    parse_percentage,
    report_options,
    wrong_value,
)
from io_benchmark.context import Context
from io_benchmark.errors import UsageError
from io_benchmark.report.formats import FORMATS

if TYPE_CHECKING:
    from io_benchmark.analysis.inference.looks import Schedule

USAGE = "ADDRESS ... [OPTION ...]"
EXAMPLES = (
    "io-benchmark compare group:Fqm6GL_zRPurCmd1rRuTRQ --write html=report.html",
    "io-benchmark compare after --against before",
)
MANUAL = "comparing.md"


def _parse_minutes(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,3})?", text):
        raise wrong_value(text, "is not a number of minutes, such as 90")
    return float(text)


def _parse_looks(text: str) -> "Schedule":
    from io_benchmark.analysis.inference.looks import Schedule

    schedule = Schedule.parse(text)
    if schedule is None:
        raise wrong_value(text, "is not a rising list of numbers from 2 to 100, such as 3,6,12")
    return schedule


def _parse_rule(text: str) -> str:
    from io_benchmark.analysis.validity.rules import RULES

    if text not in RULES:
        listed = ", ".join(RULES)
        raise UsageError(f"--allow {text}: not a validity rule; choose one of {listed}")
    return text


OPTIONS = {
    "what to compare": (
        option("addresses", nargs="+", metavar="ADDRESS", help="where the results are"),
        against("compare each pool with its results there"),
        BASELINE,
        option(
            "--wait",
            type=_parse_minutes,
            metavar="MINUTES",
            help="wait at most this long for the tasks to end",
        ),
        flag("--partial", help="name missing results instead of failing"),
    ),
    "how to judge": (
        MARGIN,
        option(
            "--worker-variation",
            type=parse_percentage,
            metavar="PERCENT",
            help=f"assumed variation between workers (default: {100 * DEFAULT_WORKER_VARIATION:g}%%)",
        ),
        option(
            "--variation-from",
            metavar="SOURCE",
            help="'index' or address of past results that show it",
            excludes={"--worker-variation": "both say how far workers differ"},
        ),
        option(
            "--looks",
            type=_parse_looks,
            metavar="N[,N...]",
            help="workers per pool at each planned comparison",
        ),
        repeatable("--allow", type=_parse_rule, metavar="RULE", help="ignore this validity rule *"),
        expectation("exit with 3 if 'a/b<1.05 on sync-write' is not proven *"),
    ),
    "output (* can be given more than once)": (
        flag("--details", help="show everything, with every measurement in full"),
        PRICES,
        *report_options(FORMATS),
    ),
}


def run(given: Given, context: Context) -> int:
    from io_benchmark.commands.output import print_comparison
    from io_benchmark.operations.compare import ComparisonOptions, compare

    options = read_options(ComparisonOptions, given)
    with context.progress() as progress:
        report = compare(
            given["addresses"], options, context.environment, progress, tell=context.tell
        )
    return print_comparison(report, given, context, partial=options.partial)
