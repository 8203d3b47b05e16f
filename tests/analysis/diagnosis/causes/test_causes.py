# SPDX-License-Identifier: MPL-2.0
"""Causes that cache-retrieve shows: thresholds, what is not observable, and the words.

The recorded trees prove each cause end to end (tests/trees).
"""

import re
from typing import Any

import pytest
import seed_case
from checkout import ROOT
from msgspec.structs import replace
from seed_workers import (
    SUBJECT,
    baseline_text,
    candidate_text,
    causes_of,
    explanation_text,
    texts,
    workers_of,
)

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.causes import RULES
from io_benchmark.analysis.diagnosis.deciding import judge
from io_benchmark.analysis.evidence_model import Observation, Seen
from io_benchmark.analysis.model import State
from io_benchmark.analysis.observed.side_views import SideViews
from io_benchmark.analysis.statements import Quantity, Unit, statement

# The hypotheses of seed 000's table, by number: the causes that together answer each.
SEED_HYPOTHESES = {
    1: ("cpu", "disk-speed", "random-io"),  # AMD CPU/NVMe hardware is slower
    2: ("storage-place",),  # Docker overlay2 adds overhead
    3: ("image-and-tools",),  # the Docker image is the issue
    4: ("boot-disk-fallback",),  # the type of the persistent boot disk
    5: ("cgroup-io-limit",),
    6: ("cgroup-memory-limit",),
    7: ("mount-options", "file-system"),  # Docker daemon configuration, seen as mount options
    8: ("lookup-cost", "spawn-cost"),  # fork/exec overhead
}
SUPPORTED, RULED_OUT, NOT_OBSERVABLE = State.SUPPORTED, State.RULED_OUT, State.NOT_OBSERVABLE
NOT_SEPARABLE, NOT_JUDGED = State.NOT_SEPARABLE, State.NOT_JUDGED
MIB = 1024 * 1024
MS = 1_000_000
PLACE = "storage.places.0"
ENTRY = "workloads.0"
OWN_SYSTEM = "timeline.columns.own_system_ms"
OVERLAY = {"lower_layers": 12, "upper_directory": "/var/lib/docker/x/diff", "volatile": False}
LINEAR = {
    f"{PLACE}.devices.0.stripe_count": None,
    f"{PLACE}.mount.super_options": "rw,nobarrier,data=writeback,commit=60",
}
ON_OVERLAY = {
    f"{PLACE}.kind": "overlay",
    f"{PLACE}.overlay": OVERLAY,
    f"{PLACE}.mount.filesystem": "overlay",
    f"{PLACE}.filesystem.type": "overlay",
}
SLOW_LOOKUPS = {f"{ENTRY}.samples.lookup_ns": lambda column: [ns + 40 * MS for ns in column]}
BUSY_KERNEL = {OWN_SYSTEM: lambda column: [4 * ms for ms in column]}
REAL = {f"{ENTRY}.fidelity": "real"}
DEFAULTS = {
    f"{PLACE}.mount.super_options": "rw,stripe=32",
    f"{PLACE}.filesystem.ext4_options": None,
}
NO_FLUSH = {f"{PLACE}.mount.super_options": lambda text: text + ",noauto_da_alloc"}


