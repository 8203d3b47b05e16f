# SPDX-License-Identifier: MPL-2.0
"""Predict how long profiled tasks take on the pools whose results are at some addresses."""

from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from io_benchmark.analysis.model.run import Worker
from io_benchmark.analysis.prediction import predict as analysis
from io_benchmark.analysis.prediction.prediction_model import ExplainedPredictions, Predictions
from io_benchmark.context import Context
from io_benchmark.costs.worker_time import Price
from io_benchmark.errors import ResultError, UsageError
from io_benchmark.operations.compare import read_workers
from io_benchmark.sources.gather import Gathered, gather_profiles
from io_benchmark.sources.protocol import Reading
from io_benchmark.sources.run_results import RunProfile
from io_benchmark.text import clean

_NAMED = 3  # problems in a message


def predict(
    context: Context,
    profiles: Sequence[str],
    on: Sequence[str],
    *,
    pool: str | None = None,
    prices: Mapping[str, Price],
    cpus: Sequence[int] = (),
) -> ExplainedPredictions:
    """Predict the time of each profiled task on each pool whose results are at addresses in `on`.

    `cpus` are numbers of CPUs that the profiled machine might have.

    Profiles are at addresses as well: a file, a folder, or tasks that published theirs. `pool` is
    that of profiles that do not name theirs.
    """
    if not on and not cpus:
        raise UsageError(
            "where to predict is missing; give results of pools by --on ADDRESS, or numbers of "
            "CPUs by --cpus N"
        )
    profiled = read_profiles(context, profiles)
    if pool is not None:
        if all(run.pool for run in profiled.results):
            raise UsageError(f"--pool {clean(pool)}: every profile names its pool; omit --pool")
        named = tuple(replace(run, pool=run.pool or pool) for run in profiled.results)
        profiled = replace(profiled, results=named)
    predictions = predict_profiles(context, profiled, on, prices, cpus)
    return ExplainedPredictions(
        predictions.tasks,
        predictions.unreadable,
        predictions.remarks,
        addresses=(*profiles, *on),
    )


def read_profiles(context: Context, addresses: Sequence[str]) -> Gathered[RunProfile]:
    """Read the profiles at addresses; raise a ResultError where there is none."""
    with context.progress() as progress:
        gathered = gather_profiles(addresses, Reading(context.environment, progress))
    if not gathered.results:
        problems = "; ".join(gathered.unreadable[:_NAMED])
        raise ResultError(problems or "there is no profile of a task")
    return replace(gathered, results=tuple(_distinct(gathered.results)))


def predict_profiles(
    context: Context,
    profiled: Gathered[RunProfile],
    on: Sequence[str],
    prices: Mapping[str, Price],
    cpus: Sequence[int] = (),
) -> Predictions:
    """Predict profiled tasks on the pools whose results are at addresses in `on`."""
    workers: Sequence[Worker] = ()
    unreadable, remarks = profiled.unreadable, profiled.remarks
    if on:
        gathered = read_workers(on, context)
        workers = gathered.results
        unreadable, remarks = unreadable + gathered.unreadable, remarks + gathered.remarks
    return Predictions(
        tuple(analysis.predict(profiled.results, workers, prices, cpus)),
        unreadable,
        tuple(dict.fromkeys(remarks)),
    )


def _distinct(runs: Sequence[RunProfile]) -> list[RunProfile]:
    """Return the profiles, of which each file may be given once, and each run counts once."""
    distinct: dict[bytes, RunProfile] = {}
    for run in runs:
        first = distinct.setdefault(msgspec.json.encode(run.profile), run)
        if first is not run and (first.source != run.source or run.task_ns is None):
            # Copies would pretend that tasks do not differ.
            both = f"{clean(first.source)} and {clean(run.source)}"
            raise UsageError(f"{both}: the same profile; use each profile once")
    return list(distinct.values())
