# SPDX-License-Identifier: MPL-2.0
"""Evidence, predictions and the words of causes; test_deciding has the states."""

import math
import re
from typing import Any

import pytest
import seed_case
from checkout import ROOT
from seed_facts import (
    MIB,
    PLACE,
    both_disks,
    io_limit,
    options,
    scheduler,
    times_written,
)
from seed_workers import (
    SUBJECT,
    baseline_text,
    candidate_text,
    causes_of,
    explanation_text,
    measured,
    measurement,
    pair_report,
    texts,
    workers_of,
)

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.causes import RULES
from io_benchmark.analysis.diagnosis.deciding import judge
from io_benchmark.analysis.diagnosis_model import Cause, State
from io_benchmark.analysis.model import Subject
from io_benchmark.analysis.observed.sides import Side
from io_benchmark.analysis.report_model import Report
from io_benchmark.results.workloads.exec import OVER_HARDLINKED
from io_benchmark.results.workloads.metadata import SCALING

SUPPORTED, RULED_OUT, NOT_OBSERVABLE = State.SUPPORTED, State.RULED_OUT, State.NOT_OBSERVABLE
NOT_SEPARABLE, NOT_JUDGED = State.NOT_SEPARABLE, State.NOT_JUDGED
LINEAR = {f"{PLACE}.devices.0.stripe_count": None} | both_disks(0.5)
LINEAR |= options("rw,nobarrier,data=writeback,commit=60")
IDLES = scheduler("bfq", slice_idle=8, low_latency=1)
ROOT_GROUP = {"host.container": None}
OWN_RULES = [rule for rule in RULES if "cache-retrieve" in rule.workloads]


