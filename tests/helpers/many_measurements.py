# SPDX-License-Identifier: MPL-2.0
"""Tasks of the seed's pools that measure every workload, and that measure in more than one place.

The seed's workspace is first. The retrieves in other places are those of the workspace, multiplied
by a factor and with some noise.
"""

import copy
import random
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import workload_entries
from msgspec.structs import replace
from seed_case import shortened
from seed_workers import compared, measured

from io_benchmark.analysis.model.report import SampledReport
from io_benchmark.analysis.model.subject import Subject

Document = dict[str, Any]
FIRST = "workspace"


# The kind and the file system of each, as the script would see them; the first one is the seed's
# own.
SEEN = {
    "container": ("overlay", "overlay"),
    "memory": ("memory", "tmpfs"),
}


def retrieved(
    entry: Document,
    place: str,
    factor: float = 1.0,
    *,
    destination: str | None = None,
    noise: float = 0.04,
    seed: int = 0,
) -> Document:
    """Return the retrieves in another place: longer by a factor, with autocorrelated noise."""
    made = copy.deepcopy(entry)
    made |= {"place": place, "destination": destination or entry["destination"]}
    generator = random.Random(f"{seed} {place} {made['destination']}")
    level, samples = 0.0, made["samples"]
    times_ns = zip(samples["lookup_ns"], samples["copy_ns"], strict=True)
    for number, (lookup_ns, copy_ns) in enumerate(times_ns):
        level = 0.9 * level + noise * (1 - 0.9**2) ** 0.5 * generator.gauss(0, 1)
        time_ns = (lookup_ns + copy_ns) * factor * (1 + level)
        samples["lookup_ns"][number] = round(time_ns * 0.02)
        samples["copy_ns"][number] = round(time_ns * 0.98)
    return made


def in_places(
    names: Sequence[str], entries: Callable[[list[Document]], list[Document]]
) -> Mapping[str, Any]:
    """A change of a document: tasks name these places after the first and measure `entries`."""

    def seen(places: list[Document]) -> list[Document]:
        added = []
        for name in names:
            kind, filesystem = SEEN.get(name, ("volume", "xfs"))
            types = {"type": filesystem, "ext4_options": None, "btrfs_data_profiles": None}
            facts = {"name": name, "kind": kind, "filesystem": types, "devices": []}
            added.append({**facts, "failed": None, "path": "/elsewhere"})
        return [*places, *added]

    def configured(places: list[Document]) -> list[Document]:
        return [*places, *({"name": name, "path": f"/{name}"} for name in names)]

    return {"storage.places": seen, "config.places": configured, "workloads": entries}


# Only on the volume does amd-16 have one disk where intel has two.
VOLUME_RATIO = 1.92
RETRIEVES = 400


def _retrieves(
    first: Document,
    slower: float,
    factors: Mapping[str, float],
    seed: int,
) -> list[Document]:
    """Return retrieves in places; what makes those of `first` slower makes no others slower."""
    return [
        retrieved(
            first,
            place,
            factor
            * (1.0 if destination == "overwrite" else 0.6)
            / (1.0 if (place, destination) == (FIRST, "overwrite") else slower),
            destination=destination,
            seed=seed,
        )
        for place, factor in factors.items()
        for destination in ("overwrite", "unlink", "fresh")
    ]


def _in_memory(entry: Document, *, is_too_small: bool) -> Document:
    if is_too_small:
        return workload_entries.skipped(entry, "no space: needs 7100 MiB, 4100 MiB are free")
    entry["cache_state"]["resident_bytes"] = entry["cache_state"]["cache_bytes"]
    return entry


def _is_once_per_task(entry: Document) -> bool:
    return entry["name"] in ("spawn", "upload") or entry.get("variant") == "to-memory"


@cache
def everything() -> SampledReport:
    """As the kind io-benchmark-all measures: 3 pools, 60 measurements or more.

    amd-16 has one disk, and too little memory to retrieve there. In memory nothing can be cold.
    """
    factors = {FIRST: 1.0, "container": 1.15, "memory": 0.15}
    of_disks = {"random-io/read-depth-32": 2.0, "random-io/write-depth-32": 2.0}

    def in_three(slower: float, seed: int) -> Mapping[str, Any]:
        def entries(found: list[Document]) -> list[Document]:
            first = shortened(found[0], RETRIEVES)
            made = [
                _in_memory(entry, is_too_small=slower > 1) if entry["place"] == "memory" else entry
                for entry in _retrieves(first, slower, factors, seed)
            ]
            for place in factors:
                ratios = of_disks if slower > 1 and place == FIRST else {}
                made += (
                    entry
                    for entry in workload_entries.entries(ratios, seed=seed, place=place)
                    if place == FIRST or not _is_once_per_task(entry)
                )
            return made

        return in_places(("container", "memory"), entries)

    change = {
        "intel": in_three(1.0, 1),
        "amd-16": in_three(VOLUME_RATIO, 2),
        "amd-30": in_three(1.0, 3),
    }
    return compared(change)


FEW = (
    *(("cache-retrieve", place, "overwrite", "", 0) for place in (FIRST, "memory")),
    *(("random-io", FIRST, "", variant, 0) for variant in ("read-depth-1", "read-depth-32")),
    *(("metadata", FIRST, "", "stat", threads) for threads in (1, 4)),
)


@cache
def few_measurements() -> SampledReport:
    """Return two candidates with few measurements and one table of places, without causes."""

    def is_kept(subject: Subject) -> bool:
        key = (subject.workload, subject.place, subject.destination, subject.variant)
        return (*key, subject.threads) in FEW

    report = everything()
    return replace(
        report,
        subjects=tuple(part for part in report.subjects if is_kept(part.subject)),
        places=report.places[:1],
        diagnoses=(),
        series=tuple(series for series in report.series if is_kept(series.subject)),
    )


# On amd-16 each seed's case is visible.
SLOWER = {
    "random-io/read-depth-32": 2.0,
    "random-io/write-depth-32": 2.0,
    "spawn": 1.06,
    "sync-write/dsync-append": 5.0,
    "sync-write/append-fsync": 4.0,
    "metadata/stat/2": 1.8,
    "metadata/stat/4": 4.5,
    "metadata/visibility": 10.0,
    "exec/copies": 1.5,
    "upload/connection-each": 150.0,
}
OBSERVED = {
    "metadata/visibility": {"not_visible": 200},
    "upload/connection-each": {"expect_100_stalls": 50},
}


@cache
def every_workload() -> SampledReport:
    """Compare the pools.

    Amd-30 has a larger cache, hence a different binary and no verdict on exec.
    """
    change = {
        "intel": measured(seed=1),
        "amd-16": measured(SLOWER, observed=OBSERVED, seed=2),
        "amd-30": measured(seed=3, parameters={"exec": {"blob_bytes": 40_000_000}}),
    }
    return compared(change)
