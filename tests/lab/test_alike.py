# SPDX-License-Identifier: MPL-2.0
"""The same machine twice, by several short runs in turn: not called different.

Chance calls one in twenty different, and a machine that has become busy calls more so. Then further
runs decide: what is called different in the same direction twice is called so wrongly.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from answers import measured
from storage_lab import Lab, joining, needs_groups

pytestmark = [pytest.mark.serial, pytest.mark.root]

Measure = Callable[..., Path]
Compare = Callable[..., dict[str, Any]]
POOLS = ("amd-16", "intel")
WORKERS = 3
# The cap, and not the machine's load, says how long a write takes: 2 ms.
WRITES_PER_S = 500
FEW = "from workloads import sync_write\nsync_write.QUICK['samples_planned'] = 100\n"
VARIANTS = ("dsync-overwrite", "dsync-append", "append-fsync", "posix-spawn")


def test_sync_writes_and_spawns_that_are_alike(
    lab: Lab, measure: Measure, compare: Compare
) -> None:
    """No verdict of slower or faster for them, and no cause for what is none."""
    needs_groups()
    place = lab.disk("disk")
    group = lab.group("alike")
    lab.cap_writes(group, lab.devices["disk"], WRITES_PER_S)

    def ask(attempt: str) -> dict[str, Any]:
        results = [
            measure(
                pool,
                place,
                name=f"{pool}-{attempt}-{number}",
                workloads=("sync-write", "spawn"),
                prelude=FEW + joining(group),
            )
            for number in range(WORKERS)
            for pool in POOLS
        ]
        document = compare(*results)
        assert [one["workers_compared"] for one in document["replication"]] == [WORKERS, WORKERS]
        return document

    document = ask("first")
    called = different(document)
    if called:
        document = ask("second")
        assert not called & different(document)
    for diagnosis in document["diagnoses"]:
        about = diagnosis["subject"]["variant"]
        if about not in {variant for variant, _ in different(document)}:
            assert [c["name"] for c in diagnosis["causes"] if c["state"] == "supported"] == []


def different(document: dict[str, Any]) -> set[tuple[str, str]]:
    found = set()
    for variant in VARIANTS:
        (one,) = measured(document, variant)["comparisons"]
        if one["verdict"] in ("slower", "faster"):
            found.add((variant, one["verdict"]))
    return found
