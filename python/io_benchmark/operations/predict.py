# SPDX-License-Identifier: MPL-2.0
"""Predict how long profiled tasks take on the pools whose results are at some addresses."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from io_benchmark.analysis.prediction import predict as analysis
from io_benchmark.analysis.prediction.prediction_model import Predictions
from io_benchmark.context import Context
from io_benchmark.costs.worker_time import Price
from io_benchmark.errors import UsageError
from io_benchmark.operations.reading import read_workers
from io_benchmark.results import load
from io_benchmark.results.format import TaskProfile
from io_benchmark.results.reader import parse_profile
from io_benchmark.text import clean


class PredictionOptions(Struct, frozen=True, kw_only=True):
    pool: str | None = None  # of profiles that do not name theirs
    prices: Mapping[str, Price] = field(default_factory=dict)


def predict(
    profiles: Sequence[Path], addresses: Sequence[str], options: PredictionOptions, context: Context
) -> Predictions:
    """Predict the time of each profiled task on each pool at the addresses."""
    tasks = _read_profiles(profiles, options.pool)
    gathered = read_workers(addresses, context)
    predictions = analysis.predict(tasks, gathered.results, options.prices)
    return Predictions(tuple(predictions), gathered.unreadable, gathered.remarks)


def _read_profiles(paths: Sequence[Path], pool: str | None) -> list[TaskProfile]:
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
