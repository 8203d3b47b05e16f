# SPDX-License-Identifier: MPL-2.0
"""Trials as the worker records them, and the seed's pools with such trials."""

from collections.abc import Mapping
from typing import Any

MIB, MS, S = 1024**2, 10**6, 10**9
ROUNDS, FILES = 3, (0, 1, 2, 3)
# What the disks of the seed's pools write at most, in MiB/s: one disk, and two striped ones.
CEILINGS_MIB = {"amd-16": 391, "amd-30": 750, "intel": 750}
# What a retrieve of these pools takes, in ms.
COPY_MS = {"amd-16": 145, "amd-30": 76, "intel": 76}


def trials(
    ceiling_mib: float, copy_ms: float, paced_at: int | None = None, paced_ms: float = 145
) -> dict[str, Any]:
    """Trials in which write bandwidth alone matters."""
    kinds = {"normal": copy_ms, "lookup": copy_ms - 2, "unlink": 5.0, "memory": 5.0}
    if paced_at is not None:
        kinds["pace"] = paced_ms
    return {
        "state": "completed",
        "reason": None,
        "pace_bytes_per_s": paced_at,
        "file_indexes": list(FILES),
        "duration_ns": 20 * S,
        "ceilings": [
            {"written_bytes": 600 * MIB, "duration_ns": int(600 / ceiling_mib * S) + number}
            for number in range(ROUNDS)
        ],
        "blocks": [
            {
                "trial": kind,
                "lookup_ns": [2 * MS] * len(FILES),
                "copy_ns": [int(ms * MS) + number] * len(FILES),
            }
            for number in range(ROUNDS)
            for kind, ms in kinds.items()
        ],
    }


def add_trials(document: Mapping[str, Any], paced_at: int | None = None) -> None:
    """Add to a result of one of the seed's pools what its trials would show."""
    pool = document["task"]["pool"]
    (entry,) = (one for one in document["workloads"] if one["name"] == "cache-retrieve")
    entry["trials"] = trials(CEILINGS_MIB[pool], COPY_MS[pool], paced_at)
    document["config"]["pace_bytes_per_s"] = paced_at
