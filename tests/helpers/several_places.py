# SPDX-License-Identifier: MPL-2.0
"""Tasks of the seed's pools that measure in more than one place.

The seed's workspace is first. The retrieves in other places are those of the workspace, multiplied by a
factor and with some noise.
"""

import copy
import random
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import workload_entries
from msgspec.structs import replace
from seed_case import outcome
from seed_workers import workers

from io_benchmark.analysis.compare import Options, compare
from io_benchmark.analysis.model import Subject, Worker
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.report_model import SampledReport

Document = dict[str, Any]
FIRST = "workspace"


def _of_type(name: str) -> Document:
    return {"type": name, "ext4_options": None, "btrfs_data_profiles": None}


# What the script would see of each; the first one is the seed's own.
SEEN: Mapping[str, Mapping[str, Any]] = {
    "container": {"kind": "overlay", "filesystem": _of_type("overlay")},
    "boot-disk": {"kind": "volume", "filesystem": _of_type("ext4")},
    "bind-mount": {"kind": "volume", "filesystem": _of_type("xfs")},
    "memory": {"kind": "memory", "filesystem": _of_type("tmpfs")},
}
NOISE = 0.04
AUTOCORRELATION = 0.9


def retrieved(
    entry: Document,
    place: str,
    factor: float = 1.0,
    *,
    destination: str | None = None,
    noise: float = NOISE,
    seed: int = 0,
) -> Document:
    """Return the retrieves in another place: longer by a factor, with autocorrelated noise."""
    made = copy.deepcopy(entry)
    made |= {"place": place, "destination": destination or entry["destination"]}
    generator = random.Random(f"{seed} {place} {made['destination']}")
    level, columns = 0.0, made["samples"]
    for at, (lookup_ns, copy_ns) in enumerate(
        zip(columns["lookup_ns"], columns["copy_ns"], strict=True)
    ):
        level = AUTOCORRELATION * level + noise * (1 - AUTOCORRELATION**2) ** 0.5 * generator.gauss(
            0, 1
        )
        time_ns = (lookup_ns + copy_ns) * factor * (1 + level)
        columns["lookup_ns"][at] = round(time_ns * 0.02)
        columns["copy_ns"][at] = round(time_ns * 0.98)
    return made


def shortened(entry: Document, retrieves: int) -> Document:
    """Return the entry with only its first retrieves."""
    made = copy.deepcopy(entry)
    made["retrieves_planned"] = retrieves
    made["samples"] = {name: column[:retrieves] for name, column in made["samples"].items()}
    return made


def skipped(entry: Document, reason: str) -> Document:
    """Return an entry for a place where the worker could not measure."""
    made = shortened(entry, 0)
    made |= {"retrieves_planned": entry["retrieves_planned"], "cache_state": None}
    made |= {"outcome": outcome("skipped", reason)}
    return made


def in_places(
    names: Sequence[str], entries: Callable[[list[Document]], list[Document]]
) -> Mapping[str, Any]:
    """A change of a document: its tasks name these places after the first, and measure `entries`."""

    def seen(places: list[Document]) -> list[Document]:
        bare: Document = {"failed": None, "path": "/elsewhere", "devices": []}
        return [
            *places,
            *({**bare, "name": name, **SEEN.get(name, SEEN["bind-mount"])} for name in names),
        ]

    def configured(places: list[Document]) -> list[Document]:
        return [*places, *({"name": name, "path": f"/{name}"} for name in names)]

    return {"storage.places": seen, "config.places": configured, "workloads": entries}


# --- five storage configurations, as the seed has them ---

FIVE = ("container", "boot-disk", "bind-mount", "memory")
# Only on the volume does amd-16 have one disk where intel has two.
FACTORS = {"container": 1.1, "boot-disk": 2.3, "bind-mount": 1.0, "memory": 0.11}
RETRIEVES = 400
VOLUME_RATIO = 1.92


