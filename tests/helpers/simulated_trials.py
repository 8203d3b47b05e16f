# SPDX-License-Identifier: MPL-2.0
"""Trials on a simulated machine: the same disks, CPU and page cache do retrieves with one thing changed.

`of_machine` returns what a worker records. A block of each kind is run in each round:

  lookup  nothing is spent on a lookup
  unlink  the destination is removed first, so its dirty pages are dropped and never written
  memory  nothing is written to the disks
  pace    a copy takes tokens from a bucket that fills at the pace; it waits where there are too few

Competitors for the CPU come and go: each block has another number of them.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from simulated_machine import MIB, Machine, S, Writeback, copy_work, lookup, with_limits_of_copies

KINDS = ("normal", "lookup", "unlink", "memory")
ROUNDS, CEILINGS, REFILLS = 4, 3, 3
CEILING_S = 1.8
CHUNK_BYTES, BUCKET_FILES = 256 * 1024, 4
# How much the number of competitors varies, as the standard deviation of its logarithm.
COMPETITORS_VARY = 0.4


@dataclass
class _Bucket:
    """Tokens for bytes; the bucket starts empty and holds a few files' worth."""

    bytes_per_s: float
    depth_bytes: float
    tokens: float = 0.0

    def pass_time(self, time_ns: float) -> None:
        self.tokens = min(self.depth_bytes, self.tokens + self.bytes_per_s * time_ns / S)

    def copy(self, size_bytes: int, chunk_ns: float) -> float:
        """Return how long a copy waits, whose chunks take this long each."""
        waited_ns, left = 0.0, size_bytes
        while left > 0:
            chunk = min(left, CHUNK_BYTES)
            missing_ns = max(0.0, chunk - self.tokens) / self.bytes_per_s * S
            waited_ns += missing_ns
            self.pass_time(missing_ns)
            self.tokens -= chunk
            self.pass_time(chunk_ns)
            left -= chunk
        return waited_ns


@dataclass
class _Trials:
    """A machine after its retrieves, with what is still dirty."""

    machine: Machine
    sizes_bytes: Sequence[int]
    pace_bytes_per_s: float | None
    generator: random.Random
    noise: float

    def __post_init__(self) -> None:
        self.writeback = Writeback(self.machine, "overwrite")

    def ceiling(self) -> dict[str, int]:
        """Write a file in chunks, and sync it; the disks were idle before."""
        machine = self._busy()
        writeback = Writeback(machine, "overwrite")
        size = round(CEILING_S * machine.write_bytes_per_s / MIB) * MIB
        user, kernel, waiting, _ = copy_work(machine, size, self._vary())
        blocked_ns = writeback.copy(size)
        writeback.pass_time(user + kernel + waiting)
        duration_ns = user + kernel + waiting + (blocked_ns + writeback.drain()) * self._vary()
        return {"written_bytes": size, "duration_ns": round(duration_ns)}

    def block(self, kind: str) -> dict[str, Any]:
        machine = self._busy()
        self.writeback.bytes_per_s = machine.write_bytes_per_s
        for size in self.sizes_bytes[:REFILLS]:
            self._retrieve(machine, size, "normal", None)
        bucket = None
        if kind == "pace":
            mean_bytes = sum(self.sizes_bytes) / len(self.sizes_bytes)
            assert self.pace_bytes_per_s is not None
            bucket = _Bucket(self.pace_bytes_per_s, BUCKET_FILES * mean_bytes)
        rows = [self._retrieve(machine, size, kind, bucket) for size in self.sizes_bytes]
        lookup_ns, copy_ns = ([round(row[at]) for row in rows] for at in (0, 1))
        return {"trial": kind, "lookup_ns": lookup_ns, "copy_ns": copy_ns}

    def _retrieve(
        self, machine: Machine, size: int, kind: str, bucket: _Bucket | None
    ) -> tuple[float, float]:
        writeback = self.writeback
        lookup_ns = 2_000.0 if kind == "lookup" else sum(lookup(machine, self._vary()))
        writeback.pass_time(lookup_ns)
        user, kernel, waiting, _ = copy_work(machine, size, self._vary())
        writeback.pass_time(machine.scan_ns)
        working_ns = user + kernel + waiting + machine.scan_ns
        if kind == "memory":
            return lookup_ns, working_ns
        paced_ns = 0.0
        if bucket is not None:
            bucket.pass_time(lookup_ns)
            paced_ns = bucket.copy(size, working_ns / math.ceil(size / CHUNK_BYTES))
            writeback.pass_time(paced_ns)
        if kind == "unlink":
            writeback.drop()
        blocked_ns = writeback.copy(size) * self._vary()
        if bucket is not None:
            bucket.pass_time(blocked_ns)
        writeback.pass_time(working_ns)
        return lookup_ns, working_ns + blocked_ns + paced_ns

    def _busy(self) -> Machine:
        """Return the machine with as many competitors as there are now."""
        neighbours = self.machine.neighbours
        factor = math.exp(COMPETITORS_VARY * self.generator.gauss(0, 1))
        now = replace(neighbours, runnable_per_cpu=neighbours.runnable_per_cpu * factor)
        return replace(self.machine, neighbours=now)

    def _vary(self) -> float:
        return math.exp(self.noise * self.generator.gauss(0, 1))


def of_machine(
    machine: Machine,
    file_indexes: Sequence[int],
    sizes_bytes: Sequence[int],
    *,
    pace_bytes_per_s: float | None = None,
    generator: random.Random,
    noise: float = 0.05,
) -> dict[str, Any]:
    """Return an entry's trials, as a worker writes them."""
    machine = replace(machine, storage=with_limits_of_copies(machine.storage))
    sizes = [sizes_bytes[index] for index in file_indexes]
    trials = _Trials(machine, sizes, pace_bytes_per_s, generator, noise)
    ceilings = [trials.ceiling() for _ in range(CEILINGS)]
    order = [
        KINDS[(at + start) % len(KINDS)] for start in range(ROUNDS) for at in range(len(KINDS))
    ]
    if pace_bytes_per_s is not None:
        order += ["pace"] * ROUNDS
    blocks = [trials.block(kind) for kind in order]
    spent_ns = sum(sum(each["lookup_ns"]) + sum(each["copy_ns"]) for each in blocks)
    return {
        "state": "completed",
        "reason": None,
        "pace_bytes_per_s": None if pace_bytes_per_s is None else round(pace_bytes_per_s),
        "file_indexes": [*file_indexes],
        "duration_ns": spent_ns + sum(each["duration_ns"] for each in ceilings),
        "ceilings": ceilings,
        "blocks": blocks,
    }
