# SPDX-License-Identifier: MPL-2.0
"""Compare how long real tasks took on several pools, and what they cost.

ADDRESS is group:ID, task:ID, index:ROUTE, their web address, or a CSV or JSON
file of task runs, such as Firefox's daily export. Runs are compared with those
of the same label on the baseline pool; with --against, each pool is compared
with its runs there. Without ADDRESS, runs of a project's pushes are read.

Exit code: 0 compared, 1 nothing compared or a failure, 2 wrong usage.
"""

import re
import warnings
from typing import TYPE_CHECKING

from io_benchmark.commands.option_table import Given, flag, option, read_options, repeatable
from io_benchmark.commands.options import (
    BASELINE,
    MARGIN,
    PRICES,
    against,
    parse_date,
    report_options,
    whole_number,
    wrong_value,
)
from io_benchmark.context import Context
from io_benchmark.errors import UsageError
from io_benchmark.report.formats import TASK_FORMATS
from io_benchmark.text import clean

if TYPE_CHECKING:
    from io_benchmark.analysis.tasks.task_model import TaskReport

USAGE = "[ADDRESS ...] [OPTION ...]"
EXAMPLES = (
    "io-benchmark tasks group:Q0dZr3pPQ3m2cV9zqv1l9A --label update-verify",
    "io-benchmark tasks runs.csv --prices prices.yml --benchmark results",
)
MANUAL = "tasks.md"
_MOST_OPERATIONS = 10**9
_NAMED = 10  # pools in a message


def _parse_pattern(text: str) -> re.Pattern[str]:
    try:
        with warnings.catch_warnings():
            # [[:alpha:]] and others mean something else in other languages.
            warnings.simplefilter("error")
            return re.compile(text)
    except (re.error, RecursionError, OverflowError, Warning) as error:
        raise wrong_value(text, f"is not a regular expression: {error}") from None


OPTIONS = {
    "which runs": (
        option(
            "addresses",
            nargs="*",
            metavar="ADDRESS",
            help="where the runs are",
            excludes={"--project": ""},
        ),
        against(
            "compare each pool with its runs there",
            **{"--benchmark": "it compares pools with each other"},
        )._replace(needs=("ADDRESS",), needs_reason=", which is compared with it"),
        option(
            "--label",
            type=_parse_pattern,
            metavar="REGEX",
            help="only tasks with such a label",
        ),
        repeatable("--pool", metavar="POOL", help="only runs on this pool *"),
        option(
            "--since",
            type=parse_date,
            metavar="DATE",
            help="only runs that started on or after this day (UTC)",
        ),
        option(
            "--project",
            metavar="NAME",
            help="without ADDRESS: the project whose pushes are read",
        ),
        BASELINE,
    ),
    "what to compare them with": (
        option(
            "--benchmark",
            nargs="+",
            metavar="ADDRESS",
            help="results of this benchmark on the same pools",
        ),
        option(
            "--operations",
            type=whole_number(_MOST_OPERATIONS),
            metavar="N",
            help="how many of its operations one task does",
            needs=("--benchmark",),
            needs_reason=", which has the time of one operation",
        ),
    ),
    "how to judge": (MARGIN,),
    "output (* can be given more than once)": (
        flag("--details", help="show each label and all notes"),
        PRICES,
        *report_options(TASK_FORMATS),
    ),
}


def run(given: Given, context: Context) -> int:
    from io_benchmark.commands.output import EXIT_FAILED, print_report
    from io_benchmark.operations.tasks import TaskRunOptions, compare_task_runs

    addresses = given.get("addresses", ())
    if not addresses and "since" not in given:
        raise UsageError("give ADDRESS, or --since DATE for the pushes of --project since then")
    options = read_options(TaskRunOptions, given)
    with context.progress() as progress:
        report = compare_task_runs(addresses, options, context.environment, progress)
    is_written = print_report(report, given, context)
    if not report.comparisons:
        context.tell(f"error: {_nothing_compared(report)}")
    is_complete = report.comparisons and not report.unreadable
    return 0 if is_written and is_complete else EXIT_FAILED


def _nothing_compared(report: "TaskReport") -> str:
    if not report.sides:
        return "no run was found; check --label, --pool and --since"
    pools = ", ".join(
        clean(name, 60) for name in sorted(runs.side for runs in report.sides)[:_NAMED]
    )
    return f"nothing could be compared: no label has completed runs on two sides; pools: {pools}"
