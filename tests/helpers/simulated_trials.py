# SPDX-License-Identifier: MPL-2.0
"""Trials on a simulated machine, after its retrieves: some again, with one thing changed."""

import itertools
from typing import Any

from simulated_machine import CHUNK_BYTES, SIZES_BYTES, Clock, Machine, Pace

KINDS = ["normal", "lookup", "unlink", "memory"]
FILES, ROUNDS, CEILINGS, REFILLS = 16, 4, 3, 3
CEILING_S = 1.3
PACED_FILES_DEEP = 4


def of_clock(clock: Clock, machine: Machine, pace_bytes_per_s: float | None) -> dict[str, Any]:
    """Return an entry's trials, as a worker writes them."""
    start_s = clock.now.time_s
    by_size = sorted(range(len(SIZES_BYTES)), key=SIZES_BYTES.__getitem__)
    # Evenly over the sizes, each half before each quarter.
    places = [int(f"{at:04b}"[::-1], 2) / FILES for at in range(FILES)]
    files = [by_size[int(place * len(by_size))] for place in places]
    for file in files:
        clock.copy(file, "memory")  # so that no block reads it first
    ceiling_bytes = int(CEILING_S * machine.write_bytes_per_s()) // CHUNK_BYTES * CHUNK_BYTES
    ceilings = [
        {"written_bytes": ceiling_bytes, "duration_ns": _ns(clock.write_file(ceiling_bytes).time_s)}
        for _ in range(CEILINGS)
    ]
    order = [kind for at in range(ROUNDS) for kind in KINDS[at:] + KINDS[:at]]
    between, blocks = itertools.cycle(files), []
    for kind in order + (["pace"] * ROUNDS if pace_bytes_per_s else []):
        for file in itertools.islice(between, REFILLS):
            clock.lookup()
            clock.copy(file)
        pace = None
        if kind == "pace" and pace_bytes_per_s:
            kept_s = PACED_FILES_DEEP * sum(SIZES_BYTES) / len(SIZES_BYTES) / pace_bytes_per_s
            pace = Pace(pace_bytes_per_s, kept_s, clock.now.time_s)
        lookup_ns, copy_ns = [], []
        for file in files:
            lookup_ns.append(2000 if kind == "lookup" else _ns(clock.lookup().time_s))
            destination = kind if kind in {"unlink", "memory"} else ""
            copy_ns.append(_ns(clock.copy(file, destination, pace).time_s))
        blocks.append({"trial": kind, "lookup_ns": lookup_ns, "copy_ns": copy_ns})
    clock.sync()
    return {
        "state": "completed",
        "reason": None,
        "pace_bytes_per_s": pace_bytes_per_s and round(pace_bytes_per_s),
        "file_indexes": files,
        "duration_ns": _ns(clock.now.time_s - start_s),
        "ceilings": ceilings,
        "blocks": blocks,
    }


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)
