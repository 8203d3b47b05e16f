# SPDX-License-Identifier: MPL-2.0
"""Predict how long a profiled task would take on each pool, with an interval.

PROFILE is a task-profile.json that 'measure' in the worker's script wrote.
Profiles of the same command are of one task: several narrow the interval.
--on has results of the pools, also of the pool of the profile; their write
ceilings, append-fsync and spawn are used. Where the time on a pool cannot be
predicted, the report has the reason.

Exit code: 0 predicted at least one time, 1 none, or a file could not be read
or written, 2 wrong usage.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from io_benchmark.commands.context import EXIT_FAILED, Context
from io_benchmark.commands.options import add_output_options, output_report
from io_benchmark.errors import UsageError
from io_benchmark.report.formats import PREDICTION_FORMATS
from io_benchmark.text import clean

if TYPE_CHECKING:
    from io_benchmark.analysis.model import Worker
    from io_benchmark.results.task_profile import TaskProfile
    from io_benchmark.sources.gather import Gathered

USAGE = "PROFILE ... --on ADDRESS ... [OPTION ...]"
EXAMPLES = (
    "io-benchmark predict task-profile.json --on group:Fqm6GL_zRPurCmd1rRuTRQ",
    "io-benchmark predict profiles/*.json --on results --json",
)
MANUAL = "predicting.md"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("what to predict").add_argument
    add("profiles", nargs="+", type=Path, metavar="PROFILE", help="profiles of tasks")
    add(
        "--on",
        nargs="+",
        required=True,
        metavar="ADDRESS",
        help="where the results of the pools are",
    )
    add("--pool", metavar="NAME", help="the pool of profiles that do not name theirs")
    add_output_options(parser.add_argument_group("output"), PREDICTION_FORMATS, has_prices=True)


def run(arguments: argparse.Namespace, context: Context) -> int:
    from io_benchmark.analysis.prediction.predict import predict
    from io_benchmark.analysis.prediction.prediction_model import Predictions

    profiles = _profiles(arguments.profiles, arguments.pool)
    gathered = _workers(arguments.on, context)
    tasks = predict(profiles, gathered.results, arguments.prices)
    predictions = Predictions(tuple(tasks), gathered.unreadable, gathered.remarks)
    problems = output_report(predictions, arguments, context)
    context.tell_unreadable(predictions.unreadable, "error", arguments.format)
    for problem in problems:
        context.tell(f"error: {problem}")
    is_predicted = any(pool.time_ns is not None for task in tasks for pool in task.pools)
    if not is_predicted:
        context.tell("error: nothing could be predicted; see the report for the reasons")
    return 0 if is_predicted and not problems and not predictions.unreadable else EXIT_FAILED


def _profiles(paths: list[Path], pool: str | None) -> list[TaskProfile]:
    from msgspec.structs import replace

    from io_benchmark.results import load
    from io_benchmark.results.reader import parse_profile

    files: dict[bytes, Path] = {}
    for path in paths:
        data = load(path)
        if data in files:
            # Copies would pretend that tasks do not differ.
            both = f"{clean(str(files[data]))} and {clean(str(path))}"
            raise UsageError(f"{both}: the same profile; use each profile once")
        files[data] = path
    profiles = [parse_profile(data, str(path)) for data, path in files.items()]
    if pool is None:
        return profiles
    if all(profile.task.pool for profile in profiles):
        raise UsageError(f"--pool {clean(pool)}: every profile names its pool; omit --pool")
    return [
        replace(profile, task=replace(profile.task, pool=profile.task.pool or pool))
        for profile in profiles
    ]


def _workers(addresses: list[str], context: Context) -> Gathered[Worker]:
    from io_benchmark.analysis.intake import worker_of
    from io_benchmark.commands.progress_display import show_progress
    from io_benchmark.sources.gather import gather

    with show_progress(context.stderr) as progress:
        return gather(
            addresses,
            context.environment,
            progress,
            lambda measured: worker_of(measured, measured.pool),
        )
