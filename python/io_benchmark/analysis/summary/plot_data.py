# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What the pictures are drawn from: raw times, and the timeline as rates."""

from array import array
from collections.abc import Sequence

import numpy as np

from io_benchmark.analysis.model import Worker
from io_benchmark.analysis.report_model import Series, Timeline
from io_benchmark.results.format import RecordedTimeline

NS_PER_S = 1e9
US_PER_S = 1e6


def series(workers: Sequence[Worker]) -> tuple[Series, ...]:
    return tuple(
        Series(
            side=worker.side,
            worker=_name(worker),
            subject=entry.subject,
            file_size_bytes=entry.alike,
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


def timelines(workers: Sequence[Worker]) -> tuple[Timeline, ...]:
    found = []
    for worker in workers:
        recorded = worker.result.timeline
        if recorded is not None:
            timeline = _rates(worker, recorded)
            if timeline is not None:
                found.append(timeline)
    return tuple(found)


def _name(worker: Worker) -> str:
    return worker.task_id if worker.worker_id == "unknown" else worker.worker_id


def _rates(worker: Worker, recorded: RecordedTimeline) -> Timeline | None:
    """Counters only grow: a rate is the difference of two samples over their time."""
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
    waited = np.zeros(len(seconds)) if pressure is None else np.diff(pressure) / US_PER_S / seconds
    dirty = _column(recorded.columns.get("dirty_bytes"))
    return Timeline(
        side=worker.side,
        worker=_name(worker),
        time_s=_packed(times[1:] / NS_PER_S),
        written_bytes_per_s=_packed(np.maximum(written, 0)),
        dirty_bytes=_packed(np.zeros(len(seconds)) if dirty is None else dirty[1:]),
        pressure_io_ratio=_packed(np.clip(waited, 0, 1)),
    )


def _packed(values: np.ndarray) -> Sequence[float]:
    """Plain floats for what draws them, in eight bytes each."""
    return array("d", values)


def _column(values: Sequence[int | None] | None) -> np.ndarray | None:
    if values is None or any(value is None for value in values):
        return None
    return np.array(values, dtype=np.float64)
