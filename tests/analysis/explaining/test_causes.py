# SPDX-License-Identifier: MPL-2.0
"""Evidence, predictions and the words of causes; test_states has the states."""

import math
import re
from collections.abc import Mapping
from graphlib import TopologicalSorter
from typing import Any

import pytest
import workload_entries
from checkout import ROOT
from seed_facts import (
    MIB,
    PLACE,
    both_disks,
    io_limit,
    options,
    times_written,
    written,
)
from seed_workers import (
    SUBJECT,
    candidate_text,
    causes_of,
    explanation_text,
    measured,
    measurement,
    texts,
)

from io_benchmark.analysis.explaining.causes import RULES
from io_benchmark.analysis.explaining.rules import AllBut, CauseRule
from io_benchmark.analysis.model.cause import Cause, State
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.results.workloads import SCALING, WORKLOADS

SUPPORTED, RULED_OUT, NOT_SEPARABLE = State.SUPPORTED, State.RULED_OUT, State.NOT_SEPARABLE
LINEAR = {f"{PLACE}.devices.0.stripe_count": None} | both_disks(0.5)
LINEAR |= options("rw,nobarrier,data=writeback,commit=60")


def a(change: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Only the slower side is changed."""
    return {"amd-16": change}


def test_a_cgroups_cap_predicts_as_a_published_one_does():
    """Each disk held to 40 MiB/s by its cgroup: one against two striped predicts 2.00x."""
    cap = 40 * 1024 * 1024
    limits = [io_limit(cap, name=name)["limits.io"][0] for name in ("nvme0n1", "nvme0n2")]
    found = causes_of({"amd-16": io_limit(cap), "intel": {"limits.io": limits}})["device-count"]
    assert (found.state, found.predicted_ratio) == (SUPPORTED, 2.0)


PUBLISHED, UNPUBLISHED = (
    "is that of the disks' write caps.",
    "is that of the numbers of disks, because the write caps of one side are not known.",
)


@pytest.mark.parametrize(
    ("change", "ratio", "share", "sentence", "cap"),
    [
        pytest.param({}, 2.2, 0.88, PUBLISHED, "350 MiB/s", id="a part"),
        pytest.param({"task.instance_type": None}, 1.92, 1, PUBLISHED, "350 MiB/s", id="unknown"),
        pytest.param(
            {"task.instance_type": "m3-ultramem-32"}, 1.92, 1, UNPUBLISHED, "", id="no cap"
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


@pytest.mark.parametrize(
    "option",
    [
        "sync",
        "dirsync",
        "discard",
        "strictatime",
        "nodelalloc",
        "data=ordered",
        "data=journal",
        "barrier=1",
        "commit=5",
    ],
)
def test_each_mount_option_that_costs_time(option):
    """On the slower side alone it may be the cause, on the faster side alone it is not.

    Only a journal with the data has a size: the bytes that it writes once more.
    """
    name = option.partition("=")[0]
    usual = ("nobarrier", "data=writeback", "commit=60")
    others = [default for default in usual if name not in default]
    tuned, costly = (options(",".join(names)) for names in (usual, (*others, option)))
    moved = times_written(2) if option == "data=journal" else {}
    # Both have two disks, so that nothing else acts through the same part of the time.
    states = [
        causes_of({"intel": faster, "amd-30": slower}, candidate="amd-30")["mount-options"].state
        for faster, slower in ((tuned, costly | moved), (tuned, costly), (costly, tuned))
    ]
    journal = option == "data=journal"
    expected = [SUPPORTED, RULED_OUT] if journal else [NOT_SEPARABLE, NOT_SEPARABLE]
    assert states == [*expected, RULED_OUT]


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


def of_batches(
    faster: Mapping[str, Any], slower: Mapping[str, Any], name: str, ratio: float = 2.0
) -> dict[str, Cause]:
    """Return the causes of this workload's variant."""
    workload, _, variant = name.partition("/")
    subject = Subject(workload, SUBJECT.place, variant=variant)
    return causes_of({"intel": faster, "amd-16": slower}, subject=subject, ratio=ratio)


@pytest.mark.parametrize("faster_bytes_per_s", [300_000, 100_000_000])
def test_a_limit_on_small_writes(faster_bytes_per_s: int):
    """The limit of 100 pages and flushes per second predicts by operations, not by bytes.

    What else the faster side's disks moved on average says nothing about its writes.
    """

    def moved(factor: float, bytes_per_s: int) -> dict[str, Any]:
        (entry,) = workload_entries.entries(
            {"sync-write": factor}, only=["sync-write/append-fsync"]
        )
        written = int(bytes_per_s * entry["run_ns"] / 1e9)
        entry["device_bytes"] = {"nvme1n1": {"read": 0, "written": written}}
        return {"workloads": [entry], "timeline": None}

    limited = moved(100, 180_000) | io_limit(100, kind="write_operations_per_s")
    causes = of_batches(moved(1, faster_bytes_per_s), limited, "sync-write/append-fsync", 100)
    assert causes["cgroup-io-limit"].state is not RULED_OUT
    assert causes["cgroup-io-limit"].predicted_ratio == pytest.approx(100, rel=0.2)


@pytest.mark.parametrize(
    ("stalls", "expected"),
    [
        ((None, None), "A side's client did not send Expect: 100-continue"),
        ((0, 0), "No upload waited for an answer that did not come."),
        ((50, 50), "The faster side's uploads stall as often."),
        ((49, 50), "The slower side's uploads wait about a second each"),
    ],
)
def test_uploads_that_stall(stalls: tuple[int | None, int | None], expected: str) -> None:
    """More of the slower side's uploads wait for an answer that does not come."""
    name = "upload/connection-each"
    faster, slower = (
        measured(only=[name], observed={name: {"expect_100_stalls": stalled}}) for stalled in stalls
    )
    found = of_batches(faster, slower, name)["expect-continue-stall"]
    assert explanation_text(found).startswith(expected)


def unpacking(
    variant: str, factor: float, blocked: float, moved_mib: tuple[int, int] | None = None
) -> dict[str, Any]:
    """One variant, with the share of time that it was blocked, and what a disk moved."""
    (entry,) = workload_entries.entries({"unpack": factor}, only=[f"unpack/{variant}"])
    wall_ns = sum(entry["samples"]["duration_ns"])
    cpu_ns = round((1 - blocked) * wall_ns / 2)
    times = {"wall_ns": wall_ns, "user_ns": cpu_ns, "kernel_ns": cpu_ns, "waiting_ns": 0}
    moved = None
    if moved_mib is not None:
        read, written = (mib * MIB for mib in moved_mib)
        idle = {"read": 0, "written": 0}
        moved = {"nvme1n1": {"read": read, "written": written}, "nvme2n1": idle}
    entry |= {"process_times": times, "device_bytes": moved}
    return {"workloads": [entry], "timeline": None}


def overlay(*, volatile: bool) -> dict[str, Any]:
    details = {"upper_directory": "/x/diff", "volatile": volatile, "lower_layers": 1}
    return {f"{PLACE}.kind": "overlay", f"{PLACE}.overlay": details}


VOLATILE, SYNCED = overlay(volatile=True), overlay(volatile=False)
READ, WRITTEN, IN_MEMORY = (1700, 20), (20, 1700), (0, 20)
FEWER, UNWAITED = (
    "The slower side spreads its writes over fewer disks.",
    "The number of disks differs, but the slower side did not wait for its disks.",
)


@pytest.mark.parametrize(
    ("name", "variant", "faster", "slower", "facts", "expected"),
    [
        ("device-count", "warm-sync", (1, 0.2), (2, 0.58), ({}, {}), FEWER),
        # The time is on the CPU; files stay in memory.
        ("device-count", "warm", (1, 0), (2, 0), ({}, {}), UNWAITED),
        ("device-count", "warm", (1, 0.6, IN_MEMORY), (2, 0.6, IN_MEMORY), ({}, {}), UNWAITED),
        (
            "volatile-overlay",
            "warm-sync",
            (1, 0.2),
            (2, 0.6),
            (VOLATILE, SYNCED),
            "Only the faster side's overlay is mounted volatile",
        ),
        (
            "volatile-overlay",
            "warm",
            (1, 0.2),
            (2, 0.6),
            (VOLATILE, SYNCED),
            "Only the faster side's overlay is volatile, but warm does not sync.",
        ),
        (
            "disk-speed",
            "cold",
            (1, 0.2, READ),
            (8, 0.9, READ),
            ({}, {}),
            "Each disk of the slower side read at ",
        ),
        (
            "disk-speed",
            "warm-sync",
            (1, 0.2, WRITTEN),
            (8, 0.9, WRITTEN),
            ({}, {}),
            "Each disk of the slower side wrote at ",
        ),
    ],
)
def test_unpacking(name, variant, faster, slower, facts, expected) -> None:
    """A slower unpack is explained by what its disks write and read, and whether it syncs."""
    fast, slow = (
        unpacking(variant, *times) | more
        for times, more in zip((faster, slower), facts, strict=True)
    )
    found = of_batches(fast, slow, f"unpack/{variant}", slower[0])[name]
    assert explanation_text(found).startswith(expected)


def test_what_supports_is_the_first_evidence() -> None:
    """Pressure shows load, or what others write; a report has the first of a cause alone."""
    cause = causes_of({"amd-16": written(3), "intel": written(1)})["other-load"]
    assert candidate_text(cause).startswith("300 % of the bytes copied were written to the disks")


def documented_workloads(rule: CauseRule) -> str:
    """Return how the documentation names the workloads that a cause applies to."""
    applied = [name for name in WORKLOADS if rule.applies_to.includes(name)]
    missing = [name for name in WORKLOADS if name not in applied]
    if not missing:
        return "all"
    if len(missing) < 3:
        return "all but " + ", ".join(missing)
    if "cache-retrieve" not in applied:
        return "only " + ", ".join(applied)
    return ", ".join(applied[1:])


def test_documented():
    """taskcluster/docs/causes.md has every cause, in the report's order, and what decides it.

    A cause applies to a new workload until it says why not: then this test asks which is right.
    """
    text = (ROOT / "taskcluster" / "docs" / "causes.md").read_text()
    table = text.partition("## Causes")[2].partition("## ")[0]
    rows = re.findall(r"^\| `([a-z0-9-]+)` \|([^|]*)\|([^|]*)\|([^|]*)\|$", table, re.MULTILINE)
    documented = [(name, also.strip()) for name, also, _, _ in rows]
    assert documented == [(rule.name, documented_workloads(rule)) for rule in RULES]


def test_other_causes_exist() -> None:
    """A cause names the causes that exclude it, cast doubt on it, or make a remedy useless."""
    names = {rule.name for rule in RULES}
    judged_first = {}
    for rule in RULES:
        others = {other.cause for other in (*rule.excluded_by, *rule.doubted_by)}
        judged_first[rule.name] = others
        useless_next_to = {name for remedy in rule.remedies for name in remedy.useless_next_to}
        assert others | useless_next_to <= names
    # It raises an error where two causes exclude each other.
    assert set(TopologicalSorter(judged_first).static_order()) == names


def test_a_scope_names_workloads_that_exist() -> None:
    """A workload that was renamed is not left out by its old name."""
    for rule in RULES:
        scope = rule.applies_to
        named = scope.reasons if isinstance(scope, AllBut) else scope.workloads
        assert set(named) <= set(WORKLOADS)