def five_workers() -> list[Worker]:
    """On amd-16 memory was too small."""

    def entries(slower: float, *, small: bool, seed: int) -> Callable[[Any], list[Document]]:
        def made(found: list[Document]) -> list[Document]:
            first = shortened(found[0], RETRIEVES)
            others = [
                retrieved(first, name, factor / slower, seed=seed)
                for name, factor in FACTORS.items()
            ]
            if small:
                others[-1] = skipped(others[-1], "no space: needs 7100 MiB, 4100 MiB are free")
            else:
                # In memory nothing can be cold.
                others[-1]["cache_state"]["resident_bytes"] = others[-1]["cache_state"][
                    "cache_bytes"
                ]
            return [first, *others]

        return made

    change = {
        "intel": in_places(FIVE, entries(1.0, small=False, seed=1)),
        "amd-16": in_places(FIVE, entries(VOLUME_RATIO, small=True, seed=2)),
    }
    return workers(pools=("intel", "amd-16"), change=change)


@cache
def five() -> SampledReport:
    """amd-16 against intel in five places, without the pictures."""
    plan = Plan("amd-16 against intel", "intel", "for the test", (("amd-16", "intel"),))
    report = compare(plan, five_workers(), Options())
    return replace(report, series=(), timelines=())


# --- every workload, in three places, to three destinations ---

THREE = ("container", "memory")
DESTINATIONS = ("overwrite", "unlink", "fresh")


@cache
def everything() -> SampledReport:
    """As the kind io-benchmark-all measures: 3 pools, 60 measurements or more; amd-16 has one disk."""

    def entries(pool: str, seed: int) -> Callable[[Any], list[Document]]:
        def made(found: list[Document]) -> list[Document]:
            # What the volume's disks make slower is not slower elsewhere.
            like_intel = 1 / VOLUME_RATIO if pool == "amd-16" else 1.0
            first = shortened(found[0], RETRIEVES)
            of_disks = {"random-io/read-depth-32": 2.0, "random-io/write-depth-32": 2.0}
            all_of_them: list[Document] = []
            for place, factor in ((FIRST, 1.0), ("container", 1.15), ("memory", 0.15)):
                here = factor if place == FIRST else factor * like_intel
                all_of_them += [
                    retrieved(
                        first,
                        place,
                        here if destination == "overwrite" else 0.6 * factor * like_intel,
                        destination=destination,
                        seed=seed,
                    )
                    for destination in DESTINATIONS
                ]
            for place in (FIRST, *THREE):
                one_disk = pool == "amd-16" and place == FIRST
                all_of_them += [
                    entry
                    for entry in workload_entries.entries(
                        of_disks if one_disk else {}, seed=seed, place=place
                    )
                    if place == FIRST or entry["name"] not in ("spawn", "upload")
                ]
            return all_of_them

        return made

    pools = ("intel", "amd-16", "amd-30")
    change = {
        pool: in_places(THREE, entries(pool, seed)) for seed, pool in enumerate(pools, start=1)
    }
    plan = Plan(
        "amd-16, amd-30 against intel",
        "intel",
        "for the test",
        (("amd-16", "intel"), ("amd-30", "intel")),
    )
    return compare(plan, workers(pools=pools, change=change), Options())


FEW = (
    *(("cache-retrieve", place, "overwrite", "", 0) for place in (FIRST, "memory")),
    *(("random-io", FIRST, "", variant, 0) for variant in ("read-depth-1", "read-depth-32")),
    *(("metadata", FIRST, "", "stat", threads) for threads in (1, 4)),
)


@cache
def few_measurements() -> SampledReport:
    """Return two candidates with few measurements and one table of places, without causes."""
    report = everything()

    def is_one(subject: Subject) -> bool:
        key = (subject.workload, subject.place, subject.destination, subject.variant)
        return (*key, subject.threads) in FEW

    subjects = tuple(part for part in report.subjects if is_one(part.subject))
    return replace(
        report,
        subjects=subjects,
        places=report.places[:1],
        diagnoses=(),
        series=tuple(series for series in report.series if is_one(series.subject)),
    )
