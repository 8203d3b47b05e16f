# SPDX-License-Identifier: MPL-2.0
"""Facts about a machine that can be compared, and which of them changed with a level."""

import json
from typing import Any

import past
import pytest
import seed_case

from io_benchmark import results
from io_benchmark.analysis.history.history_model import FactChange, FactSpread
from io_benchmark.analysis.history.series import _fact_changes
from io_benchmark.analysis.observed.host_facts import Facts, facts_of

FACTS = {
    "disks": "1",
    "stripes": "none",
    "disk models": "nvme_card0",
    "disk sizes": "375 GiB",
    "schedulers": "none",
    "write caches": "write through",
    "queue nr_requests": "256",
    "queue read_ahead_kb": "8192",
    "queue max_sectors_kb": "4096",
    "queue rotational": "0",
    "queue wbt_lat_usec": "75000",
    "file system": "ext4",
    "mount options": ("commit=60", "data=writeback", "nobarrier", "relatime", "rw"),
    "instance type": "c3d-standard-16-lssd",
    "cgroup versions": "v2",
    "I/O limits": "none",
    "memory limits": "none",
    "CPU limits": "none",
    "machine": "Google Google Compute Engine",
    "CPU": "AMD EPYC 9B14",
    "CPUs": "16",
    "memory": "64 GiB",
    "kernel": "6.8.0-1024-gcp",
    "kernel build": "#26~22.04.1-Ubuntu SMP Thu Feb 20 01:02:29 UTC 2025",
    "distribution": "Debian GNU/Linux 12 (bookworm)",
    "container engine": "docker",
    "root file system": "overlay",
    "transparent huge pages": "always [madvise] never",
    "vm.dirty_background_bytes": "0",
    "vm.dirty_background_ratio": "10",
    "vm.dirty_bytes": "0",
    "vm.dirty_expire_centisecs": "3000",
    "vm.dirty_ratio": "20",
    "vm.dirty_writeback_centisecs": "500",
    "vm.swappiness": "60",
    "bash": "GNU bash, version 5.2.15(1)-release (x86_64-pc-linux-gnu)",
    "cp": "cp (GNU coreutils) 9.1",
    "curl": "curl 7.88.1 (x86_64-pc-linux-gnu) libcurl/7.88.1",
    "fio": "not installed",
    "grep": "grep (GNU grep) 3.8",
    "python3": "3.11.7",
    "sed": "/usr/bin/sed (GNU sed) 4.9",
    "image": "an-image",
    "task queue": "gecko-t/b-linux",
    "zone": "us-central1-f",
    "script": "1.0.0 ",
}


def facts(change=None):
    """Those of a document of the seed's case, some of its keys changed."""
    (document,) = seed_case.documents(pools=["amd-16"], change={"amd-16": change or {}})
    result = results.parse(json.dumps(document).encode(), "document")
    return dict(facts_of(result, "workspace", "gecko-t/b-linux", "an-image"))


def test_all_of_them():
    """Storage comes first, because the benchmark is about it."""
    known = facts()
    assert list(known) == list(FACTS)
    beginnings = {name: known[name][: len(fact)] for name, fact in FACTS.items()}
    assert beginnings == FACTS


DEVICE = "storage.places.0.devices.1"
IO_LIMIT = {"device": "259:0", "device_name": "nvme0n1", "kind": "wbps", "value": 1000}
LIMITS = {
    "limits.io": [{"group": "/x", **IO_LIMIT}],
    "limits.memory": [{"group": "/x", "file": "memory.max", "bytes": 2**33}],
    "limits.cpu": [{"group": "/x", "quota_us": 150_000, "period_us": 100_000}],
}
LIMIT_FACTS = ("wbps nvme0n1 1000", "8.0 GiB", "1.5 CPUs")


