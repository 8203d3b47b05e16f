# SPDX-License-Identifier: MPL-2.0
"""Causes that cache-retrieve shows: thresholds, what is not observable, and the words.

The recorded trees prove each cause end to end (tests/trees).
"""

import re
from typing import Any

import pytest
import seed_case
from cause_texts import baseline_text, candidate_text, explanation_text, texts
from checkout import ROOT
from msgspec.structs import replace
from seed_workers import SUBJECT, causes_of, workers_of

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
VOLATILE = {
    f"{PLACE}.kind": "overlay",
    f"{PLACE}.overlay": {**OVERLAY, "volatile": True},
    **FRESH,
}
FRESHLY = {"subject": replace(SUBJECT, destination="fresh")}


def tool(name, version):
    return {f"host.tools.{name}.version": version}


def io_limit(value, device="259:0", name="nvme1n1", kind="write_bytes_per_s"):
    limit = {"group": "/sys/fs/cgroup", "device": device, "device_name": name}
    return {"limits.io": [{**limit, "kind": kind, "value": value}]}


def memory_limit(value):
    return {"limits.memory": [{"group": "/sys/fs/cgroup", "file": "memory.max", "bytes": value}]}


def cpu_limit(quota_us):
    return {"limits.cpu": [{"group": "/sys/fs/cgroup", "quota_us": quota_us, "period_us": 100_000}]}


def a(change):
    """Only the slower side is changed."""
    return {"amd-16": change}


def b(change):
    """Only the faster side is changed."""
    return {"intel": change}


def both(change):
    return {"amd-16": change, "intel": change}


AMD_30 = {"candidate": "amd-30"}
# name, what the situation is, state, change of the seed's case, further arguments


def hardly_written(device_bytes):
    return {name: {**moved, "written": MIB} for name, moved in device_bytes.items()}


