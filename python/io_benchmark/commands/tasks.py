# SPDX-License-Identifier: MPL-2.0
"""Compare how long real tasks took on several pools, and what they cost.

ADDRESS is group:ID, task:ID, index:ROUTE, their web address, or a CSV or JSON
file of task runs, such as Firefox's daily export. Runs are compared with those
of the same label on the baseline pool; with --against, each pool is compared
with its runs there. Without ADDRESS, runs of a project's pushes are read.

Exit code: 0 compared, 1 nothing compared or a failure, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import re
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from io_benchmark.analysis.inference.levels import DEFAULT_WORKER_VARIATION
from io_benchmark.commands.context import EXIT_FAILED, Context
from io_benchmark.commands.history import PROJECT
from io_benchmark.commands.options import (
    add_margin_option,
    add_output_options,
    output_report,
    parse_date,
    refuse_baseline_with_against,
    whole_number,
)
from io_benchmark.errors import UsageError
from io_benchmark.report.formats import TASK_FORMATS
from io_benchmark.text import clean

if TYPE_CHECKING:
    from io_benchmark.analysis.plan import Plan
    from io_benchmark.analysis.report_model import Report
    from io_benchmark.sources.gather import Gathered
    from io_benchmark.sources.run_results import RunResult
    from io_benchmark.sources.task_runs import TaskRun

USAGE = "[ADDRESS ...] [OPTION ...]"
EXAMPLES = (
    "io-benchmark tasks group:Q0dZr3pPQ3m2cV9zqv1l9A --label update-verify",
    "io-benchmark tasks runs.csv --prices prices.yml --benchmark results",
)
MANUAL = "tasks.md"
_MOST_OPERATIONS = 10**9
_NAMED = 4


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("which runs").add_argument
    add("addresses", nargs="*", metavar="ADDRESS", help="where the runs are")
    add(
        "--against",
        nargs="+",
        default=[],
        metavar="ADDRESS",
        help="compare each pool with its runs there",
    )
    add("--label", type=_pattern, metavar="REGEX", help="only tasks with such a label")
    add("--pool", action="append", default=[], metavar="POOL", help="only runs on this pool *")
    add(
        "--since",
        type=parse_date,
        metavar="DATE",
        help="only runs that started on or after this day (UTC)",
    )
    add(
        "--project",
        metavar="NAME",
        help="without ADDRESS: the project whose pushes are read",
    )
    add("--baseline", metavar="POOL", help="pool to compare with (default: the last by name)")
    add = parser.add_argument_group("what to hold against them").add_argument
    add(
        "--benchmark",
        nargs="+",
        default=[],
        metavar="ADDRESS",
        help="results of this benchmark on the same pools",
    )
    add(
        "--operations",
        type=whole_number(_MOST_OPERATIONS),
        metavar="N",
        help="how many of its operations one task does",
    )
    add_margin_option(parser.add_argument_group("how to judge"))
    group = parser.add_argument_group("output (* can be given more than once)")
    group.add_argument("--details", action="store_true", help="show each label and all notes")
    add_output_options(
        group, TASK_FORMATS, write_text="also write this format to FILE *", has_prices=True
    )


def run(arguments: argparse.Namespace, context: Context) -> int:
    from io_benchmark.analysis.plan import AFTER, BEFORE, Plan
    from io_benchmark.analysis.tasks.compare_tasks import TaskOptions, compare_tasks

    _check(arguments)
    if arguments.against:
        readings = [
            _runs(arguments, arguments.against, context),
            _runs(arguments, arguments.addresses, context),
        ]
    else:
        readings = [_runs(arguments, arguments.addresses, context)]
    names = _names({run.pool for reading in readings for run in reading.results})
    sides: dict[str, list[TaskRun]] = {}
    for reading, when in zip(readings, (BEFORE, AFTER), strict=False):
        for each in reading.results:
            side = names[each.pool] + (f" {when}" if arguments.against else "")
            sides.setdefault(side, []).append(each)
    notes: list[str] = []
    if arguments.against:
        both = [
            name
            for name in names.values()
            if f"{name} {BEFORE}" in sides and f"{name} {AFTER}" in sides
        ]
        plan = Plan.before_and_after(both or names.values())
    else:
        names, notes = _with_common_labels(names, sides)
        plan = Plan.of_pools(names.values(), _baseline(arguments.baseline, names))
    benchmark, unreadable, of_benchmark = _benchmark(arguments, plan, names, context)
    options = TaskOptions(
        arguments.margin,
        DEFAULT_WORKER_VARIATION,
        arguments.prices,
        benchmark,
        arguments.operations,
    )
    report = compare_tasks(
        plan,
        sides,
        options,
        unreadable=[*(line for reading in readings for line in reading.unreadable), *unreadable],
        remarks=[
            *(line for reading in readings for line in reading.remarks),
            *notes,
            *of_benchmark,
        ],
    )
    problems = output_report(report, arguments, context, details=arguments.details)
    context.tell_unreadable(report.unreadable, "error", arguments.format)
    if not report.comparisons:
        problems.append(_nothing(names))
    for problem in problems:
        context.tell(f"error: {problem}")
    return EXIT_FAILED if problems or report.unreadable else 0


def _check(arguments: argparse.Namespace) -> None:
    if arguments.project is not None and arguments.addresses:
        raise UsageError("--project cannot be combined with ADDRESS; omit one")
    if not arguments.addresses and arguments.against:
        raise UsageError("--against needs ADDRESS, which is compared with it")
    if not arguments.addresses and arguments.since is None:
        raise UsageError("give ADDRESS, or --since DATE for the pushes of --project since then")
    refuse_baseline_with_against(arguments)
    if arguments.against and arguments.benchmark:
        raise UsageError(
            "--benchmark cannot be combined with --against: it compares pools with each other; omit one"
        )
    if arguments.operations is not None and not arguments.benchmark:
        raise UsageError("--operations needs --benchmark, which has the time of one operation")


def _runs(
    arguments: argparse.Namespace, addresses: Sequence[str], context: Context
) -> Gathered[TaskRun]:
    from io_benchmark.commands.progress_display import show_progress
    from io_benchmark.sources.gather import gather_task_runs
    from io_benchmark.sources.protocol import RunQuery

    with show_progress(context.stderr) as progress:
        query = RunQuery(
            context.environment,
            arguments.label,
            tuple(arguments.pool),
            arguments.since,
            progress,
        )
        project = None if addresses else arguments.project or PROJECT
        return gather_task_runs(addresses, project, query)


def _names(queues: set[str]) -> dict[str, str]:
    """Return a side's name by worker pool: without the provisioner where that is not ambiguous.

    A table may name a pool without it; that is the same pool.
    """
    shorts = Counter(_worker_type(queue) for queue in queues if "/" in queue)
    names = {}
    for queue in sorted(queues):
        short = _worker_type(queue)
        names[queue] = short if short and shorts[short] <= 1 else queue
    return names


def _worker_type(queue: str) -> str:
    return queue.rpartition("/")[2]


def _with_common_labels(
    names: Mapping[str, str], sides: dict[str, list[TaskRun]]
) -> tuple[dict[str, str], list[str]]:
    """Leave out pools that have no label in common with another, of which a group has many.

    Return the names of the others, all where there are none, with a message about those left out.
    """
    labels = {
        side: {run.label for run in runs if run.state == "completed"}
        for side, runs in sides.items()
    }
    counts = Counter(label for of_side in labels.values() for label in of_side)
    alone = sorted(
        side for side, of_side in labels.items() if all(counts[label] == 1 for label in of_side)
    )
    if not alone or len(alone) == len(sides):
        return dict(names), []
    for side in alone:
        del sides[side]
    shown = ", ".join(clean(side, 60) for side in alone[:_NAMED])
    more = f" and {len(alone) - _NAMED:,} more" if len(alone) > _NAMED else ""
    kept = {queue: side for queue, side in names.items() if side in sides}
    return kept, [f"pools without a label that another pool has are left out: {shown}{more}"]


def _baseline(wanted: str | None, names: Mapping[str, str]) -> str | None:
    """Return the side that a user means, who may name it with its provisioner."""
    return wanted if wanted is None else names.get(wanted, wanted)


def _benchmark(
    arguments: argparse.Namespace, plan: Plan, names: Mapping[str, str], context: Context
) -> tuple[Report | None, Sequence[str], Sequence[str]]:
    """Compare the results of --benchmark as `compare` does, each under the name of its tasks' pool.

    Return what could not be read and other messages with it.
    """
    if not arguments.benchmark:
        return None, (), ()
    from io_benchmark.analysis.compare import Options, compare
    from io_benchmark.analysis.intake import worker_of
    from io_benchmark.commands.progress_display import show_progress
    from io_benchmark.sources.gather import gather

    def side(measured: RunResult) -> str:
        queue = measured.task.task_queue if measured.task else ""
        short = _worker_type(queue)
        known = [
            names.get(queue),
            *(name for name in names.values() if name in (measured.pool, short)),
        ]
        return next(filter(None, known), measured.pool)

    with show_progress(context.stderr) as progress:
        gathered = gather(
            arguments.benchmark,
            context.environment,
            progress,
            lambda measured: worker_of(measured, side(measured)),
        )
    workers = sorted(gathered.results, key=lambda each: (each.side, each.task_id, each.run_id or 0))
    report = compare(plan, workers, Options(arguments.margin), lost=gathered.lost)
    remarks = [f"--benchmark: {line}" for line in gathered.remarks]
    return report, [f"--benchmark: {line}" for line in gathered.unreadable], remarks


def _nothing(names: Mapping[str, str]) -> str:
    if not names:
        return "no run was found; check --label, --pool and --since"
    pools = ", ".join(clean(name, 60) for name in sorted(names.values())[:10])
    return f"nothing could be compared: no label has completed runs on two sides; pools: {pools}"


def _pattern(text: str) -> re.Pattern[str]:
    try:
        with warnings.catch_warnings():
            # Of what other languages read differently, such as [[:alpha:]].
            warnings.simplefilter("error")
            return re.compile(text)
    except (re.error, RecursionError, OverflowError, Warning) as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a regular expression: {error}") from None