def half_the_bytes(device_bytes):
    return {
        name: {"read": moved["read"], "written": moved["written"] // 2}
        for name, moved in device_bytes.items()
    }


def twice(device_bytes):
    return {
        name: {"read": moved["read"], "written": 2 * moved["written"]}
        for name, moved in device_bytes.items()
    }


def slowing_down(column):
    return [round(ns * (0.5 + at / len(column))) for at, ns in enumerate(column)]


def first(count):
    return lambda samples: {name: column[:count] for name, column in samples.items()}


def filesystem(name):
    return {f"{PLACE}.mount.filesystem": name, f"{PLACE}.filesystem.type": name}


def scheduler(name, **settings):
    return {
        f"{PLACE}.devices.1.scheduler": name,
        f"{PLACE}.devices.1.scheduler_settings": settings,
    }


HALF_THE_RATE = {
    "timeline.devices.nvme1n1.written_bytes": lambda column: [value // 2 for value in column]
}
IDLING = scheduler("bfq", slice_idle=8, low_latency=1)
STARVING = scheduler("bfq", strict_guarantees=1, slice_idle=0)
# The faster side has two disks.
BOTH_IDLE = IDLING | {
    path.replace("devices.1", "devices.2"): value for path, value in IDLING.items()
}
ROOT_GROUP = {"host.container": None}
FRESH = {f"{ENTRY}.destination": "fresh"}
NOTHING_LEFT: dict[str, Any] = {f"{ENTRY}.final_sync_device_bytes": {}}
FRESHLY = {"subject": replace(SUBJECT, destination="fresh")}


def tool(name, version):
    return {f"host.tools.{name}.version": version}


def cp(version):
    return tool("cp", f"cp (GNU coreutils) {version}")


def io_limit(value, device="259:0", name="nvme1n1", kind="write_bytes_per_s"):
    limit = {"group": "/sys/fs/cgroup", "device": device, "device_name": name}
    return {"limits.io": [{**limit, "kind": kind, "value": value}]}


def memory_limit(value):
    return {"limits.memory": [{"group": "/sys/fs/cgroup", "file": "memory.max", "bytes": value}]}


def cpu_limit(quota_us):
    return {"limits.cpu": [{"group": "/sys/fs/cgroup", "quota_us": quota_us, "period_us": 100_000}]}


def hardly_written(device_bytes):
    return {name: {**moved, "written": MIB} for name, moved in device_bytes.items()}


def quarter(device_bytes):
    return half_the_bytes(half_the_bytes(device_bytes))


def row(name, state, situation, slower=None, faster=None, candidate="amd-16", **arguments):
    """The slower side is the candidate, the faster one is intel; both as in the seed's case."""
    change = {candidate: slower or {}, "intel": faster or {}}
    arguments |= {"candidate": candidate}
    return pytest.param(name, state, change, arguments, id=f"{name}-{state.value}-{situation}")


NO_PLACE: dict[str, Any] = {"storage.places": []}
NO_DEVICES: dict[str, Any] = {f"{PLACE}.devices": []}
NO_LIMITS = {"limits": None}
NO_ENTRIES: dict[str, Any] = {"workloads": []}
NO_WAITS = {"timeline.columns.psi_io_some_us": lambda column: [0] * len(column)}
UNKNOWN_KIND = {f"{PLACE}.kind": "unknown"}
DISK_MODEL = f"{PLACE}.devices.1.model"
NO_BYTES = {f"{ENTRY}.device_bytes.nvme1n1": {"read": 0, "written": 0}}
NO_BYTES_OF_INTEL = {f"{ENTRY}.device_bytes": {"nvme0n1": {"read": 0, "written": 0}}}
CRYPT = {f"{PLACE}.devices.0.kind": "crypt"}
LITTLE_MEMORY = {"host.memory_available_bytes": 4 * 1024**3}
LITTLE_DIRTY = {"host.vm.dirty_ratio": 1, "host.vm.dirty_background_ratio": 1}
STOLEN = {"timeline.columns.cpu_steal_ms": lambda column: [4000 * at for at in range(len(column))]}
OPERATIONS = io_limit(100, "7:0", None, "write_operations_per_s")
OLD_BARRIER = {
    f"{PLACE}.mount.super_options": "rw,barrier=1,data=writeback,commit=60",
    f"{PLACE}.filesystem.ext4_options": None,
}
UNKNOWN_OPTION = {f"{PLACE}.mount.super_options": lambda text: text + ",dioread_lock"}
UNTRIED = {"timeline": None, f"{ENTRY}.device_bytes": half_the_bytes, "task.instance_type": "m5"}
HALF_A_MS = {"host.first_touch_ns_per_mib": [250_000] * 8}
UNMEASURED: dict[str, Any] = {"host.first_touch_ns_per_mib": []}
SLOWING_DOWN = {f"{ENTRY}.samples.copy_ns": slowing_down}
UNLINK = replace(SUBJECT, destination="unlink")
REALLY = {"subject": replace(SUBJECT, fidelity="real")}
STRICT = scheduler("bfq", slice_idle=0, strict_guarantees=0)
CASES = [
    row("device-count", RULED_OUT, "the side with one is faster", ratio=0.5),
    row("device-count", NOT_JUDGED, "no difference in time", ratio=1.01),
    row("device-count", NOT_JUDGED, "no comparison", ratio=None),
    row("device-count", RULED_OUT, "hardly anything written", NO_BYTES, NO_BYTES_OF_INTEL),
    row("device-count", NOT_OBSERVABLE, "devices unseen", NO_DEVICES),
    row("linear-volume", RULED_OUT, "linear on both", LINEAR, LINEAR, candidate="amd-30"),
    row("linear-volume", NOT_OBSERVABLE, "devices unseen", None, NO_DEVICES),
    row("boot-disk-fallback", SUPPORTED, "a persistent disk", {DISK_MODEL: "PersistentDisk  "}),
    row("boot-disk-fallback", NOT_OBSERVABLE, "a model that says nothing", {DISK_MODEL: None}),
    row(
        *("disk-speed", RULED_OUT, "slower, but nothing waited"),
        NO_WAITS | {f"{ENTRY}.device_bytes": quarter},
        candidate="amd-30",
    ),
    row(
        *("disk-speed", NOT_OBSERVABLE, "no counters"),
        {f"{ENTRY}.device_bytes": None, "timeline.devices": {}},
    ),
    row("disk-speed", NOT_OBSERVABLE, "no pressure and no cap", UNTRIED, candidate="amd-30"),
    row("cgroup-io-limit", NOT_SEPARABLE, "operations, device unnamed", OPERATIONS | HALF_THE_RATE),
    row("cgroup-io-limit", RULED_OUT, "operations, each disk as fast", OPERATIONS),
    row("cgroup-io-limit", SUPPORTED, "at each disk's rate", io_limit(194 * MIB) | HALF_THE_RATE),
    row("cgroup-io-limit", RULED_OUT, "the faster side", None, io_limit(40 * MIB)),
    row(
        *("cgroup-io-limit", RULED_OUT, "the same, which the faster side does not reach"),
        io_limit(330 * MIB),
        io_limit(330 * MIB) | {f"{ENTRY}.device_bytes": hardly_written},
    ),
    row("cgroup-io-limit", RULED_OUT, "not enforced", io_limit(0) | HALF_THE_RATE),
    row("cgroup-io-limit", RULED_OUT, "far above", io_limit(4000 * MIB)),
    row("cgroup-io-limit", RULED_OUT, "another device", io_limit(40 * MIB, "8:0", "sda")),
    row("cgroup-io-limit", NOT_OBSERVABLE, "limits unread", NO_LIMITS),
    row("cgroup-io-limit", NOT_OBSERVABLE, "no hierarchy", {"limits.cgroup_versions": []}),
    row("cgroup-memory-limit", RULED_OUT, "roomy", memory_limit(32 * 1024 * MIB)),
    row("cgroup-memory-limit", RULED_OUT, "above the machine's", memory_limit(1 << 40)),
    row("cgroup-memory-limit", NOT_OBSERVABLE, "limits unread", None, NO_LIMITS),
    row("cgroup-cpu-limit", RULED_OUT, "four CPUs", cpu_limit(400_000)),
    row("cgroup-cpu-limit", NOT_OBSERVABLE, "limits unread", None, NO_LIMITS),
    row("storage-place", RULED_OUT, "overlay is faster", None, ON_OVERLAY),
    row("storage-place", NOT_OBSERVABLE, "unknown", UNKNOWN_KIND),
    row("storage-place", NOT_OBSERVABLE, "no place", NO_PLACE),
    row("file-system", NOT_OBSERVABLE, "xfs against ext4", filesystem("xfs")),
    row("file-system", NOT_OBSERVABLE, "below an overlay", ON_OVERLAY),
    row("device-layers", NOT_SEPARABLE, "encrypted", CRYPT),
    row("device-layers", RULED_OUT, "the faster side is encrypted", None, CRYPT),
    row("device-layers", NOT_OBSERVABLE, "no place", NO_PLACE),
    row("ext4-flush", RULED_OUT, "on neither", NO_FLUSH, NO_FLUSH),
    row(
        *("ext4-flush", RULED_OUT, "another destination"),
        {f"{ENTRY}.destination": "unlink"},
        {f"{ENTRY}.destination": "unlink"},
        subject=UNLINK,
    ),
    row("ext4-flush", RULED_OUT, "none waits", NO_WAITS | {"task.instance_type": "m5.large"}),
    row("ext4-flush", NOT_JUDGED, "no difference in time", ratio=None),
    row("ext4-flush", NOT_OBSERVABLE, "below an overlay", ON_OVERLAY),
    row("reflink", NOT_OBSERVABLE, "not reported", None, {f"{ENTRY}.shares_extents": None}),
    row("mount-options", NOT_SEPARABLE, "barrier=1, next to fewer disks", OLD_BARRIER),
    row("mount-options", RULED_OUT, "tuned on the slower side", None, DEFAULTS),
    row("mount-options", NOT_OBSERVABLE, "an option of unknown cost", UNKNOWN_OPTION),
    row("mount-options", NOT_OBSERVABLE, "no mount", {f"{PLACE}.mount": None}),
    row("volatile-overlay", NOT_OBSERVABLE, "unknown", UNKNOWN_KIND),
    row("scheduler-idling", RULED_OUT, "bfq on both", IDLING, BOTH_IDLE),
    row("scheduler-idling", RULED_OUT, "on the faster side alone", None, BOTH_IDLE),
    row("scheduler-idling", NOT_OBSERVABLE, "below an overlay", IDLING | ON_OVERLAY),
    row("scheduler-idling", NOT_OBSERVABLE, "scheduler unseen", IDLING, scheduler(None)),
    row("scheduler-starvation", NOT_OBSERVABLE, "no times of it", STARVING),
    row("scheduler-starvation", NOT_OBSERVABLE, "unseen", scheduler(None)),
    row("scheduler-starvation", RULED_OUT, "guarantees that are not strict", STRICT),
    row("scheduler", NOT_OBSERVABLE, "deadline against none", scheduler("mq-deadline")),
    row("scheduler", NOT_OBSERVABLE, "unseen", scheduler(None)),
    row(
        *("page-cache-state", RULED_OUT, "warm, but cold was read only once in 2,000", None),
        {f"{ENTRY}.cache_state.resident_bytes": 5700 * MIB},
    ),
    row(
        *("page-cache-state", NOT_OBSERVABLE, "not reported"),
        {f"{ENTRY}.cache_state.resident_bytes": None},
    ),
    row(
        *("dirty-limit", NOT_SEPARABLE, "less room, and what was written more is not known"),
        *(FRESH | LITTLE_DIRTY, FRESH),
        **FRESHLY,
    ),
    row(
        *("dirty-limit", RULED_OUT, "less room, but as much was written meanwhile"),
        *(FRESH | NOTHING_LEFT | LITTLE_MEMORY, FRESH | NOTHING_LEFT),
        **FRESHLY,
    ),
    row(
        *("dirty-limit", RULED_OUT, "slightly less room"),
        *(FRESH | {"host.vm.dirty_ratio": 19}, FRESH),
        **FRESHLY,
    ),
    row("dirty-limit", RULED_OUT, "one file after another has room", LITTLE_MEMORY),
    row("dirty-limit", NOT_OBSERVABLE, "unknown", {"host.memory_available_bytes": None}),
    row("memory-first-touch", RULED_OUT, "little of the difference", HALF_A_MS),
    row("memory-first-touch", NOT_OBSERVABLE, "unmeasured", UNMEASURED),
    row("cpu", SUPPORTED, "stolen", STOLEN),
    row("cpu", NOT_OBSERVABLE, "stolen, and not known of the other", STOLEN, {"timeline": None}),
    row("cpu", RULED_OUT, "the same", {"host.cpu_model": "same"}, {"host.cpu_model": "same"}),
    row("cpu", NOT_OBSERVABLE, "another model, no counters", {"timeline": None}),
    row("cpu", NOT_OBSERVABLE, "no model", {"host.cpu_model": None}),
    row("kernel", NOT_OBSERVABLE, "another one", {"host.kernel": "5.4"}),
    row("kernel", NOT_OBSERVABLE, "unseen", {"host": None, **BUSY_KERNEL}),
    row("image-and-tools", SUPPORTED, "an old cp", cp("8.30") | REAL, REAL, **REALLY),
    row("image-and-tools", RULED_OUT, "lookups as fast", tool("python3", "3.8.10")),
    row(
        "image-and-tools",
        NOT_OBSERVABLE,
        "a cp that copies alike",
        cp("9.4") | REAL,
        REAL,
        **REALLY,
    ),
    row("image-and-tools", NOT_OBSERVABLE, "unseen", {"host": None}),
    row("lookup-cost", NOT_OBSERVABLE, "no times", NO_ENTRIES),
    row("spawn-cost", RULED_OUT, "the copies"),
    row("spawn-cost", NOT_OBSERVABLE, "slower lookups", SLOW_LOOKUPS),
    row("spawn-cost", NOT_OBSERVABLE, "no times", NO_ENTRIES),
    row("random-io", NOT_OBSERVABLE, "always"),
    row("drift-over-time", RULED_OUT, "both alike", SLOWING_DOWN, SLOWING_DOWN),
    row("drift-over-time", NOT_OBSERVABLE, "few retrieves", {f"{ENTRY}.samples": first(50)}),
    row(
        *("other-load", SUPPORTED, "something else wrote"),
        {f"{ENTRY}.device_bytes.nvme1n1.written": lambda written: written * 2},
    ),
    row(
        *("other-load", NOT_OBSERVABLE, "nothing recorded"),
        {"timeline": None, f"{ENTRY}.device_bytes": None},
    ),
]


def a(change):
    """Only the slower side is changed."""
    return {"amd-16": change}


def both(change):
    return {"amd-16": change, "intel": change}


OWN_RULES = [rule for rule in RULES if "cache-retrieve" in rule.workloads]


@pytest.mark.parametrize(("name", "state", "change", "arguments"), CASES)
def test_state(name, state, change, arguments):
    """Each situation has its state, evidence of both sides and a reason."""
    cause = causes_of(change, **arguments)[name]
    assert cause.state is state
    assert all(texts(cause))
    assert cause.workload is None or cause.state is NOT_OBSERVABLE


def test_every_cause_can_be_not_observable():
    """The trees prove the two other states."""
    tested = {
        name for name, state, *_ in (case.values for case in CASES) if state is NOT_OBSERVABLE
    }
    assert tested == {rule.name for rule in OWN_RULES}


def test_the_seeds_case():
    """What explains the 1.92x is the number of disks and nothing else; both flush to them alike."""
    causes = causes_of(ratio=1.918)
    assert [name for name, c in causes.items() if c.state is SUPPORTED] == ["device-count"]
    assert [name for name, c in causes.items() if c.is_shared] == ["ext4-flush"]
    found = causes["device-count"]
    assert (found.predicted_ratio, f"{found.share:.0%}") == (2.0, "100%")
    assert texts(found) == (
        (
            "2 disks, striped; nvme_card 375 GiB; machine type c2-standard-16; "
            "write rate 743 MiB/s; published cap 700 MiB/s"
        ),
        (
            "1 disk; nvme_card0 375 GiB; machine type c3d-standard-16-lssd; "
            "write rate 388 MiB/s; published cap 350 MiB/s"
        ),
        (
            "The slower side spreads its writes over fewer disks. The prediction is from the "
            "published write caps. c3d-standard-16-lssd has 1 local SSD, c3d-standard-30-lssd has 2. "
            "A write rate above its cap is what the page cache absorbed. "
            "Predicted 2.00×, measured 1.92×: this explains 100 %."
        ),
    )


def test_evidence_is_data():
    """Values with units, on how many workers, and what leads a sentence."""
    found = causes_of(ratio=1.918)["device-count"].candidate_evidence
    disk = statement("{disks} disk", disks=Quantity(1, Unit.COUNT))
    assert found.summary == disk
    assert found.observations[0] == Observation("disks", (Seen(disk, 1),), 1)
    assert [each.name for each in found.observations] == [
        *("disks", "models", "machine-type", "write-rate", "published-write-cap"),
    ]
    (_, cap) = found.observations[-1].seen[0].value.values[0]
    assert cap == Quantity(350 * MIB, Unit.BYTES_PER_SECOND)


def test_a_cgroups_cap_predicts_as_a_published_one_does():
    """Each disk held to 40 MiB/s by its cgroup: one against two striped predicts 2.00x."""
    cap = 40 * 1024 * 1024
    limits = [io_limit(cap, name=name)["limits.io"][0] for name in ("nvme0n1", "nvme0n2")]
    found = causes_of({"amd-16": io_limit(cap), "intel": {"limits.io": limits}})["device-count"]
    assert (found.state, found.predicted_ratio) == (SUPPORTED, 2.0)
    assert baseline_text(found).endswith("published cap 700 MiB/s; the cgroup's cap 80.0 MiB/s")
    assert candidate_text(found).endswith("published cap 350 MiB/s; the cgroup's cap 40.0 MiB/s")
    assert "The prediction is from the cgroups' write caps." in explanation_text(found)


def test_a_cap_on_one_of_two_disks_does_not_limit_the_stripe():
    """The other disk is not limited, so the cap of the whole stripe is not known."""
    found = causes_of({"intel": io_limit(1024, name="nvme0n1")})["device-count"]
    assert baseline_text(found).endswith("published cap 700 MiB/s")


def test_a_busy_neighbour_hides_no_wait():
    """PSI's `full` stays at 0 while any process computes, although the copies waited."""
    still = {"timeline.columns.psi_io_full_us": lambda column: [column[0]] * len(column)}
    found = causes_of(both({**still, "task.instance_type": "m5.large"}))["device-count"]
    assert found.state is SUPPORTED


def test_the_seeds_eight_hypotheses():
    """All that a cache-retrieve file can decide is ruled out; random-io names its workload."""
    causes = causes_of(ratio=1.918)
    found = {
        number: [causes[name].state.value for name in names]
        for number, names in SEED_HYPOTHESES.items()
    }
    assert found == {
        1: ["ruled out", "ruled out", "not observable"],
        2: ["ruled out"],
        3: ["ruled out"],
        4: ["ruled out"],
        5: ["ruled out"],
        6: ["ruled out"],
        7: ["ruled out", "ruled out"],
        8: ["ruled out", "ruled out"],
    }
    assert causes["random-io"].workload == "random-io"


def test_nothing_is_supported_without_a_difference():
    """AMD-30 is another machine with another CPU, but as fast: there is no difference to explain."""
    causes = causes_of(candidate="amd-30", ratio=1.0138)
    states = {name: cause.state for name, cause in causes.items()}
    assert states.pop("random-io") is NOT_OBSERVABLE
    assert set(states) == {rule.name for rule in OWN_RULES} - {"random-io"}
    # What is the same on both sides explains no difference, however large; the rest is not judged.
    assert set(states.values()) == {RULED_OUT, NOT_JUDGED}
    assert states["lookup-cost"] is NOT_JUDGED
    assert states["cgroup-io-limit"] is RULED_OUT


def test_the_faster_candidate():
    """Seen from the slow pool, the same cause explains the same share."""
    causes = causes_of(candidate="intel", baseline="amd-16", ratio=1 / 1.918)
    found = causes["device-count"]
    assert found.state is SUPPORTED
    assert (found.predicted_ratio, f"{found.share:.0%}") == (0.5, "100%")


@pytest.mark.parametrize(
    ("change", "arguments", "predicted", "share", "text"),
    [
        pytest.param({}, {"ratio": 2.2}, 2.0, "88%", "this explains 88 %", id="a part"),
        pytest.param(
            a({"task.instance_type": None}), {}, 2.0, "100%", "machine type unknown", id="unknown"
        ),
        pytest.param(
            a({"task.instance_type": "z3-highmem-88"}),
            {},
            2.0,
            "100%",
            "The cap of a side is not known: the prediction is from the number of disks.",
            id="not published",
        ),
        pytest.param(
            a({f"{PLACE}.devices.1.model": "Samsung"}),
            {},
            2.0,
            "100%",
            "The cap of a side is not known: the prediction is from the number of disks.",
            id="no local SSD of Google's",
        ),
    ],
)
def test_the_device_counts_prediction(change, arguments, predicted, share, text):
    """From the published caps of the striped disks, else from their number."""
    found = causes_of(change, **arguments)["device-count"]
    assert found.state is SUPPORTED
    assert found.predicted_ratio == predicted
    assert (None if found.share is None else f"{found.share:.0%}") == share
    assert text in explanation_text(found)


def test_a_linear_volumes_prediction():
    """It is what the slower side's disks would reach as a stripe; none where no side is slower."""
    found = causes_of({"amd-30": LINEAR}, candidate="amd-30", ratio=1.9)["linear-volume"]
    assert (found.predicted_ratio, f"{found.share:.0%}") == (2.0, "99%")
    assert candidate_text(found) == "2 disks, linear: the bandwidth of 1"
    pair = causes_of({"amd-30": LINEAR}, baseline="amd-30", candidate="intel", ratio=1 / 1.9)
    found = pair["linear-volume"]
    assert (found.predicted_ratio, f"{found.share:.0%}") == (0.5, "99%")
    found = causes_of({"amd-30": LINEAR}, candidate="amd-30", ratio=None)["linear-volume"]
    assert (found.predicted_ratio, found.share) == (None, None)


def test_a_journal_with_the_data_must_write_it():
    """Where the disks wrote no more than on the other side, the journal cost nothing."""
    writeback, journal = (
        {
            f"{PLACE}.mount.super_options": f"rw,nobarrier,data={mode},commit=60",
            f"{PLACE}.filesystem.ext4_options": None,
        }
        for mode in ("writeback", "journal")
    )
    change = {"intel": writeback, "amd-30": journal}
    found = causes_of(change, candidate="amd-30")["mount-options"]
    assert found.state is RULED_OUT
    assert "it predicts 1.0" in explanation_text(found)


@pytest.mark.parametrize(
    "option",
    [
        *("sync", "dirsync", "discard", "strictatime", "nodelalloc"),
        *("data=ordered", "data=journal", "barrier=1", "commit=5"),
    ],
)
def test_each_mount_option_that_costs_time(option):
    """On the slower side alone it may be the cause, on the faster side alone it is not.

    Only a journal with the data has a size: the bytes that it writes once more.
    """
    name = option.partition("=")[0]
    others = [each for each in ("nobarrier", "data=writeback", "commit=60") if name not in each]
    tuned, costly = (
        {
            f"{PLACE}.mount.super_options": ",".join(options),
            f"{PLACE}.filesystem.ext4_options": None,
            "host.cpu_model": "the same",
            "host.cpu_count": 16,
        }
        for options in (("nobarrier", "data=writeback", "commit=60"), (*others, option))
    )
    # Both have two disks, so that nothing else acts through the same part of the time.
    moved: dict[str, Any] = {f"{ENTRY}.device_bytes": twice} if option == "data=journal" else {}
    change: dict[str, dict[str, Any]] = {"intel": tuned, "amd-30": {**costly, **moved}}
    found = causes_of(change, candidate="amd-30")["mount-options"]
    state = SUPPORTED if option == "data=journal" else NOT_SEPARABLE
    assert (found.state, option.removesuffix("=1") in candidate_text(found)) == (state, True)
    found = causes_of({"intel": costly, "amd-30": tuned}, candidate="amd-30")["mount-options"]
    assert found.state is RULED_OUT


def test_the_schedulers_idling():
    """Seed 001's four preconditions, each met or not on each side; sync-write's times would prove it."""
    found = causes_of(a(IDLING))["scheduler-idling"]
    assert baseline_text(found) == (
        "a separate cgroup: met (a container); ext3 or ext4, its journal in the root group: met (ext4); "
        "bfq or cfq: not met (none); idle settings above 0: not met (none)"
    )
    assert candidate_text(found) == (
        "a separate cgroup: met (a container); ext3 or ext4, its journal in the root group: met (ext4); "
        "bfq or cfq: met (bfq); idle settings above 0: met (slice_idle=8)"
    )
    # The seed's case has fewer disks as well.
    assert found.state is NOT_SEPARABLE
    assert " Times of the workload sync-write would prove it." in explanation_text(found)


def test_idling_on_several_workers():
    """The evidence has all preconditions, and a worker that is as slow without them refutes it."""
    some = {"amd-16/0": IDLING, "amd-16/1": IDLING, "amd-16/2": IDLING | filesystem("xfs")}
    found = causes_of(some, workers=3)["scheduler-idling"]
    assert (found.state, explanation_text(found)) == (
        RULED_OUT,
        "As slow without this: 1 of 3 workers of the slower side.",
    )
    assert candidate_text(found) == (
        "a separate cgroup: met (a container) on 3 of 3 workers; "
        "ext3 or ext4, its journal in the root group: met (ext4) on 2 of 3 workers, "
        "ext3 or ext4, its journal in the root group: not met (xfs) on 1 of 3 workers; "
        "bfq or cfq: met (bfq) on 3 of 3 workers; "
        "idle settings above 0: met (slice_idle=8) on 3 of 3 workers"
    )


@pytest.mark.parametrize(
    ("change", "absent"),
    [
        pytest.param(IDLING | ROOT_GROUP, "a separate cgroup", id="cgroup"),
        pytest.param(
            IDLING | filesystem("xfs"), "ext3 or ext4, its journal in the root group", id="journal"
        ),
        pytest.param(
            scheduler("kyber"), "bfq or cfq; idle settings above 0", id="scheduler and its settings"
        ),
        pytest.param(scheduler("cfq", group_idle=0), "idle settings above 0", id="settings"),
    ],
)
def test_what_idling_lacks(change, absent):
    """The explanation names the preconditions that are absent on the slower side."""
    found = causes_of(a(change))["scheduler-idling"]
    assert (found.state, explanation_text(found)) == (
        RULED_OUT,
        f"Absent on the slower side: {absent}.",
    )


@pytest.mark.parametrize(
    ("groups", "state"),
    [
        pytest.param({"blkio": "/sys/fs/cgroup/blkio/user.slice"}, NOT_SEPARABLE, id="v1"),
        pytest.param({"unified": "/sys/fs/cgroup/user.slice"}, NOT_SEPARABLE, id="v2"),
        pytest.param({"blkio": "/sys/fs/cgroup/blkio"}, RULED_OUT, id="v1's root"),
        pytest.param(
            {"blkio": "/sys/fs/cgroup/blkio", "unified": "/sys/fs/cgroup/unified/user.slice"},
            RULED_OUT,
            id="v1 has the say where both are mounted",
        ),
        pytest.param({}, NOT_OBSERVABLE, id="none seen"),
    ],
)
def test_the_group_that_io_counts_for(groups, state):
    """Outside a container the cgroup's path shows whether it is the root group."""
    found = causes_of(a(IDLING | ROOT_GROUP | {"limits.groups": groups}))["scheduler-idling"]
    assert found.state is state


def test_several_workers_disagree():
    """The evidence has all values; the bad value of one worker does not explain equal times."""
    change = {"amd-16/1": {f"{PLACE}.devices.1.model": "nvme_card-pd"}}
    found = causes_of(change, workers=3)["boot-disk-fallback"]
    assert (found.state, baseline_text(found), candidate_text(found)) == (
        RULED_OUT,
        "on local SSD on 3 of 3 workers",
        "on local SSD on 2 of 3 workers, on persistent disk on 1 of 3 workers",
    )


def test_workers_without_a_value():
    """The other workers decide, and the evidence counts those without a value."""
    found = causes_of({"amd-16/2": {"host": None}}, workers=3)["kernel"]
    assert found.state is RULED_OUT
    assert candidate_text(found).endswith("on 2 of 3 workers, unknown on 1 of 3 workers")


HOSTILE = "\x1b[31m<script>alert(1)</script>\u202e\r\n\x00" + "x" * 5000


@pytest.mark.parametrize(
    ("path", "name"),
    [
        pytest.param(f"{PLACE}.devices.1.model", "device-count", id="model"),
        pytest.param(f"{PLACE}.devices.1.scheduler", "scheduler", id="scheduler"),
        pytest.param(f"{PLACE}.filesystem.type", "file-system", id="file system"),
        pytest.param(f"{PLACE}.mount.filesystem", "mount-options", id="mount"),
        pytest.param(f"{PLACE}.mount.super_options", "mount-options", id="options"),
        pytest.param("host.kernel", "kernel", id="kernel"),
        pytest.param("host.cpu_model", "cpu", id="cpu"),
        pytest.param("host.distribution", "image-and-tools", id="distribution"),
        pytest.param("host.tools.grep.version", "image-and-tools", id="tool"),
        pytest.param("host.container.engine", "storage-place", id="engine"),
        pytest.param("task.instance_type", "device-count", id="machine type"),
        pytest.param(f"{ENTRY}.copy_method", "reflink", id="copy method"),
    ],
)
def test_hostile_facts_stay_plain_text(path, name):
    """Rendered text is printable and short."""
    found = causes_of(both({path: HOSTILE}))[name]
    for text in texts(found):
        assert text.isprintable()
        assert len(text) < 700


def test_hostile_limits():
    """Extreme values and hostile names are judged without an error."""
    change = {
        "limits.io": [
            {
                "group": HOSTILE,
                "device": HOSTILE,
                "device_name": None,
                "kind": HOSTILE,
                "value": 2**63 - 1,
            }
        ]
        * 50,
        "limits.memory": [{"group": "", "file": "", "bytes": -1}],
        "limits.cpu": [{"group": "", "quota_us": 2**62, "period_us": 0}],
        f"{PLACE}.devices.0.below": ["dm-0", "nvme1n1", "missing"],
        f"{PLACE}.devices.0.stripe_count": 2**62,
        f"{PLACE}.mount.super_options": "commit=²,data=,stripe=,,=,barrier=9",
    }
    found = causes_of(a(change))
    assert list(found) == [rule.name for rule in OWN_RULES]
    assert all(candidate_text(cause).isprintable() for cause in found.values())


def test_a_side_without_workers():
    """Nothing is supported, nothing fails."""
    sides = workers_of(seed_case.documents(pools=["amd-16"]))
    nobody, slow = (SideViews.of_workers(each, SUBJECT) for each in ([], sides["amd-16"]))
    causes = judge(Case(SUBJECT, 1.92, nobody, slow))
    assert SUPPORTED not in {cause.state for cause in causes}


def test_documented():
    """taskcluster/docs/causes.md has every cause, in the report's order, with what decides its state."""
    text = (ROOT / "taskcluster" / "docs" / "causes.md").read_text()
    table = text.partition("## Causes")[2].partition("## ")[0]
    rows = re.findall(r"^\| `([a-z0-9-]+)` \|(.+)\|$", table, re.MULTILINE)
    assert [name for name, _ in rows] == [rule.name for rule in RULES]
    assert {row.count("|") for _, row in rows} == {2}
