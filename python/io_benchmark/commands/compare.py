# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Compare pools, or two pushes: which is slower, by how much, how sure, and why.

ADDRESS is a folder or a file of results, task:ID, group:ID, index:ROUTE, or the address of a task,
a group or a push as pasted from a browser (Taskcluster, Treeherder). Without --against, each pool
is compared with the baseline pool; with it, each pool of ADDRESS with the same pool there.

The unit is the worker. A verdict is given on the ratio of mean times: slower or faster when its
adjusted 95 % interval excludes 1, equivalent when its 90 % interval lies inside the margin,
otherwise inconclusive, with what would decide.

Exit code: 0 compared, 1 something could not be read or compared, 2 wrong usage, 3 an expectation
is not met or not decided.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from io_benchmark.errors import IoBenchmarkError, UsageError
from io_benchmark.report import FORMATS

if TYPE_CHECKING:
    from io_benchmark.analysis.expectations import Outcome
    from io_benchmark.analysis.model import Report, Worker
    from io_benchmark.sources.gather import GatheredAs
    from io_benchmark.sources.layout import Measured

EXIT_FAILED = 1
EXIT_EXPECTATION = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("addresses", nargs="+", metavar="ADDRESS", help="where the results are")
    add(
        "--against",
        nargs="+",
        default=[],
        metavar="ADDRESS",
        help="the results to compare with, pool by pool: before a change",
    )
    add("--baseline", metavar="POOL", help="the pool to compare with (default: the last by name)")
    add(
        "--margin",
        type=_percentage,
        default=0.05,
        metavar="PERCENT",
        help="differences within this are no difference (default: 5%%)",
    )
    add(
        "--worker-variation",
        type=_percentage,
        default=0.05,
        metavar="PERCENT",
        help="how far workers of a pool differ, where it cannot be seen (default: 5%%)",
    )
    add(
        "--allow",
        action="append",
        default=[],
        metavar="RULE",
        help="compare although this validity rule is broken; may repeat",
    )
    add(
        "--expect",
        action="append",
        default=[],
        metavar="A/B<RATIO",
        help="exit with 3 unless the interval's upper end is below; may repeat",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--format", choices=FORMATS, default="text", help="what stdout gets")
    form.add_argument(
        "--json", dest="format", action="store_const", const="json", help="as --format json"
    )
    add(
        "--write",
        action="append",
        default=[],
        type=_format_and_file,
        metavar="FORMAT=FILE",
        help="write this format to a file as well; may repeat",
    )


def run(arguments: argparse.Namespace) -> int:
    from io_benchmark.analysis import compare, expectations, plan, validity
    from io_benchmark.report import output

    expected = [expectations.parse(text) for text in arguments.expect]
    for rule in arguments.allow:
        if rule not in validity.RULES:
            raise UsageError(f"--allow {rule}: no such rule; there are {', '.join(validity.RULES)}")
    if arguments.against and arguments.baseline is not None:
        raise UsageError("--baseline goes without --against: each pool is its own baseline there")
    if arguments.against:
        read = [
            _workers(arguments.against, plan.BEFORE),
            _workers(arguments.addresses, plan.AFTER),
        ]
    else:
        read = [_workers(arguments.addresses, "")]
    workers = [worker for one in read for worker in one.measured]
    unreadable = [line for one in read for line in one.unreadable]
    pools = {worker.pool for worker in workers}
    planned = (
        plan.before_and_after(pools) if arguments.against else plan.pools(pools, arguments.baseline)
    )
    report = compare.compare(
        planned,
        sorted(workers, key=lambda one: (one.side, one.task_id, one.run_id or 0)),
        compare.Options(arguments.margin, arguments.worker_variation, frozenset(arguments.allow)),
        unreadable=unreadable,
        remarks=[remark for one in read for remark in one.remarks],
    )
    output.show(report, arguments.format)
    for form, path in arguments.write:
        _write(path, output.rendered(report, form))
    return _status(report, unreadable, expectations.judge_all(expected, report))


def _workers(addresses: Sequence[str], when: str) -> GatheredAs[Worker]:
    """The workers under their pool's name, before or after where two pushes are compared."""
    from io_benchmark.analysis.intake import worker_of
    from io_benchmark.commands.fetching import shown_progress
    from io_benchmark.sources.gather import gather_as

    def worker(measured: Measured) -> Worker:
        return worker_of(measured, f"{measured.pool} {when}".strip())

    with shown_progress() as progress:
        return gather_as(addresses, os.environ, progress, worker)


def _status(report: Report, unreadable: Sequence[str], outcomes: Sequence[Outcome]) -> int:
    for line in unreadable:
        print(f"error: {line}", file=sys.stderr)
    for outcome in outcomes:
        print(outcome.message, file=sys.stderr)
    if not all(outcome.met for outcome in outcomes):
        return EXIT_EXPECTATION
    compared = any(subject.comparisons for subject in report.subjects)
    if not compared:
        print("error: nothing could be compared; the report says why", file=sys.stderr)
    return 0 if compared and not unreadable else EXIT_FAILED


def _write(path: Path, text: str) -> None:
    """Whole or not at all."""
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        temporary = Path(name)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            temporary.chmod(0o644)
            temporary.replace(path)
        except BaseException:
            temporary.unlink()
            raise
    except OSError as error:
        raise IoBenchmarkError(f"--write {path}: {error.strerror}") from None


def _percentage(text: str) -> float:
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)%?", text)
    if match is None or not 0 < float(match[1]) < 100:
        raise argparse.ArgumentTypeError(f"{text!r} is not a percentage such as 5%")
    return float(match[1]) / 100


def _format_and_file(text: str) -> tuple[str, Path]:
    form, equals, path = text.partition("=")
    if form not in FORMATS or not equals or not path:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not FORMAT=FILE with a format of {', '.join(FORMATS)}"
        )
    return form, Path(path)