STOLEN = {"timeline.columns.cpu_steal_ms": lambda column: [4000 * at for at in range(len(column))]}
CASES: list[tuple[str, str, State, dict[str, Any], dict[str, Any]]] = [
    ("device-count", "the side with one is faster", RULED_OUT, {}, {"ratio": 0.5}),
    ("device-count", "no difference in time", NOT_JUDGED, {}, {"ratio": 1.01}),
    ("device-count", "no comparison", NOT_JUDGED, {}, {"ratio": None}),
    (
        "device-count",
        "hardly anything was written",
        RULED_OUT,
        both({f"{ENTRY}.device_bytes.nvme1n1": {"read": 0, "written": 0}})
        | b({f"{ENTRY}.device_bytes": {"nvme0n1": {"read": 0, "written": 0}}}),
        {},
    ),
    ("device-count", "devices unseen", NOT_OBSERVABLE, a({f"{PLACE}.devices": []}), {}),
    (
        "linear-volume",
        "linear on both",
        RULED_OUT,
        {"amd-30": LINEAR, "intel": LINEAR},
        AMD_30,
    ),
    ("linear-volume", "devices unseen", NOT_OBSERVABLE, b({f"{PLACE}.devices": []}), {}),
    (
        "boot-disk-fallback",
        "a persistent disk over SCSI",
        SUPPORTED,
        a({f"{PLACE}.devices.1.model": "PersistentDisk  "}),
        {},
    ),
    (
        "boot-disk-fallback",
        "a model that says nothing",
        NOT_OBSERVABLE,
        a({f"{PLACE}.devices.1.model": None}),
        {},
    ),
    (
        "disk-speed",
        "slower, but nothing waited",
        RULED_OUT,
        {
            "amd-30": {
                f"{ENTRY}.device_bytes": lambda d: half_the_bytes(half_the_bytes(d)),
                "timeline.columns.psi_io_some_us": lambda column: [0] * len(column),
            }
        },
        AMD_30,
    ),
    (
        "disk-speed",
        "no counters",
        NOT_OBSERVABLE,
        a({f"{ENTRY}.device_bytes": None, "timeline.devices": {}}),
        {},
    ),
    (
        "disk-speed",
        "neither pressure nor a cap",
        NOT_OBSERVABLE,
        {
            "amd-30": {
                f"{ENTRY}.device_bytes": half_the_bytes,
                "timeline": None,
                "task.instance_type": "m5.large",
            }
        },
        AMD_30,
    ),
    (
        "cgroup-io-limit",
        "operations, device unnamed",
        NOT_SEPARABLE,
        a(io_limit(100, "7:0", None, "write_operations_per_s") | HALF_THE_RATE),
        {},
    ),
    (
        "cgroup-io-limit",
        "operations, each disk as fast",
        RULED_OUT,
        a(io_limit(100, "7:0", None, "write_operations_per_s")),
        {},
    ),
    (
        "cgroup-io-limit",
        "at the rate of each disk",
        SUPPORTED,
        a(io_limit(194 * MIB) | HALF_THE_RATE),
        {},
    ),
    ("cgroup-io-limit", "the faster side", RULED_OUT, b(io_limit(40 * MIB)), {}),
    (
        "cgroup-io-limit",
        "the same, which the faster side does not reach",
        RULED_OUT,
        a(io_limit(330 * MIB)) | b(io_limit(330 * MIB) | {f"{ENTRY}.device_bytes": hardly_written}),
        {},
    ),
    ("cgroup-io-limit", "not enforced", RULED_OUT, a(io_limit(0) | HALF_THE_RATE), {}),
    ("cgroup-io-limit", "far above", RULED_OUT, a(io_limit(4000 * MIB)), {}),
    (
        "cgroup-io-limit",
        "another device",
        RULED_OUT,
        a(io_limit(40 * MIB, "8:0", "sda")),
        {},
    ),
    ("cgroup-io-limit", "limits unread", NOT_OBSERVABLE, a({"limits": None}), {}),
    (
        "cgroup-io-limit",
        "no hierarchy",
        NOT_OBSERVABLE,
        a({"limits.cgroup_versions": []}),
        {},
    ),
    ("cgroup-memory-limit", "roomy", RULED_OUT, a(memory_limit(32 * 1024 * MIB)), {}),
    ("cgroup-memory-limit", "above the machine's", RULED_OUT, a(memory_limit(1 << 40)), {}),
    ("cgroup-memory-limit", "limits unread", NOT_OBSERVABLE, b({"limits": None}), {}),
    ("cgroup-cpu-limit", "four CPUs", RULED_OUT, a(cpu_limit(400_000)), {}),
    ("cgroup-cpu-limit", "limits unread", NOT_OBSERVABLE, b({"limits": None}), {}),
    ("storage-place", "overlay is faster", RULED_OUT, b(ON_OVERLAY), {}),
    ("storage-place", "unknown", NOT_OBSERVABLE, a({f"{PLACE}.kind": "unknown"}), {}),
    ("storage-place", "no place", NOT_OBSERVABLE, a({"storage.places": []}), {}),
    ("file-system", "xfs against ext4", NOT_OBSERVABLE, a(filesystem("xfs")), {}),
    ("file-system", "below an overlay", NOT_OBSERVABLE, a(ON_OVERLAY), {}),
    (
        "device-layers",
        "encrypted",
        NOT_SEPARABLE,
        a({f"{PLACE}.devices.0.kind": "crypt"}),
        {},
    ),
    (
        "device-layers",
        "the faster side is encrypted",
        RULED_OUT,
        b({f"{PLACE}.devices.0.kind": "crypt"}),
        {},
    ),
    ("device-layers", "no place", NOT_OBSERVABLE, a({"storage.places": []}), {}),
    ("ext4-flush", "on neither", RULED_OUT, both(NO_FLUSH), {}),
    (
        "ext4-flush",
        "another destination",
        RULED_OUT,
        both({f"{ENTRY}.destination": "unlink"}),
        {"subject": replace(SUBJECT, destination="unlink")},
    ),
    (
        "ext4-flush",
        "on both, none waits",
        RULED_OUT,
        a(
            {
                "task.instance_type": "m5.large",
                "timeline.columns.psi_io_some_us": lambda column: [0] * len(column),
            }
        ),
        {},
    ),
    ("ext4-flush", "no difference in time", NOT_JUDGED, {}, {"ratio": None}),
    ("ext4-flush", "below an overlay", NOT_OBSERVABLE, a(ON_OVERLAY), {}),
    ("reflink", "not reported", NOT_OBSERVABLE, b({f"{ENTRY}.shares_extents": None}), {}),
    (
        "mount-options",
        "barrier=1 in the old way, next to fewer disks",
        NOT_SEPARABLE,
        a(
            {
                f"{PLACE}.mount.super_options": "rw,barrier=1,data=writeback,commit=60",
                f"{PLACE}.filesystem.ext4_options": None,
            }
        ),
        {},
    ),
    ("mount-options", "tuned on the slower side", RULED_OUT, b(DEFAULTS), {}),
    (
        "mount-options",
        "an option whose cost is not known",
        NOT_OBSERVABLE,
        a({f"{PLACE}.mount.super_options": lambda text: text + ",dioread_lock"}),
        {},
    ),
    ("mount-options", "no mount", NOT_OBSERVABLE, a({f"{PLACE}.mount": None}), {}),
    (
        "volatile-overlay",
        "unknown",
        NOT_OBSERVABLE,
        a({f"{PLACE}.kind": "unknown"}),
        {},
    ),
    ("scheduler-idling", "bfq on both", RULED_OUT, a(IDLING) | {"intel": BOTH_IDLE}, {}),
    ("scheduler-idling", "on the faster side alone", RULED_OUT, {"intel": BOTH_IDLE}, {}),
    ("scheduler-idling", "below an overlay", NOT_OBSERVABLE, a(IDLING | ON_OVERLAY), {}),
    ("scheduler-idling", "scheduler unseen", NOT_OBSERVABLE, b(scheduler(None)) | a(IDLING), {}),
    ("scheduler-starvation", "no times of it", NOT_OBSERVABLE, a(STARVING), {}),
    ("scheduler-starvation", "unseen", NOT_OBSERVABLE, a(scheduler(None)), {}),
    (
        "scheduler-starvation",
        "guarantees that are not strict",
        RULED_OUT,
        a(scheduler("bfq", slice_idle=0, strict_guarantees=0)),
        {},
    ),
    (
        "scheduler",
        "deadline against none",
        NOT_OBSERVABLE,
        a(scheduler("mq-deadline")),
        {},
    ),
    ("scheduler", "unseen", NOT_OBSERVABLE, a(scheduler(None)), {}),
    (
        "page-cache-state",
        "warm, but cold was read only once in 2,000",
        RULED_OUT,
        b({f"{ENTRY}.cache_state.resident_bytes": 5700 * MIB}),
        {},
    ),
    (
        "page-cache-state",
        "not reported",
        NOT_OBSERVABLE,
        a({f"{ENTRY}.cache_state.resident_bytes": None}),
        {},
    ),
    (
        "dirty-limit",
        "less room, and what was written more is not known",
        NOT_SEPARABLE,
        both(FRESH) | a(FRESH | {"host.vm.dirty_ratio": 1, "host.vm.dirty_background_ratio": 1}),
        {"subject": replace(SUBJECT, destination="fresh")},
    ),
    (
        "dirty-limit",
        "less room, but as much was written meanwhile",
        RULED_OUT,
        both(FRESH | NOTHING_LEFT)
        | a(FRESH | NOTHING_LEFT | {"host.memory_available_bytes": 4 * 1024**3}),
        {"subject": replace(SUBJECT, destination="fresh")},
    ),
    (
        "dirty-limit",
        "slightly less room",
        RULED_OUT,
        both(FRESH) | a(FRESH | {"host.vm.dirty_ratio": 19}),
        {"subject": replace(SUBJECT, destination="fresh")},
    ),
    (
        "dirty-limit",
        "one file after another has room",
        RULED_OUT,
        a({"host.memory_available_bytes": 4 * 1024**3}),
        {},
    ),
    (
        "dirty-limit",
        "unknown",
        NOT_OBSERVABLE,
        a({"host.memory_available_bytes": None}),
        {},
    ),
    (
        "memory-first-touch",
        "costs more, but little of the difference",
        RULED_OUT,
        a({"host.first_touch_ns_per_mib": [250_000] * 8}),
        {},
    ),
    (
        "memory-first-touch",
        "unmeasured",
        NOT_OBSERVABLE,
        a({"host.first_touch_ns_per_mib": []}),
        {},
    ),
    (
        "memory-first-touch",
        "unmeasured on one of two workers",
        RULED_OUT,
        a({"host.first_touch_ns_per_mib": [250_000] * 8})
        | {"amd-16/1": {"host.first_touch_ns_per_mib": []}},
        {"workers": 2},
    ),
    ("cpu", "stolen", SUPPORTED, a(STOLEN), {}),
    (
        "cpu",
        "stolen, and not known of the other",
        NOT_OBSERVABLE,
        a(STOLEN) | b({"timeline": None}),
        {},
    ),
    ("cpu", "the same", RULED_OUT, both({"host.cpu_model": "the same"}), {}),
    ("cpu", "another model, no counters", NOT_OBSERVABLE, a({"timeline": None}), {}),
    ("cpu", "no model", NOT_OBSERVABLE, a({"host.cpu_model": None}), {}),
    ("kernel", "another one", NOT_OBSERVABLE, a({"host.kernel": "5.4"}), {}),
    ("kernel", "unseen", NOT_OBSERVABLE, a({"host": None, **BUSY_KERNEL}), {}),
    (
        "image-and-tools",
        "an older cp that copies itself",
        SUPPORTED,
        a(tool("cp", "cp (GNU coreutils) 8.30") | REAL) | b(REAL),
        {"subject": replace(SUBJECT, fidelity="real")},
    ),
    (
        "image-and-tools",
        "an older Python, lookups as fast",
        RULED_OUT,
        a(tool("python3", "3.8.10")),
        {},
    ),
    (
        "image-and-tools",
        "another cp that copies alike",
        NOT_OBSERVABLE,
        a(tool("cp", "cp (GNU coreutils) 9.4") | REAL) | b(REAL),
        {"subject": replace(SUBJECT, fidelity="real")},
    ),
    ("image-and-tools", "unseen", NOT_OBSERVABLE, a({"host": None}), {}),
    ("lookup-cost", "no times", NOT_OBSERVABLE, a({"workloads": []}), {}),
    ("spawn-cost", "the copies", RULED_OUT, {}, {}),
    ("spawn-cost", "slower lookups", NOT_OBSERVABLE, a(SLOW_LOOKUPS), {}),
    ("spawn-cost", "no times", NOT_OBSERVABLE, a({"workloads": []}), {}),
    ("random-io", "always", NOT_OBSERVABLE, {}, {}),
    (
        "drift-over-time",
        "both alike",
        RULED_OUT,
        both({f"{ENTRY}.samples.copy_ns": slowing_down}),
        {},
    ),
    (
        "drift-over-time",
        "few retrieves",
        NOT_OBSERVABLE,
        a({f"{ENTRY}.samples": first(50)}),
        {},
    ),
    (
        "other-load",
        "something else wrote",
        SUPPORTED,
        a({f"{ENTRY}.device_bytes.nvme1n1.written": lambda written: written * 2}),
        {},
    ),
    (
        "other-load",
        "nothing recorded",
        NOT_OBSERVABLE,
        a({"timeline": None, f"{ENTRY}.device_bytes": None}),
        {},
    ),
]
OWN_RULES = [rule for rule in RULES if "cache-retrieve" in rule.explains]


