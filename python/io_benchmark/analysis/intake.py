# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""From a result file to a worker: its columns are looked at as arrays, without a copy."""

import msgspec
import numpy as np

from io_benchmark.analysis.model import Entry, Subject, Worker
from io_benchmark.results import CacheRetrieve
from io_benchmark.results.format import Samples
from io_benchmark.sources.layout import Measured

UNKNOWN = "unknown"
_NO_SAMPLES = Samples(file_index=[], start_ns=[], lookup_ns=[], copy_ns=[])


def worker_of(measured: Measured, side: str) -> Worker:
    """One worker under the name that it is grouped by."""
    result, task = measured.result, measured.task
    entries = tuple(_entry(entry) for entry in result.workloads)
    return Worker(
        side=side,
        pool=measured.pool,
        task_id=task.task_id if task else result.task.task_id or UNKNOWN,
        run_id=task.run_id if task else result.task.run_id,
        worker_id=f"{task.worker_group}/{task.worker_id}" if task else UNKNOWN,
        state=task.state if task else UNKNOWN,
        source=measured.source,
        result=msgspec.structs.replace(result, workloads=[entry.facts for entry in entries]),
        entries=entries,
        reason=task.reason_resolved if task else None,
    )


def _entry(entry: CacheRetrieve) -> Entry:
    samples = entry.samples
    return Entry(
        subject=Subject("cache-retrieve", entry.place, entry.destination, entry.fidelity),
        facts=msgspec.structs.replace(entry, samples=_NO_SAMPLES),
        file_index=np.asarray(samples.file_index, dtype=np.int64),
        start_ns=np.asarray(samples.start_ns, dtype=np.int64),
        lookup_ns=np.asarray(samples.lookup_ns, dtype=np.int64),
        copy_ns=np.asarray(samples.copy_ns, dtype=np.int64),
    )
