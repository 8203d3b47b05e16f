# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Small writes that wait for the disk: a cgroup that caps them, and schedulers, on real storage."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from answers import evidence, mean_ns, measured, states
from storage_lab import Lab, joining, needs, needs_groups, run

pytestmark = [pytest.mark.serial, pytest.mark.root]

Measure = Callable[..., Path]
Compare = Callable[..., dict[str, Any]]
WORKLOADS = ("sync-write",)
FIRST = "dsync-append-first"
# What the group itself hands to the disk for one operation: in place the data and a flush, else the
# data, since the journal's commit is made by ext4's own thread in the root group.
WRITES = {"dsync-overwrite": 2, "dsync-append": 1, FIRST: 1, "append-fsync": 1}
SHORT = "from workloads import sync_write\nsync_write.QUICK_TIME_LIMIT_S = 0.7\n"
CAPPED_WRITES_PER_S = 100


def disk(lab: Lab, name: str, filesystem: str = "ext4") -> tuple[str, Path]:
    needs_groups()
    needs(f"mkfs.{filesystem}")
    device = lab.loop(name, 400, filled=True)
    lab.schedule(device, "none")
    run(f"mkfs.{filesystem}", "-q", "-F" if filesystem == "ext4" else "-f", device)
    return device, lab.mount(device, lab.folder / name)


def test_a_capped_child_group(lab: Lab, measure: Measure, compare: Compare) -> None:
    """100 writes a second are allowed: 10 ms each, and the cgroup's limit is named as the cause."""
    device, place = disk(lab, "disk")
    group = lab.group("capped")
    lab.cap_writes(group, device, CAPPED_WRITES_PER_S)

    def workers(pool: str, count: int, **how: str) -> list[Path]:
        names = [f"{pool}-{number}" for number in range(count)]
        return [measure(pool, place, name=name, workloads=WORKLOADS, **how) for name in names]

    # The capped ones are alike; how long the others take hangs on what else the machine does.
    capped = workers("amd-16", 2, prelude=SHORT + joining(group))
    document = compare(*capped, *workers("intel", 4))
    for variant, writes in WRITES.items():
        report = measured(document, variant)
        (found,) = report["comparisons"]
        each_ms = 1000 * writes / CAPPED_WRITES_PER_S
        assert mean_ns(report, "amd-16") / 1e6 == pytest.approx(each_ms, rel=0.4), variant
        # 50 to 700 on a quiet machine; less where other work keeps the disks busy.
        assert found["ratio"] > 5, variant
    # A busy machine may leave one open, since the uncapped ones are then unlike each other.
    verdicts = {one["comparisons"][0]["verdict"] for one in document["subjects"]}
    assert "slower" in verdicts <= {"slower", "inconclusive"}
    assert states(document)["cgroup-io-limit"] == "supported"
    unlimited, limited = evidence(document, "cgroup-io-limit")
    assert unlimited == "no limit, as far as the container sees on 4 of 4 workers"
    assert limited == f"write operations 100/s on {Path(device).name} on 2 of 2 workers"


def test_what_idling_needs_is_seen(lab: Lab, measure: Measure, compare: Compare) -> None:
    """bfq idles between a group and ext4's journal, so not on xfs: both are read from the disks.

    The times are not asserted. How long bfq idles hangs on what it has learnt of the processes: on
    one machine a write took from 1 to 10 times as long as without, in runs that were alike.
    """
    group, results = lab.group("own"), []
    for pool, filesystem in (("amd-16", "ext4"), ("intel", "xfs")):
        device, place = disk(lab, filesystem, filesystem)
        lab.schedule(device, "bfq")
        results.append(measure(pool, place, workloads=WORKLOADS, prelude=joining(group)))
    on_xfs, on_ext4 = evidence(compare(*results), "scheduler")
    assert on_xfs.startswith("bfq slice_idle=")
    assert on_ext4 == f"{on_xfs}; would idle between this task's cgroup and ext4's journal"
