# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Data for the plots: raw times, and the timeline as rates."""

from array import array
from collections.abc import Sequence

import numpy as np

from io_benchmark.analysis.model import Worker
from io_benchmark.analysis.report_model import RateTimeline, SampleSeries
from io_benchmark.results.format import RecordedTimeline
from io_benchmark.results.workload import NS_PER_S

_US_PER_S = 1e6


def sample_series(workers: Sequence[Worker]) -> tuple[SampleSeries, ...]:
    return tuple(
        SampleSeries(
            side=worker.side,
            worker=_name(worker),
            subject=entry.subject,
            file_size_bytes=entry.size_bytes,
            start_ns=entry.start_ns,
            # A batch is drawn as what one of its operations took.
            total_ns=entry.total_ns
            if entry.retrieves is not None
            else entry.total_ns // entry.operations,
        )
        for worker in workers
        for entry in worker.entries
        if len(entry.total_ns)
    )


def rate_timelines(workers: Sequence[Worker]) -> tuple[RateTimeline, ...]:
    return tuple(
        rates
        for worker in workers
        if worker.result.timeline is not None
        and (rates := _rates(worker, worker.result.timeline)) is not None
    )


def _name(worker: Worker) -> str:
    return worker.task_id if worker.worker_id == "unknown" else worker.worker_id


def _rates(worker: Worker, recorded: RecordedTimeline) -> RateTimeline | None:
    """Return the differences of a counter's samples, over their time."""
    times = _column(recorded.columns.get("time_ns"))
    if times is None or len(times) < 2:
        return None
    seconds = np.diff(times) / NS_PER_S
    if not np.all(seconds > 0):
        return None  # a hostile or broken file: nothing can be drawn
    written = np.zeros(len(seconds))
    for columns in recorded.devices.values():
        counter = _column(columns.get("written_bytes"))
        if counter is not None:
            written += np.diff(counter) / seconds
    pressure = _column(recorded.columns.get("psi_io_some_us"))
    waited = np.zeros(len(seconds)) if pressure is None else np.diff(pressure) / _US_PER_S / seconds
    dirty = _column(recorded.columns.get("dirty_bytes"))
    return RateTimeline(
        side=worker.side,
        worker=_name(worker),
        time_s=_packed(times[1:] / NS_PER_S),
        written_bytes_per_s=_packed(np.maximum(written, 0)),
        dirty_bytes=_packed(np.zeros(len(seconds)) if dirty is None else dirty[1:]),
        pressure_io_ratio=_packed(np.clip(waited, 0, 1)),
    )


def _packed(values: np.ndarray) -> Sequence[float]:
    """Return plain floats of eight bytes each."""
    return array("d", values)


def _column(values: Sequence[int | None] | None) -> np.ndarray | None:
    # The reader has arrays where no value is missing.
    if values is None or (not isinstance(values, array) and None in values):
        return None
    return np.array(values, dtype=np.float64)
