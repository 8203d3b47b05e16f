# SPDX-License-Identifier: MPL-2.0
"""Which results are from one machine, and its facts, as a history and a mixed pool compare them."""

from typing import Any

import pytest
from msgspec.structs import replace
from seed_facts import cpu_limit, io_limit, memory_limit
from seed_workers import workers
from windows_facts import windows_host, windows_place

from io_benchmark.analysis.reading.machines import MachineMarks, facts_of, kind_of_machine

# Storage comes first, because the benchmark is about it.
NAMES = (
    "disks, stripes, disk models, disk sizes, schedulers, write caches, queue nr_requests, "
    "queue read_ahead_kb, queue max_sectors_kb, queue rotational, queue wbt_lat_usec, file system, "
    "mount options, instance type, cgroup versions, I/O limits, memory limits, CPU limits, "
    "machine, "
    "CPU, "
    "CPUs, memory, kernel, kernel build, distribution, container engine, root file system, "
    "transparent huge pages, vm.dirty_background_bytes, vm.dirty_background_ratio, vm.dirty_bytes, "
    "vm.dirty_expire_centisecs, vm.dirty_ratio, vm.dirty_writeback_centisecs, vm.swappiness, "
    "bash, cp, curl, "
    "fio, grep, python3, sed, image, task queue, zone, script"
)
# What is not as the result has it.
IN_WORDS = {
    "disks": "1",
    "stripes": "none",
    "disk sizes": "375 GiB",
    "mount options": ("commit=60", "data=writeback", "nobarrier", "relatime", "rw"),
    "cgroup versions": "v2",
    "I/O limits": "none",
    "memory limits": "none",
    "CPU limits": "none",
    "machine": "Google Google Compute Engine",
    "memory": "64 GiB",
    "fio": "not installed",
    "python3": "3.11.7",
}
PLACE = "storage.places.0"
DEVICE = f"{PLACE}.devices.1"
GIB = 1024**3
TWO = {"disks": "2", "stripes": "2"}


def facts(change: dict[str, Any], place: str = "workspace") -> dict[str, Any]:
    (worker,) = workers(pools=("amd-16",), change={"amd-16": change})
    return dict(facts_of(worker.result, place, "gecko-t/b-linux", "an-image"))


def test_all_of_them() -> None:
    """They have this order, and these words."""
    machine = {"machine_vendor": "Google", "machine_product": "Google Compute Engine"}
    known = facts(
        {f"host.{name}": text for name, text in machine.items()} | {"host.tools.fio": None}
    )
    assert ", ".join(known) == NAMES
    assert {name: known[name] for name in IN_WORDS} == IN_WORDS


def test_windows() -> None:
    """What only Windows has, in words; what is not known is left out."""
    windows = {
        "host.system": "windows",
        "host.windows": windows_host(filters=["b", "a"], long_paths=None),
        f"{PLACE}.windows": windows_place(is_system_disk=True),
    }
    made = facts(windows)
    known = {name: value for name, value in made.items() if name not in facts({})}
    assert known == {
        "system": "windows",
        "power plan": "High performance",
        "paging files": ("D:\\pagefile.sys",),
        "last access": "no",
        "filters": ("a", "b"),
        "Defender is running": "yes",
        "Defender is real time": "no",
        "drive": "D:",
        "is dev drive": "no",
        "is trusted dev drive": "no",
        "cluster bytes": "4096",
        "short names": "no",
        "is compressed": "no",
        "is encrypted": "no",
        "clones blocks": "no",
        "is system disk": "yes",
        "has paging file": "no",
        "is temporary disk": "no",
    }


def test_kinds_of_windows_machines() -> None:
    """Whether Defender scans, and whether the place is on the system's disk, tell kinds apart."""
    windows = {
        "host.windows": windows_host(),
        f"{PLACE}.windows": windows_place(is_system_disk=True),
    }
    (worker,) = workers(pools=("amd-16",), change={"amd-16": windows})
    kind = kind_of_machine(worker.runs[:1])
    assert kind["Defender is real time"] == "Defender's real-time protection: no"
    assert kind["is system disk"] == "on the system's disk: yes"


def with_further_disk(model: str) -> dict[str, Any]:
    return {
        f"{PLACE}.devices": lambda devices: [
            {**devices[0], "below": ["nvme1n1", "x"], "stripe_count": 2},
            *devices[1:],
            {**devices[-1], "name": "x", "model": model},
        ]
    }


