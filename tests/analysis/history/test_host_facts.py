# SPDX-License-Identifier: MPL-2.0
"""Facts about a machine that can be compared."""

import json

import past
import pytest
import seed_case

from io_benchmark import results
from io_benchmark.analysis.history.host_facts import facts_of

FACTS = {
    "disks": "1",
    "stripes": "none",
    "disk models": "nvme_card0",
    "disk sizes": "375 GiB",
    "schedulers": "none",
    "write caches": "write through",
    "queue nr_requests": "1023",
    "queue read_ahead_kb": "128",
    "queue max_sectors_kb": "256",
    "queue rotational": "0",
    "queue wbt_lat_usec": "2000",
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
    "python3": "3.11.2",
    "sed": "/usr/bin/sed (GNU sed) 4.9",
    "image": "an-image",
    "task queue": "gecko-t/b-linux",
    "zone": "us-central1-f",
    "script": "0.1.0 dfa5faf9af15",
}


def facts(change=None, *, pool="amd-16"):
    """Those of a document of the seed's case, some of its keys changed."""
    (document,) = seed_case.documents(pools=[pool], change={pool: change or {}})
    result = results.parse(json.dumps(document).encode(), "document")
    return dict(facts_of(result, "workspace", "gecko-t/b-linux", "an-image"))


def test_all_of_them():
    """Storage comes first, because the benchmark is about it."""
    found = facts()
    assert found == {**FACTS, "script": found["script"]}
    assert list(found) == list(FACTS)
    assert found["script"].startswith("0.1.0 ")


def test_two_disks():
    """The number of disks and their stripes are separate from their models."""
    (push,) = past.pushes(1)
    result = results.parse(json.dumps(push.documents[0]).encode(), "document")
    found = dict(facts_of(result, "workspace", "gecko-t/b-linux", "an-image"))
    changed = {name: value for name, value in found.items() if facts()[name] != value}
    assert changed == {
        "disks": "2",
        "stripes": "2",
        "mount options": (
            "commit=60",
            "data=writeback",
            "nobarrier",
            "relatime",
            "rw",
            "stripe=32",
        ),
    }


DEVICE = "storage.places.0.devices.1"


@pytest.mark.parametrize(
    ("change", "changed"),
    [
        pytest.param({"host": None}, {}, id="no-host"),
        pytest.param({"limits": None}, {}, id="no-limits"),
        pytest.param({"storage.places.0.failed": "no such mount"}, {}, id="no-storage"),
        pytest.param({"storage.places.0.name": "other"}, {}, id="another-place"),
        pytest.param({"host.memory_bytes": 67_000_000_000}, {"memory": "62 GiB"}, id="memory"),
        pytest.param(
            {"host.memory_bytes": 64 * 1024**3 - 12_345_678}, {}, id="memory-of-the-kernel"
        ),
        pytest.param({"host.tools.grep": None}, {"grep": "not installed"}, id="no-tool"),
        pytest.param(
            {f"{DEVICE}.scheduler": "mq-deadline"}, {"schedulers": "mq-deadline"}, id="scheduler"
        ),
        pytest.param(
            {
                "limits.io": [
                    {
                        "group": "/x",
                        "device": "259:0",
                        "device_name": "nvme0n1",
                        "kind": "wbps",
                        "value": 1000,
                    }
                ],
                "limits.memory": [{"group": "/x", "file": "memory.max", "bytes": 2**33}],
                "limits.cpu": [{"group": "/x", "quota_us": 150_000, "period_us": 100_000}],
            },
            {
                "I/O limits": "wbps nvme0n1 1000",
                "memory limits": "8.0 GiB",
                "CPU limits": "1.5 CPUs",
            },
            id="limits",
        ),
        pytest.param(
            {"storage.places.0.free_bytes": 5, f"{DEVICE}.number": "8:0"}, {}, id="always-another"
        ),
    ],
)
def test_changes(change, changed):
    """Unobserved facts are left out, and so is what differs on every machine."""
    usual = facts()
    assert {name: one for name, one in facts(change).items() if usual.get(name) != one} == changed


def test_unlike_disks():
    """Counted by kind, since their names and order say nothing."""
    (push,) = past.pushes(1)
    push.documents[0]["storage"]["places"][0]["devices"][2]["model"] = "pd"
    result = results.parse(json.dumps(push.documents[0]).encode(), "document")
    found = dict(facts_of(result, "workspace", None, None))
    assert found["disk models"] == "nvme_card0, pd"
    assert "task queue" not in found
