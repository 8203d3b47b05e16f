# SPDX-License-Identifier: MPL-2.0
"""Compare how long real tasks took on several pools, and what they cost.

ADDRESS is a CSV or JSON file of task runs, such as Firefox's daily export, or
(with io-benchmark[all]) group:ID, task:ID, index:ROUTE, or their web address.
Runs are compared with those of the same label on the baseline pool; with
--against, each pool is compared with its runs there.

Exit code: 0 compared, 1 nothing compared or a failure, 2 wrong usage.
"""

import re
import warnings

from io_benchmark.commands import options
from io_benchmark.context import Context
from io_benchmark.report.formats import GENERAL_FORMATS

USAGE = "ADDRESS ... [OPTION ...]"
EXAMPLES = (
    "io-benchmark tasks group:Q0dZr3pPQ3m2cV9zqv1l9A --label update-verify",
    "io-benchmark tasks runs.csv --prices prices.yml",
)
MANUAL = "tasks.md"
_RANKS = "each label is compared with its fastest pool"


def _parse_pattern(value: str) -> re.Pattern[str]:
    try:
        with warnings.catch_warnings():
            # [[:alpha:]] and others mean something else in other languages.
            warnings.simplefilter("error")
            return re.compile(value)
    except (re.error, RecursionError, OverflowError, Warning) as error:
        raise options.wrong_value(value, f"is not a regular expression: {error}") from None


OPTIONS = {
    "which runs": (
        options.option("addresses", "ADDRESS", "where the runs are", nargs="+"),
        options.AGAINST,
        options.option("--label", "REGEX", "only tasks with such a label", _parse_pattern),
        options.option("--pool", "POOL", "only runs on this pool *", action="append"),
        options.option(
            "--since",
            "DATE",
            "only runs that started on or after this day (UTC)",
            options.parse_date,
        ),
        options.BASELINE,
    ),
    "how to judge": (
        options.MARGIN,
        options.flag(
            "--rank",
            "labels by what their slower pools cost per month",
            excludes=dict.fromkeys(("--against", "--baseline", "--margin", "--details"), _RANKS),
        ),
        options.option("--on", "ADDRESS", "results that show causes", nargs="+", needs=("--rank",)),
    ),
    options.REPORT_OUTPUT: (
        options.flag("--details", "show each label and all notes"),
        options.PRICES,
        *options.report_options(GENERAL_FORMATS),
    ),
}


def run(given: options.Given, context: Context) -> int:
    from io_benchmark.commands.output import print_report
    from io_benchmark.operations.tasks import compare_task_runs, rank_labels

    if "rank" in given:
        ranking = rank_labels(context, **options.arguments(rank_labels, given))
        nothing = "" if ranking.pools else "no run was found; check --label, --pool and --since"
        return print_report(ranking, given, context, nothing)
    report = compare_task_runs(context, **options.arguments(compare_task_runs, given))
    nothing = "nothing could be compared: no label has completed runs on two sides; check --label, --pool and --since"
    return print_report(report, given, context, "" if report.comparisons else nothing)
