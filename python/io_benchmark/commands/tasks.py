# SPDX-License-Identifier: MPL-2.0
"""Compare how long real tasks took on several pools, and what they cost.

ADDRESS is a CSV or JSON file of runs, such as Firefox's daily export, or (with
io-benchmark[all]) group:ID, task:ID, index:ROUTE, or their web address. Runs of
a label are compared with those of the baseline pool, or of --against.

Exit code: 0 compared, 1 nothing compared or a failure, 2 wrong usage.
"""

import re
import warnings
from typing import TYPE_CHECKING

from io_benchmark.commands import phases
from io_benchmark.commands.options import common
from io_benchmark.commands.options.option import Given, flag, option, repeatable, several
from io_benchmark.commands.options.values import (
    matching,
    parse_date,
    parse_name,
    whole_number,
    wrong_value,
)
from io_benchmark.context import Context

if TYPE_CHECKING:  # --help needs no data classes
    from io_benchmark.operations.phases import LogChoice

USAGE = "ADDRESS ... [OPTION ...]"
EXAMPLES = (
    "io-benchmark tasks group:Q0dZr3pPQ3m2cV9zqv1l9A --label update-verify --phases",
    "io-benchmark tasks runs.csv --machines --pool linux-hardware",
)
MANUAL = "tasks.md"
_RANKS = "each label is compared with its fastest pool"
_OF_POOL = "each machine is compared with those of its pool"


def _parse_pattern(value: str) -> re.Pattern[str]:
    try:
        with warnings.catch_warnings():
            # [[:alpha:]] and others mean something else in other languages.
            warnings.simplefilter("error")
            return re.compile(value)
    except (re.error, RecursionError, OverflowError, Warning) as error:
        raise wrong_value(value, f"is not a regular expression: {error}") from None


LABEL = option("--label", "REGEX", "only tasks with such a label", _parse_pattern, default=None)
POOLS = repeatable("--pool", "POOL", "only runs on this pool *", parse_name)
SINCE = option(
    "--since", "DATE", "only runs that started on or after this day (UTC)", parse_date, default=None
)
RANK = flag(
    "--rank",
    "labels by what their slower pools cost per month",
    excludes=dict.fromkeys(("--against", "--baseline", "--margin", "--allow"), _RANKS),
)
PHASES = flag("--phases", "which phase of set-up differs, by logs of the tasks")
_LOGS, _MOST_LOGS = 200, 1000
LOGS = option(
    "--most-logs",
    "N",
    f"logs to read at most (default: {_LOGS})",
    whole_number(_MOST_LOGS),
    default=_LOGS,
    needs=("--phases",),
)
READINGS = phases.READINGS._replace(
    summary="keep what was read of logs in FILE", needs=("--phases",)
)
ON = several(
    "--on",
    "ADDRESS",
    "results that show causes",
    parse_name,
    needs=("--rank", "--phases", "--machines"),
)
MACHINES = flag(
    "--machines",
    "machines that are slower than others of their pool",
    excludes=dict.fromkeys(("--against", "--baseline", "--rank", "--phases", "--allow"), _OF_POOL),
)
ALLOW = option(
    "--allow",
    "RULE",
    "os: compare pools of different systems as well",
    matching("os", "is not a rule of tasks; choose os", str),
    default="",
)
ADDRESSES = common.ADDRESSES._replace(summary="where the runs are")
LABELS = common.DETAILS._replace(summary="show each label and all notes")
OPTIONS = {
    "which runs": (ADDRESSES, common.AGAINST, LABEL, POOLS, SINCE, common.BASELINE),
    "how to judge": (common.MARGIN, ALLOW, RANK, MACHINES, PHASES, LOGS, READINGS, ON),
    common.REPORT_OUTPUT: (LABELS, common.PRICES, *common.GENERAL_OUTPUT),
}


def run(given: Given, context: Context) -> int:
    from io_benchmark.analysis.tasks.compare_tasks import HOW_TO_ALLOW
    from io_benchmark.commands.output import print_report
    from io_benchmark.operations.tasks import compare_task_runs, rank_labels

    nothing = ""
    if given[MACHINES]:
        return _judge_machines(given, context)
    if given[RANK]:
        ranking = rank_labels(
            context,
            given[ADDRESSES],
            label=given[LABEL],
            pools=given[POOLS],
            since=given[SINCE],
            prices=given[common.PRICES],
            on=given[ON],
            logs=_log_choice(given, context),
        )
        if not ranking.pools:
            nothing = "no run was found; check --label, --pool and --since"
        return print_report(ranking, given, context, nothing)
    report = compare_task_runs(
        context,
        given[ADDRESSES],
        against=given[common.AGAINST],
        label=given[LABEL],
        pools=given[POOLS],
        since=given[SINCE],
        baseline=given[common.BASELINE],
        margin=given[common.MARGIN],
        prices=given[common.PRICES],
        logs=_log_choice(given, context),
        on=given[ON],
        across_systems=bool(given[ALLOW]),
    )
    if not report.comparisons:
        nothing = (
            "nothing could be compared: no label has completed runs on two sides; check --label, "
            "--pool and --since"
        )
        if any(HOW_TO_ALLOW in remark.template for remark in report.remarks):
            nothing = "nothing was compared: the pools are of different systems; see --allow"
    return print_report(report, given, context, nothing)


def _judge_machines(given: Given, context: Context) -> int:
    from io_benchmark.commands.output import print_report
    from io_benchmark.operations.machines.task_machines import judge_task_machines

    report = judge_task_machines(
        context,
        given[ADDRESSES],
        label=given[LABEL],
        pools=given[POOLS],
        since=given[SINCE],
        margin=given[common.MARGIN],
        prices=given[common.PRICES],
        on=given[ON],
    )
    nothing = ""
    if not report.pools:
        nothing = "no run on a named worker was found; check --label, --pool and --since"
    return print_report(report, given, context, nothing)


def _log_choice(given: Given, context: Context) -> "LogChoice | None":
    """Return which logs to read, if any."""
    if not given[PHASES]:
        return None

    from io_benchmark.operations.phases import LogChoice
    from io_benchmark.sources.taskcluster.addresses import parse

    addresses = [*given[ADDRESSES], *given[common.AGAINST]]
    parsed = [parse(address, context.environment) for address in addresses]
    root_urls = frozenset(address.root_url for address in parsed if address is not None)
    return LogChoice(given[LOGS], given[READINGS], root_urls)
