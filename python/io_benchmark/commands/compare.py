# SPDX-License-Identifier: MPL-2.0
"""Compare pools, or two pushes: which is slower, by how much, how sure, and why.

ADDRESS is a folder, zip file or file of results, task:ID, group:ID,
index:ROUTE, or an address pasted from Taskcluster or Treeherder. Each pool is
compared with the baseline pool; with --against, with itself there.

Exit code: 0 compared, 1 failed, 2 wrong usage, 3 an expectation is not met.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from io_benchmark.analysis.inference.levels import DEFAULT_WORKER_VARIATION
from io_benchmark.commands.context import EXIT_FAILED, MESSAGE_LENGTH, Context
from io_benchmark.commands.options import (
    add_margin_option,
    add_output_options,
    output_report,
    parse_percentage,
    refuse_baseline_with_against,
)
from io_benchmark.errors import UsageError
from io_benchmark.report.formats import FORMATS
from io_benchmark.text import clean

if TYPE_CHECKING:
    from io_benchmark.analysis.compare import Options
    from io_benchmark.analysis.expectations import Expectation, ExpectationOutcome
    from io_benchmark.analysis.history.past_workers import PastWorkers
    from io_benchmark.analysis.model import Worker
    from io_benchmark.analysis.plan import Plan
    from io_benchmark.analysis.report_model import Report
    from io_benchmark.sources.budget import Budget
    from io_benchmark.sources.gather import Gathered
    from io_benchmark.sources.run_results import RunResult

EXIT_EXPECTATION = 3
# Half of what the kind of the report leaves for reading, comparing, drawing and uploading.
READING_AFTER_WAITING_S = 300

USAGE = "ADDRESS ... [OPTION ...]"
EXAMPLES = (
    "io-benchmark compare group:Fqm6GL_zRPurCmd1rRuTRQ --write html=report.html",
    "io-benchmark compare after --against before",
)
MANUAL = "comparing.md"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("what to compare").add_argument
    add("addresses", nargs="+", metavar="ADDRESS", help="where the results are")
    add(
        "--against",
        nargs="+",
        default=[],
        metavar="ADDRESS",
        help="compare each pool with its results there",
    )
    add("--baseline", metavar="POOL", help="pool to compare with (default: the last by name)")
    add(
        "--wait",
        type=_minutes,
        metavar="MINUTES",
        help="wait at most this long for the tasks to end",
    )
    add(
        "--partial",
        action="store_true",
        help="name missing results instead of failing",
    )
    judging = parser.add_argument_group("how to judge")
    add_margin_option(judging)
    add = judging.add_argument
    add(
        "--worker-variation",
        type=parse_percentage,
        metavar="PERCENT",
        help=f"assumed variation between workers (default: {100 * DEFAULT_WORKER_VARIATION:g}%%)",
    )
    add(
        "--variation-from",
        metavar="SOURCE",
        help="'index' or address of past results that show it",
    )
    add(
        "--looks",
        type=_looks,
        metavar="N[,N...]",
        help="workers per pool at each planned comparison",
    )
    add(
        "--allow",
        action="append",
        default=[],
        metavar="RULE",
        help="ignore this validity rule *",
    )
    add(
        "--expect",
        action="append",
        default=[],
        metavar="A/B<RATIO",
        help="exit with 3 if 'a/b<1.05 on sync-write' is not proven *",
    )
    group = parser.add_argument_group("output (* can be given more than once)")
    group.add_argument(
        "--details",
        action="store_true",
        help="show everything, with every measurement in full",
    )
    add_output_options(
        group, FORMATS, write_text="also write this format to FILE *", has_prices=True
    )


def run(arguments: argparse.Namespace, context: Context) -> int:
    from io_benchmark.analysis import compare, plan
    from io_benchmark.analysis.validity import rules

    expected = _expectations(arguments)
    _check(arguments, rules.RULES)
    if arguments.wait is not None:
        from io_benchmark.sources.gather import wait_for

        wait_for(
            [*arguments.addresses, *arguments.against],
            context.environment,
            arguments.wait * 60,
            context.tell,
        )
    budget = _budget(arguments)
    if arguments.against:
        readings = [
            _workers(arguments.against, plan.BEFORE, budget, context),
            _workers(arguments.addresses, plan.AFTER, budget, context),
        ]
    else:
        readings = [_workers(arguments.addresses, "", budget, context)]
    workers = [worker for reading in readings for worker in reading.results]
    unreadable = [line for reading in readings for line in reading.unreadable]
    pools = {worker.pool for worker in workers}
    missing = [pool for reading in readings for pool in reading.missing]
    planned = _planned(arguments, pools, missing, partial=arguments.partial or bool(unreadable))
    past, notes = _past(arguments, workers, context)
    report = compare.compare(
        planned,
        sorted(workers, key=lambda worker: (worker.side, worker.task_id, worker.run_id or 0)),
        _options(arguments, past),
        unreadable=unreadable,
        remarks=[*(remark for reading in readings for remark in reading.remarks), *notes],
        lost=[side for reading in readings for side in reading.lost],
    )
    problems = output_report(report, arguments, context, details=arguments.details)
    outcomes = [each.judge(report) for each in expected]
    status = _status(report, outcomes, arguments.format, context, partial=arguments.partial)
    for problem in problems:
        context.tell(f"error: {problem}")
    return status or (EXIT_FAILED if problems else 0)


def _expectations(arguments: argparse.Namespace) -> list[Expectation]:
    if not arguments.expect:
        return []
    from io_benchmark.analysis.expectations import Expectation

    return [Expectation.parse(text) for text in arguments.expect]


def _options(arguments: argparse.Namespace, past: PastWorkers | None) -> Options:
    from io_benchmark.analysis.compare import Options
    from io_benchmark.analysis.inference.looks import Schedule

    return Options(
        arguments.margin,
        arguments.worker_variation,
        frozenset(arguments.allow),
        Schedule(arguments.looks, is_declared=True) if arguments.looks else Schedule(),
        past,
        arguments.prices,
    )


def _past(
    arguments: argparse.Namespace, workers: Sequence[Worker], context: Context
) -> tuple[PastWorkers | None, Sequence[str]]:
    """Read what --variation-from names, and return it with messages about it."""
    if arguments.variation_from is None:
        return None, ()
    from io_benchmark.commands.past_results import PastResults

    past = PastResults(arguments.variation_from, workers)
    return past.read(context), past.remarks


def _check(arguments: argparse.Namespace, rules: Collection[str]) -> None:
    for rule in arguments.allow:
        if rule not in rules:
            raise UsageError(
                f"--allow {rule}: not a validity rule; choose one of {', '.join(rules)}"
            )
    refuse_baseline_with_against(arguments)
    if arguments.variation_from is not None and arguments.worker_variation is not None:
        raise UsageError(
            "--worker-variation cannot be combined with --variation-from: both say how far workers "
            "differ; omit one"
        )


def _budget(arguments: argparse.Namespace) -> Budget:
    """Limit the reading. With --wait it ends early enough to write the report before a deadline."""
    from io_benchmark.sources.budget import Budget

    if arguments.wait is None:
        return Budget()
    return Budget(ends_s=time.monotonic() + READING_AFTER_WAITING_S)


def _planned(
    arguments: argparse.Namespace, pools: Collection[str], missing: Sequence[str], *, partial: bool
) -> Plan:
    from io_benchmark.analysis.plan import Plan

    if arguments.against:
        return Plan.before_and_after(pools)
    wanted = arguments.baseline
    # It may be among what is missing; the others can still be compared.
    return Plan.of_pools(pools, wanted, (*missing, *([wanted] if wanted and partial else [])))


def _workers(
    addresses: Sequence[str], when: str, budget: Budget, context: Context
) -> Gathered[Worker]:
    """The workers under their pool's name, before or after where two pushes are compared."""
    from io_benchmark.analysis.intake import worker_of
    from io_benchmark.commands.progress_display import show_progress
    from io_benchmark.sources.gather import gather

    def side(pool: str) -> str:
        return f"{pool} {when}".strip()

    def worker(measured: RunResult) -> Worker:
        return worker_of(measured, side(measured.pool))

    with show_progress(context.stderr) as progress:
        gathered = gather(addresses, context.environment, progress, worker, budget=budget)
    return replace(gathered, lost=tuple(map(side, gathered.lost)))


def _status(
    report: Report,
    outcomes: Sequence[ExpectationOutcome],
    form: str,
    context: Context,
    *,
    partial: bool,
) -> int:
    from io_benchmark.report.content.statement_text import text_of

    context.tell_unreadable(report.unreadable, "missing" if partial else "error", form)
    for outcome in outcomes:
        context.tell(clean(text_of(outcome.message), MESSAGE_LENGTH))
    if not all(outcome.met for outcome in outcomes):
        return EXIT_EXPECTATION
    compared = any(subject.comparisons for subject in report.subjects)
    if not compared:
        context.tell("error: nothing could be compared; see the report for the reasons")
    return 0 if compared and (partial or not report.unreadable) else EXIT_FAILED


def _looks(text: str) -> tuple[int, ...]:
    from io_benchmark.analysis.inference.looks import Schedule

    schedule = Schedule.parse(text)
    if schedule is None:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a rising list of numbers from 2 to 100, such as 3,6,12"
        )
    return schedule.looks


def _minutes(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,3})?", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of minutes, such as 90")
    return float(text)
