# SPDX-License-Identifier: MPL-2.0
"""Data for the plots: raw times, and the timeline as rates."""

from array import array
from collections.abc import Sequence
from operator import floordiv

from io_benchmark.analysis.model import UNKNOWN, Worker
from io_benchmark.analysis.observed.machine_identity import by_side
from io_benchmark.analysis.observed.run_windows import TimelineRows
from io_benchmark.analysis.report_model import RateTimeline, SampleSeries
from io_benchmark.results.workload import NS_PER_S

_US_PER_S = 1e6


def sample_series(workers: Sequence[Worker]) -> tuple[SampleSeries, ...]:
    return tuple(
        SampleSeries(
            side=worker.side,
            worker=_name(worker),
            subject=entry.subject,
            # A batch is drawn as what one of its operations took.
            total_ns=entry.total_ns
            if entry.retrieves is not None
            else array("q", map(floordiv, entry.total_ns, entry.operations)),
        )
        for worker in workers
        for entry in worker.entries
        if len(entry.total_ns)
    )


def rate_timelines(workers: Sequence[Worker]) -> tuple[RateTimeline, ...]:
    """Return one per side: that of the typical worker, else the first that can be drawn."""
    timelines = (
        next(filter(None, map(_rates, (*_typical(side_workers), *side_workers))), None)
        for side_workers in by_side(workers, lambda worker: worker.side).values()
    )
    return tuple(filter(None, timelines))


def _typical(workers: Sequence[Worker]) -> list[Worker]:
    """Return the worker in the middle, by its mean on the first subject; none without samples."""
    runs = [
        (entry, worker) for worker in workers for entry in worker.entries if len(entry.total_ns)
    ]
    ordered = sorted(
        (entry.mean_ns, _name(worker), number)
        for number, (entry, worker) in enumerate(runs)
        if entry.subject == runs[0][0].subject
    )
    return [runs[number][1] for _, _, number in ordered[(len(ordered) - 1) // 2 :][:1]]


def _name(worker: Worker) -> str:
    return worker.task_id if worker.worker_id == UNKNOWN else worker.worker_id


def _rates(worker: Worker) -> RateTimeline | None:
    recorded = worker.result.timeline
    if recorded is None:
        return None
    rows = TimelineRows(recorded, range(len(recorded.columns.get("time_ns", ()))))
    times_ns, seconds = rows.values(recorded.columns.get("time_ns")), rows.seconds
    if not times_ns or min(seconds, default=0) <= 0:
        return None  # a hostile or broken file: nothing can be drawn
    nothing = [0] * len(seconds)
    written = [rows.steps(columns.get("written_bytes")) for columns in recorded.devices.values()]
    sums = map(sum, zip(nothing, *filter(None, written), strict=True))
    waited_us = rows.steps(recorded.columns.get("psi_io_some_us")) or nothing
    dirty_bytes = rows.values(recorded.columns.get("dirty_bytes")) or [0, *nothing]
    return RateTimeline(
        side=worker.side,
        worker=_name(worker),
        time_s=[time_ns / NS_PER_S for time_ns in times_ns[1:]],
        written_bytes_per_s=[
            max(0, grown) / length_s for grown, length_s in zip(sums, seconds, strict=True)
        ],
        dirty_bytes=dirty_bytes[1:],
        pressure_io_ratio=[
            min(max(0.0, waited / _US_PER_S / length_s), 1.0)
            for waited, length_s in zip(waited_us, seconds, strict=True)
        ],
    )
