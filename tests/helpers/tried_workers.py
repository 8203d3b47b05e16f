# SPDX-License-Identifier: MPL-2.0
"""Trials as the worker records them, with given times in milliseconds; workers with such trials."""

from collections.abc import Mapping, Sequence
from typing import Any

import seed_case
from seed_workers import worker

from io_benchmark.analysis.model.run import Worker
from io_benchmark.analysis.model.subject import Subject

MS = 1_000_000
MIB = 1024 * 1024
FILES = (3, 1, 2)
ROUNDS = 3
# What the disks of the seed's pools write at most, in MiB/s, and what a retrieve takes, in ms.
CEILINGS_MIB = {"amd-16": 391, "amd-30": 750, "intel": 750}
RETRIEVE_MS = {"amd-16": 147, "amd-30": 78, "intel": 78}
# Of each kind of block, the mean time in each repetition.
Times = Mapping[str, Sequence[float]]


def trials(
    times: Times,
    *,
    ceilings: Sequence[float] = (),
    pace_mib_per_s: float | None = None,
    files: Sequence[int] = FILES,
    reason: str | None = None,
) -> dict[str, Any]:
    """Return what a worker records; `ceilings` are in MiB/s."""
    blocks = [
        {
            "trial": kind,
            "lookup_ns": [MS] * len(files),
            "copy_ns": [round((time - 1) * MS)] * len(files),
        }
        for kind, repetitions in times.items()
        for time in repetitions
    ]
    return {
        "state": "completed" if blocks else "not-run",
        "reason": reason,
        "pace_bytes_per_s": None if pace_mib_per_s is None else round(pace_mib_per_s * MIB),
        "file_indexes": [*files],
        "duration_ns": 1,
        "ceilings": [
            {"written_bytes": round(rate * MIB), "duration_ns": 1000 * MS} for rate in ceilings
        ],
        "blocks": blocks,
    }


def tried(pool: str, *recorded: dict[str, Any] | None) -> list[Worker]:
    """Return a pool's workers, one for each machine's trials."""
    documents = seed_case.documents(len(recorded), pools=[pool])
    for document, each in zip(documents, recorded, strict=True):
        document["workloads"][0]["trials"] = each
        document["config"]["pace_bytes_per_s"] = each and each["pace_bytes_per_s"]
    return [worker(document) for document in documents]


def subject_of(workers: Sequence[Worker]) -> Subject:
    return workers[0].runs[0].subject


def add_trials(document: Mapping[str, Any], paced_at: int | None = None) -> None:
    """Add to a result of one of the seed's pools trials in which write bandwidth alone matters."""
    pool = document["task"]["pool"]
    usual_ms = RETRIEVE_MS[pool]
    kinds = {"normal": usual_ms, "lookup": usual_ms - 2, "unlink": 7, "memory": 7}
    if paced_at is not None:
        kinds["pace"] = RETRIEVE_MS["amd-16"]
    recorded = trials(
        {kind: [ms + number / 1e6 for number in range(ROUNDS)] for kind, ms in kinds.items()},
        ceilings=[CEILINGS_MIB[pool]] * ROUNDS,
        files=(0, 1, 2, 3),
    )
    recorded |= {"pace_bytes_per_s": paced_at, "duration_ns": 20_000 * MS}
    (entry,) = (each for each in document["workloads"] if each["name"] == "cache-retrieve")
    entry["trials"] = recorded
    document["config"]["pace_bytes_per_s"] = paced_at
