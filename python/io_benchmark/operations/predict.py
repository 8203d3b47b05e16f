# SPDX-License-Identifier: MPL-2.0
"""Predict how long profiled tasks take on the pools whose results are at some addresses."""

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from io_benchmark.analysis.prediction import predict as analysis
from io_benchmark.analysis.prediction.prediction_model import Predictions
from io_benchmark.analysis.prediction.resource_demand import PublishedRun
from io_benchmark.context import Context
from io_benchmark.costs.worker_time import Price
from io_benchmark.errors import ResultError, UsageError
from io_benchmark.operations.reading import read_workers
from io_benchmark.results.format import TaskProfile
from io_benchmark.results.parts import NS_PER_S
from io_benchmark.sources.gather import gather_profiles
from io_benchmark.sources.protocol import ProfileQuery
from io_benchmark.sources.run_results import RunProfile, TaskRecord, parse_time
from io_benchmark.text import clean

_NAMED = 3  # problems in a message


class PredictionOptions(Struct, frozen=True, kw_only=True):
    pool: str | None = None  # of profiles that do not name theirs
    prices: Mapping[str, Price] = field(default_factory=dict)


def predict(
    profiles: Sequence[str], addresses: Sequence[str], options: PredictionOptions, context: Context
) -> Predictions:
    """Predict the time of each profiled task on each pool at the addresses.

    Profiles are at addresses as well: a file, a folder, or tasks that published theirs.
    """
    with context.progress() as progress:
        found = gather_profiles(profiles, ProfileQuery(context.environment, progress))
    if not found.results:
        raise ResultError("; ".join(found.unreadable[:_NAMED]) or "there is no profile of a task")
    tasks = _named_pools(_distinct(found.results), options.pool)
    gathered = read_workers(addresses, context)
    predictions = analysis.predict(tasks, gathered.results, options.prices)
    return Predictions(
        tuple(predictions),
        (*found.unreadable, *gathered.unreadable),
        tuple(dict.fromkeys((*found.remarks, *gathered.remarks))),
    )


def _distinct(runs: Sequence[RunProfile]) -> list[TaskProfile | PublishedRun]:
    """Return the profiles, of which each may be given once."""
    sources: dict[bytes, str] = {}
    for run in runs:
        content = msgspec.json.encode(run.profile)
        first = sources.get(content)
        sources[content] = run.source
        if first is not None and (first != run.source or run.task is None):
            # Copies would pretend that tasks do not differ.
            both = f"{clean(first)} and {clean(run.source)}"
            raise UsageError(f"{both}: the same profile; use each profile once")
    distinct = {run.source: run for run in runs}
    return [_published(run) for run in distinct.values()]


def _published(run: RunProfile) -> TaskProfile | PublishedRun:
    """Return the profile with what the queue knows of its task."""
    profile, task = run.profile, run.task
    if isinstance(profile, TaskProfile):
        if task is None or profile.task.pool:
            return profile
        return replace(profile, task=replace(profile.task, pool=_worker_type(task)))
    if task is None:
        return PublishedRun(profile, run.source, None, None)
    started, resolved = (parse_time(moment) for moment in (task.started, task.resolved))
    task_ns = None
    if started is not None and resolved is not None:
        task_ns = round((resolved - started).total_seconds() * NS_PER_S)
    return PublishedRun(profile, task.label, _worker_type(task), task_ns)


def _worker_type(task: TaskRecord) -> str:
    return task.task_queue.rpartition("/")[2]


def _named_pools(
    profiles: list[TaskProfile | PublishedRun], pool: str | None
) -> list[TaskProfile | PublishedRun]:
    """Name the pool of the profiles that do not."""
    if pool is None:
        return profiles
    named: list[TaskProfile | PublishedRun] = [
        replace(profile, pool=profile.pool or pool)
        if isinstance(profile, PublishedRun)
        else replace(profile, task=replace(profile.task, pool=profile.task.pool or pool))
        for profile in profiles
    ]
    if named == profiles:
        raise UsageError(f"--pool {clean(pool)}: every profile names its pool; omit --pool")
    return named