@pytest.mark.parametrize(
    ("change", "changed"),
    [
        # What was not observed is left out, and so is what differs on every machine.
        ({"host": None}, {}),
        ({"limits": None}, {}),
        ({"storage.places.0.name": "other"}, {}),
        ({"storage.places.0.failed": "no"}, {}),
        ({"host.memory_bytes": 64 * 1024**3 - 12_345_678}, {}),
        ({"storage.places.0.free_bytes": 5, f"{DEVICE}.number": "8:0"}, {}),
        ({"host.memory_bytes": 67_000_000_000}, {"memory": "62 GiB"}),
        ({"host.tools.grep": None}, {"grep": "not installed"}),
        ({f"{DEVICE}.scheduler": "mq-deadline"}, {"schedulers": "mq-deadline"}),
        (
            LIMITS,
            dict(zip(("I/O limits", "memory limits", "CPU limits"), LIMIT_FACTS, strict=True)),
        ),
    ],
)
def test_changes(change: dict[str, Any], changed: dict[str, str]) -> None:
    """The fact that differs, and no other one."""
    usual = facts()
    differing = {name: value for name, value in facts(change).items() if usual.get(name) != value}
    assert differing == changed


def test_two_disks() -> None:
    """Their number and stripes are separate from their models, which are counted by kind."""
    (push,) = past.pushes(1)
    push.documents[0]["storage"]["places"][0]["devices"][2]["model"] = "pd"
    result = results.parse(json.dumps(push.documents[0]).encode(), "document")
    known = dict(facts_of(result, "workspace", None, None))
    usual = facts()
    assert {name: value for name, value in known.items() if usual[name] != value} == {
        "disks": "2",
        "disk models": "nvme_card0, pd",
        "stripes": "2",
        "mount options": (*FACTS["mount options"], "stripe=32"),
    }
    assert "task queue" not in known


def observed(name: str, *values: str | None) -> list[tuple[int, Facts]]:
    """Return a worker per point; `a|b` are two workers, None one of which nothing was observed."""
    return [
        (point, () if value is None else ((name, value),))
        for point, workers in enumerate(values)
        for value in (workers.split("|") if workers is not None else [None])
    ]


def change(points_off: int) -> tuple[FactChange]:
    return (FactChange("disks", "2", "1", points_off),)


def spread(before: str, after: str) -> tuple[FactSpread]:
    return (FactSpread("disks", tuple(before.split()), tuple(after.split())),)


@pytest.mark.parametrize(
    ("values", "changed", "varied"),
    [
        ("2|2 2 2 1|1 1 1", change(0), ()),
        ("2 2 1 1 1 1", change(-1), ()),
        ("2 1 1 1 1 1", change(-2), ()),
        ("2 2 2 2 2 1", change(2), ()),
        ("2 2 2 2 2 2", (), ()),
        ("2 2 2 2 2 2 1", (), spread("2", "1 2")),
        ("2 1 2 1 2 1", (), spread("1 2", "1 2")),
        ("2 2 1|2 1 1 1", (), spread("1 2", "1")),
        ("2 2 2 1 3 1", (), spread("2", "1 3")),
        ("2 2 2 1 1 2", (), spread("2", "1 2")),
    ],
)
def test_one_fact(
    values: str, changed: tuple[FactChange, ...], varied: tuple[FactSpread, ...]
) -> None:
    """Constant on each side and different is a change; so is a single switch close by."""
    assert _fact_changes(observed("disks", *values.split()), 3) == (changed, varied, False)


def test_what_was_not_observed() -> None:
    """A fact that one side lacks is not a change; a change can be without any fact on both sides."""
    nothing = ((None, None, None, "1", "1"), ("1", "1", "1", None, None), ())
    for values in nothing:
        assert _fact_changes(observed("disks", *values), 3) == ((), (), True)
    assert _fact_changes(observed("disks", "1", None, "1", "1", None), 3) == ((), (), False)


def test_the_order() -> None:
    """Changes at the point come before changes near it."""
    near = observed("kernel", "a", "a", "b", "b", "b")
    here = observed("disks", "2", "2", "2", "1", "1")
    changed, _, _ = _fact_changes([*near, *here], 3)
    assert [fact.name for fact in changed] == ["disks", "kernel"]