@pytest.mark.parametrize(
    ("change", "changed"),
    [
        # What was not observed is left out, and so is what differs on every machine.
        ({"host": None}, {}),
        ({"limits": None}, {}),
        ({f"{PLACE}.failed": "no"}, {}),
        ({"host.memory_bytes": 64 * GIB - 10**8}, {}),
        ({f"{PLACE}.free_bytes": 5, f"{DEVICE}.number": "8:0"}, {}),
        ({"host.memory_bytes": 67_000_000_000}, {"memory": "62 GiB"}),
        ({"host.tools.grep": None}, {"grep": "not installed"}),
        ({f"{DEVICE}.scheduler": "mq-deadline"}, {"schedulers": "mq-deadline"}),
        (memory_limit(1536), {"memory limits": "1.5 GiB"}),
        (memory_limit(0), {}),
        (io_limit(1000), {"I/O limits": "write_bytes_per_s nvme1n1 1000"}),
        (cpu_limit(1.5), {"CPU limits": "1.5 CPUs"}),
        # Equal disks are named once, others are counted by their kind.
        (with_further_disk("nvme_card0"), TWO),
        (with_further_disk("pd"), TWO | {"disk models": "nvme_card0, pd"}),
    ],
)
def test_changes(change: dict[str, Any], changed: dict[str, str]) -> None:
    """The fact that differs, and no other one."""
    usual = facts({})
    differing = {name: value for name, value in facts(change).items() if usual.get(name) != value}
    assert differing == changed


def test_another_place_has_other_disks() -> None:
    """Only facts of the host are left."""
    elsewhere = facts({}, "elsewhere")
    assert ("disks" in elsewhere, elsewhere["CPUs"]) == (False, "16")


def test_the_kind_of_a_machine() -> None:
    """What all of its runs share, in words."""
    first, second = workers(2, pools=("amd-16",), change={"amd-16/1": {"host.kernel": "6.9"}})
    kind = kind_of_machine([run.runs[0] for run in (first, second)])
    assert (kind["disks"], kind["CPUs"]) == ("1 disk", "16 CPUs")
    assert "kernel" not in kind


BOOT, OTHER = "4514e179-e9e1-4620-b051-b51d93f6b9cd", "0a1b2c3d-e9e1-4620-b051-b51d93f6b9cd"


def marks(worker_id="unknown", boot_id="", *, kernel="6.8.0", cloud="", pool="p"):
    boot = (boot_id, kernel, "#1 SMP", "x86_64") if boot_id else ()
    return MachineMarks(worker_id, boot, (cloud, "", "a") if cloud else (), pool)


NAME = f"with boot id {BOOT}"
ONE, BARE = marks("g/1", BOOT), marks(boot_id=BOOT)
COPIES = [marks("g/1", BOOT, cloud="gcp"), marks("g/2", BOOT, cloud="aws")]


@pytest.mark.parametrize(
    ("results", "names"),
    [
        pytest.param([marks("g/1"), marks("g/2"), marks("g/1")], "g/1; g/2; g/1", id="worker-ids"),
        pytest.param([ONE, marks("g/1", OTHER)], "g/1; g/1", id="after-a-reboot"),
        ([marks("g/1"), marks("g/1", pool="q")], "g/1 of p; g/1 of q"),
        # A host with a worker of two pools.
        ([ONE, marks("g/1", BOOT, pool="q")], "g/1 of p; g/1 of p"),
        pytest.param([ONE, marks("h/9", BOOT)], "g/1; g/1", id="several-on-a-host"),
        pytest.param([BARE, BARE], f"{NAME}; {NAME}", id="bare-files"),
        pytest.param([BARE, ONE], "g/1; g/1", id="a-file-and-a-run"),
        ([ONE, marks("g/2", OTHER), marks("g/1", OTHER)], "g/1; g/1; g/1"),  # by way of the third
        pytest.param([marks(), marks()], "unknown; unknown", id="nothing-known"),
        pytest.param([ONE, marks("g/2", BOOT, kernel="6.9.0")], "g/1; g/2", id="another-kernel"),
        ([BARE, marks(boot_id=BOOT, kernel="6.9.0")], f"{NAME}; {NAME}, 2"),
        pytest.param(COPIES, "g/1; g/2", id="copied-to-another-cloud"),
    ],
)
def test_machines(results, names):
    """Results with a common worker id or boot id are from one machine.

    Unknown ones from one each.
    """
    expected = names.split("; ")
    assert MachineMarks.machine_names(results) == expected
    backwards = MachineMarks.machine_names(results[::-1])[::-1]
    assert list(map(backwards.index, backwards)) == list(map(expected.index, expected))


@pytest.mark.parametrize(
    ("boot_id", "known"),
    [
        (BOOT, True),
        (f" {BOOT.upper()}\n", True),
        (None, False),
        ("", False),
        ("00000000-0000-0000-0000-000000000000", False),
        # Five and six different digits.
        ("12345123-4512-3451-2345-123451234512", False),
        ("12345623-4512-3451-2345-123451234512", True),
        ("unknown-machine", False),
    ],
)
def test_boot_ids(boot_id: str | None, known: bool) -> None:
    """Two workers with one boot id are one machine where it is a random number, else two."""
    change = {"intel": {"host.boot_id": boot_id}}
    first, second = MachineMarks.identify(workers(2, pools=("intel",), change=change))
    assert (first.machine == second.machine) is known


def test_workers_of_two_pools_with_one_id() -> None:
    """They are two machines; two rehearsals on one host are of one, whatever their pools are."""
    first, second = workers(1, pools=("amd-16", "intel"))
    for group, is_same in (("static", False), ("rehearsal", True)):
        both = [replace(worker, worker_id=f"{group}/1") for worker in (first, second)]
        names = [worker.machine for worker in MachineMarks.identify(both)]
        assert (len(set(names)) == 1) is is_same