def a(change: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Only the slower side is changed."""
    return {"amd-16": change}


def both(change: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {"amd-16": change, "intel": change}


def test_a_cgroups_cap_predicts_as_a_published_one_does():
    """Each disk held to 40 MiB/s by its cgroup: one against two striped predicts 2.00x."""
    cap = 40 * 1024 * 1024
    limits = [io_limit(cap, name=name)["limits.io"][0] for name in ("nvme0n1", "nvme0n2")]
    found = causes_of({"amd-16": io_limit(cap), "intel": {"limits.io": limits}})["device-count"]
    assert (found.state, found.predicted_ratio) == (SUPPORTED, 2.0)


def test_a_cap_on_one_of_two_disks_does_not_limit_the_stripe():
    """The other disk is not limited, so the cap of the whole stripe is not known."""
    found = causes_of({"intel": io_limit(1024, name="nvme0n1")})["device-count"]
    assert baseline_text(found).endswith("published cap 700 MiB/s")


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


PUBLISHED, UNPUBLISHED = (
    "from the known write caps.",
    "from the number of disks, because the cap of a side is not known.",
)


@pytest.mark.parametrize(
    ("change", "ratio", "share", "sentence", "cap"),
    [
        pytest.param({}, 2.2, 0.88, PUBLISHED, "350 MiB/s", id="a part"),
        pytest.param({"task.instance_type": None}, 1.92, 1, PUBLISHED, "350 MiB/s", id="unknown"),
        pytest.param(
            {"task.instance_type": "z3-highmem-88"}, 1.92, 1, UNPUBLISHED, "", id="no cap"
        ),
        pytest.param(
            {f"{PLACE}.devices.1.model": "Samsung"}, 1.92, 1, UNPUBLISHED, "", id="no SSD"
        ),
    ],
)
def test_the_device_counts_prediction(change, ratio, share, sentence, cap):
    """From the published caps of the striped disks, else from their number."""
    cause = causes_of(a(change), ratio=ratio)["device-count"]
    assert (cause.state, cause.predicted_ratio) == (SUPPORTED, 2.0)
    assert cause.share == pytest.approx(share, abs=0.005)
    assert sentence in explanation_text(cause)
    assert candidate_text(cause).endswith(f"published cap {cap}" if cap else "no published cap")


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
        options(f"rw,nobarrier,data={mode},commit=60") for mode in ("writeback", "journal")
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
    others = [
        default for default in ("nobarrier", "data=writeback", "commit=60") if name not in default
    ]
    same_cpu = {"host.cpu_model": "the same", "host.cpu_count": 16}
    tuned, costly = (
        same_cpu | options(",".join(names))
        for names in (("nobarrier", "data=writeback", "commit=60"), (*others, option))
    )
    # Both have two disks, so that nothing else acts through the same part of the time.
    moved = times_written(2) if option == "data=journal" else {}
    change = {"intel": tuned, "amd-30": {**costly, **moved}}
    found = causes_of(change, candidate="amd-30")["mount-options"]
    state = SUPPORTED if option == "data=journal" else NOT_SEPARABLE
    assert (found.state, option.removesuffix("=1") in candidate_text(found)) == (state, True)
    found = causes_of({"intel": costly, "amd-30": tuned}, candidate="amd-30")["mount-options"]
    assert found.state is RULED_OUT


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
    found = causes_of(a(IDLES | ROOT_GROUP | {"limits.groups": groups}))["scheduler-idling"]
    assert found.state is state


def test_workers_without_a_value():
    """The other workers decide, and the evidence counts those without a value."""
    found = causes_of({"amd-16/2": {"host": None}}, workers=3)["kernel"]
    assert found.state is RULED_OUT
    assert candidate_text(found).endswith("on 2 of 3 workers, unknown on 1 of 3 workers")


def test_a_side_without_workers():
    """Nothing is supported, nothing fails."""
    sides = workers_of(seed_case.documents(pools=["amd-16"]))
    nobody, slow = (Side.of_workers(each, SUBJECT) for each in ([], sides["amd-16"]))
    causes = judge(Case(SUBJECT, 1.92, nobody, slow))
    assert SUPPORTED not in {cause.state for cause in causes}


def test_a_part_that_was_measured_is_no_prediction() -> None:
    """Twice as slow alone, and 2.5 times by the lock: the lock is 57 % of the fivefold."""
    measurements = [
        measurement("metadata", "stat", ms, SCALING, gain, threads)
        for ms, gain, threads in ((2, 4, 1), (5, 1.5, 4))
    ]
    subject = Subject("metadata", SUBJECT.place, variant="stat", threads=4)
    found = causes_of(ratio=5, subject=subject, measurements=measurements)["metadata-lock"]
    assert found.predicted_ratio == pytest.approx(2.5)
    assert found.share == pytest.approx(math.log(2.5) / math.log(5))
    assert explanation_text(found).endswith(" This makes 2.50× of the measured 5.00×: 57 %.")
    assert texts(found)[:2] == (
        "throughput 4.00× with 4 threads (stat, one thread is 1)",
        "throughput 1.50× with 4 threads (stat, one thread is 1)",
    )


def test_copies_that_are_slower_than_hardlinks() -> None:
    """What hardlinks take longer, too, is not the copies."""
    measurements = [
        measurement("exec", "copies", 3, OVER_HARDLINKED, 9),
        measurement("exec", "hardlinked", 1.5),
    ]
    subject = Subject("exec", SUBJECT.place, variant="copies", threads=0)
    found = causes_of(ratio=3, subject=subject, measurements=measurements)["per-builder-copies"]
    assert found.predicted_ratio == pytest.approx(2)
    assert texts(found)[:2] == (
        "time of copies 4.00× that of hardlinks",
        "time of copies 9.00× that of hardlinks",
    )


@pytest.mark.parametrize("faster_bytes_per_s", [300_000, 100_000_000])
def test_a_limit_on_small_writes(faster_bytes_per_s: int):
    """A page and a flush at 100 operations a second: the limit predicts by operations, not by bytes.

    What else the faster side's disks moved on average says nothing about its writes.
    """

    def moved(factor: float, bytes_per_s: int) -> dict[str, Any]:
        added = measured({"sync-write": factor}, only=["sync-write"])["workloads"]

        def entries(recorded: list[Any]) -> list[Any]:
            return [
                {**entry, "device_bytes": {"nvme1n1": {"read": 0, "written": written}}}
                for entry in added(recorded)
                for written in [int(bytes_per_s * entry["run_ns"] / 1e9)]
            ]

        return {"workloads": entries, "timeline": None}

    limit = io_limit(100, kind="write_operations_per_s")
    report = pair_report(moved(1, faster_bytes_per_s), moved(100, 180_000) | limit)
    found = cause_of(report, "cgroup-io-limit", "sync-write")
    assert found.state is not RULED_OUT
    assert found.predicted_ratio == pytest.approx(100, rel=0.2)


@pytest.mark.parametrize(
    ("stalls", "expected"),
    [
        pytest.param(
            (None, None), "A side's client did not send Expect: 100-continue", id="unsent"
        ),
        pytest.param((0, 0), "No upload waited for an answer that did not come.", id="none"),
        pytest.param((50, 50), "The faster side's uploads stall as often.", id="both"),
        pytest.param((49, 50), "The slower side's uploads wait about a second each", id="more"),
    ],
)
def test_uploads_that_stall(stalls: tuple[int | None, int | None], expected: str) -> None:
    """More of the slower side's uploads wait for an answer that does not come."""
    faster, slower = (
        measured(
            {"upload": factor}, only=["upload"], observed={"upload": {"expect_100_stalls": stalled}}
        )
        for factor, stalled in zip((1.0, 2.0), stalls, strict=True)
    )
    found = cause_of(pair_report(faster, slower), "expect-continue-stall", "upload")
    assert explanation_text(found).startswith(expected)


def unpacking(
    variant: str,
    factor: float = 1.0,
    blocked: float = 0.2,
    read_mib: int = 0,
    written_mib: int | None = None,
) -> dict[str, Any]:
    """One variant, with the share of its time that it was blocked, and what its disks moved."""
    name = f"unpack/{variant}"
    added = measured({name: factor}, only=[name], seed=round(factor))["workloads"]

    def entries(recorded: list[Any]) -> list[Any]:
        *others, entry = added(recorded)
        wall_ns = sum(entry["samples"]["duration_ns"])
        cpu_ns = round((1 - blocked) * wall_ns / 2)
        times = {"wall_ns": wall_ns, "user_ns": cpu_ns, "kernel_ns": cpu_ns, "waiting_ns": 0}
        moved = None
        if written_mib is not None:
            device = {"read": read_mib * MIB, "written": written_mib * MIB}
            moved = {"nvme1n1": device, "nvme2n1": {"read": 0, "written": 0}}
        return [*others, {**entry, "process_times": times, "device_bytes": moved}]

    return {"workloads": entries, "timeline": None}


def overlay(*, volatile: bool) -> dict[str, Any]:
    details = {"upper_directory": "/x/diff", "volatile": volatile, "lower_layers": 1}
    return {f"{PLACE}.kind": "overlay", f"{PLACE}.overlay": details}


READS: dict[str, Any]
WRITES: dict[str, Any]
READS, WRITES = ({"read_mib": read, "written_mib": 1720 - read} for read in (1700, 20))
IN_MEMORY: dict[str, Any] = {"blocked": 0.6, "written_mib": 20}


@pytest.mark.parametrize(
    ("name", "faster", "slower", "expected"),
    [
        pytest.param(
            *("device-count", unpacking("warm-sync"), unpacking("warm-sync", 2, 0.58)),
            "The slower side spreads its writes over fewer disks.",
            id="fewer disks",
        ),
        pytest.param(
            *("device-count", unpacking("warm", blocked=0), unpacking("warm", 2, 0)),
            "The number of disks differs, but the slower side did not wait for its disks.",
            id="the time is on the CPU",
        ),
        pytest.param(
            *("device-count", unpacking("warm", **IN_MEMORY), unpacking("warm", 2, **IN_MEMORY)),
            "The number of disks differs, but the slower side did not wait for its disks.",
            id="files stay in memory",
        ),
        pytest.param(
            "volatile-overlay",
            unpacking("warm-sync") | overlay(volatile=True),
            unpacking("warm-sync", 2, 0.6) | overlay(volatile=False),
            "Only the faster side's overlay is mounted volatile",
            id="a volatile overlay, with a final sync",
        ),
        pytest.param(
            "volatile-overlay",
            unpacking("warm") | overlay(volatile=True),
            unpacking("warm", 2, 0.6) | overlay(volatile=False),
            "Only the faster side's overlay is volatile, but warm does not sync.",
            id="a volatile overlay, without a sync",
        ),
        pytest.param(
            *("disk-speed", unpacking("cold", **READS), unpacking("cold", 8, 0.9, **READS)),
            "Each disk of the slower side read at ",
            id="the archive is read",
        ),
        pytest.param(
            "disk-speed",
            unpacking("warm-sync", **WRITES),
            unpacking("warm-sync", 8, 0.9, **WRITES),
            "Each disk of the slower side wrote at ",
            id="files are written",
        ),
    ],
)
def test_unpacking(
    name: str, faster: dict[str, Any], slower: dict[str, Any], expected: str
) -> None:
    """A slower unpack is explained by what its disks write and read, and whether it syncs."""
    found = cause_of(pair_report(faster, slower), name, "unpack")
    assert explanation_text(found).startswith(expected)


def cause_of(report: Report, name: str, workload: str) -> Cause:
    (found,) = [
        cause
        for diagnosis in report.diagnoses
        if diagnosis.subject is not None and diagnosis.subject.workload == workload
        for cause in diagnosis.causes
        if cause.name == name
    ]
    return found


def test_documented():
    """taskcluster/docs/causes.md has every cause, in the report's order, with what decides its state."""
    text = (ROOT / "taskcluster" / "docs" / "causes.md").read_text()
    table = text.partition("## Causes")[2].partition("## ")[0]
    rows = re.findall(r"^\| `([a-z0-9-]+)` \|(.+)\|$", table, re.MULTILINE)
    assert [name for name, _ in rows] == [rule.name for rule in RULES]
    assert {row.count("|") for _, row in rows} == {2}