@pytest.mark.parametrize(
    ("name", "state", "change", "arguments"),
    [
        pytest.param(name, state, change, arguments, id=f"{name}-{state.value}-{situation}")
        for name, situation, state, change, arguments in CASES
    ],
)
def test_state(name, state, change, arguments):
    """Each situation has its state, evidence of both sides and a reason."""
    cause = causes_of(change, **arguments)[name]
    assert cause.state is state
    assert all(texts(cause))
    assert cause.workload is None or cause.state is NOT_OBSERVABLE


def test_every_cause_can_be_not_observable():
    """The trees prove the two other states."""
    tested = {name for name, _, state, _, _ in CASES if state is NOT_OBSERVABLE}
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


def test_several_workers_agree():
    """Evidence has the number of workers of each value, and numbers as a range."""
    found = causes_of(workers=3)["storage-place"]
    assert candidate_text(found) == "volume, in docker on 3 of 3 workers"
    found = causes_of(workers=3)["lookup-cost"]
    assert candidate_text(found) == "lookup 1.35 to 1.36 ms on 3 of 3 workers"


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


def test_the_same_workers_give_the_same_causes():
    """Deterministic: byte for byte."""
    assert causes_of(workers=2) == causes_of(workers=2)


def test_documented():
    """taskcluster/docs/causes.md has every cause, in the report's order, with its three states."""
    text = (ROOT / "taskcluster" / "docs" / "causes.md").read_text()
    table = text.partition("## Causes")[2].partition("## ")[0]
    rows = re.findall(r"^\| `([a-z0-9-]+)` \|(.+)\|$", table, re.MULTILINE)
    assert [name for name, _ in rows] == [rule.name for rule in RULES]
    assert {row.count("|") for _, row in rows} == {2}
    seeds = text.partition("## The seed's hypotheses")[2].partition("## ")[0]
    answered = {
        int(number): tuple(re.findall(r"`([a-z0-9-]+)`", names))
        for number, names in re.findall(r"^\| ([0-9]) \|[^|]+\|([^|]+)\|$", seeds, re.MULTILINE)
    }
    assert answered == SEED_HYPOTHESES
