# SPDX-License-Identifier: MPL-2.0
"""Errors of earlier rules, each on machines whose facts and costs belong together."""

from collections.abc import Mapping
from typing import Any

import divided_reports
import pytest
import workload_entries
from simulated_cases import (
    BASE,
    CPU_BOUND,
    DISK_BOUND,
    FAST,
    GIB,
    IRRELEVANT,
    SLOW,
    TRUTHS,
    Change,
    cpu,
    image,
    limits,
    other,
    storage,
)
from simulated_machine import MIB, Machine
from simulated_push import Measured, Pool, measure

from io_benchmark.analysis.diagnosis_model import Cause, State
from io_benchmark.analysis.model import DIFFERENT
from io_benchmark.analysis.report_model import Report

WARM = other(resident_share=1.0)
ONE_DISK = TRUTHS["one disk"].change
SLOW_GREP = TRUTHS["slow grep"].change
SLOW_CPU = TRUTHS["slow CPU"].change
# As long as two copies: the disks idle in most of the time.
VERY_SLOW_GREP = image(grep_version="3.1", lookup_factor=600.0)
SUPPORTED, RULED_OUT = State.SUPPORTED, State.RULED_OUT
Causes = Mapping[str, Cause]


def both(*changes: Change) -> Machine:
    machine = BASE
    for change in changes:
        machine = change(machine)
    return machine


def measured(slow: Machine, fast: Machine, destination: str) -> dict[str, list[Measured]]:
    pools = Pool(SLOW, slow), Pool(FAST, fast)
    return measure(pools, 1, destination=destination, retrieves=divided_reports.RETRIEVES)


def causes(slow: Machine, fast: Machine = BASE, *, destination: str = DISK_BOUND) -> Causes:
    """Return the causes of a difference, by name."""
    report = divided_reports.of_measured(measured(slow, fast, destination), baseline=FAST)
    assert report.subjects[0].comparisons[0].verdict in DIFFERENT
    return _of(report, "cache-retrieve")


def _of(report: Report, workload: str) -> Causes:
    (found,) = (
        each for each in report.diagnoses if each.subject and each.subject.workload == workload
    )
    return {cause.name: cause for cause in found.causes}


def supported(found: Causes) -> set[str]:
    return {name for name, cause in found.items() if cause.state is SUPPORTED}


NEIGHBOUR = IRRELEVANT["a neighbour blocked on another disk"]
DISK_LIMITS = {
    "below twice the rate": limits(write_bytes_per_s=600.0 * MIB),
    "operations": limits(write_iops=8_000.0),
    "of reads, against writes": limits(read_bytes_per_s=400.0 * MIB),
}
# The cause that was wrong, what the slower side has, and what is supported instead.
WARM_ERRORS = {
    # Pressure is the whole system's: a neighbour that waits for another disk is no wait of copies.
    "neighbour": ("device-count", (ONE_DISK, NEIGHBOUR, SLOW_GREP), None),
    # A linear volume and a boot disk cost nothing where copies stay in memory.
    "linear": ("linear-volume", (TRUTHS["linear volume"].change, SLOW_GREP), None),
    "boot": ("boot-disk-fallback", (TRUTHS["boot disk"].change, SLOW_GREP), None),
    # A slower setting needs time in its parts: here the lookups alone take longer.
    "option": ("mount-options", (IRRELEVANT["mount option"], SLOW_GREP), None),
    "btrfs": ("file-system", (storage(filesystem="btrfs"), SLOW_GREP), None),
    "bfq": ("scheduler", (IRRELEVANT["bfq"], SLOW_GREP), {"lookup-cost"}),
    # A slow CPU slows the kernel, too: another release is not the cause.
    "kernel": ("kernel", (SLOW_CPU, IRRELEVANT["another kernel"]), {"cpu"}),
}
DISK_ERRORS = {
    # One disk writes 391 MiB/s, whatever its cgroup would allow, and reads nothing.
    **{
        name: ("cgroup-io-limit", (WARM, ONE_DISK, limit), {"device-count"})
        for name, limit in DISK_LIMITS.items()
    },
    # Nothing was read again or waited.
    "memory": ("cgroup-memory-limit", (ONE_DISK, limits(memory_bytes=9.0 * GIB)), {"device-count"}),
    "CPU": ("cgroup-cpu-limit", (ONE_DISK, limits(cpus=1.5)), {"device-count"}),
    # What the own journal writes is nothing else's.
    "journal": ("other-load", (storage(journals_data=True),), {"mount-options"}),
    # Disks that idle during slow lookups write less per second, and are not slower.
    "lookups": ("disk-speed", (VERY_SLOW_GREP,), None),
    # Disks that lose 12 % during the run explain no factor of two.
    "drift": ("drift-over-time", (ONE_DISK, other(slows_down_by=0.12)), None),
}


@pytest.mark.parametrize(
    ("destination", "name", "slow", "right"),
    [
        pytest.param(destination, *case, id=f"{case[0]}-{situation}")
        for destination, cases in ((CPU_BOUND, WARM_ERRORS), (DISK_BOUND, DISK_ERRORS))
        for situation, case in cases.items()
    ],
)
def test_a_fact_that_costs_nothing(destination, name, slow, right):
    """It differs, and something else makes the difference."""
    always = (WARM,) if destination == CPU_BOUND or WARM in slow else ()
    found = causes(both(*always, *slow), both(*always), destination=destination)
    assert found[name].state is RULED_OUT
    assert right is None or supported(found) == right


@pytest.mark.parametrize("truth", ["write limit", "read limit while the cache is cold"])
def test_disk_speed_under_a_limit(truth: str) -> None:
    """A disk that a cgroup limits is not slow, also where the limit binds for a part of the run."""
    found = causes(both(TRUTHS[truth].on_both, TRUTHS[truth].change), both(TRUTHS[truth].on_both))
    assert supported(found) == {"cgroup-io-limit"}
    assert found["disk-speed"].state is RULED_OUT


def test_cpu_by_a_little_steal_or_more_cpus() -> None:
    """5.6 % against 5.3 % of stolen time and other numbers of CPUs explain no slower disks."""
    slow = both(ONE_DISK, cpu(stolen_share=0.056, count=30))
    found = causes(slow, both(cpu(stolen_share=0.053)))
    assert found["cpu"].state is RULED_OUT


@pytest.mark.parametrize(
    ("workload", "change", "wrong"),
    [
        ("sync-write", limits(write_bytes_per_s=6.0 * GIB), "cgroup-io-limit"),
        ("sync-write", IRRELEVANT["bfq"], "scheduler"),
        ("sync-write", storage(synchronous=True), "mount-options"),
        ("metadata", storage(filesystem="btrfs"), "file-system"),
        ("metadata", limits(cpus=1.5), "cgroup-cpu-limit"),
        ("spawn", limits(cpus=1.5), "cgroup-cpu-limit"),
    ],
)
def test_other_workloads(workload: str, change: Change, wrong: str) -> None:
    """Work that takes longer in user mode alone is not explained by disks, mounts or limits."""
    found = causes_beside(workload, both(WARM, change), workload)
    assert found[wrong].state is RULED_OUT


def test_random_io_of_copies_in_memory() -> None:
    """Disks with fewer operations per second do not slow what never waits for them."""
    found = causes_beside("random-io", both(WARM, SLOW_CPU), "cache-retrieve")
    assert found["random-io"].state is RULED_OUT


def causes_beside(workload: str, slow: Machine, explained: str) -> Causes:
    """Return the causes of one workload's difference, beside one that takes twice as long."""
    sides = measured(slow, both(WARM), CPU_BOUND)
    for side, factor in ((SLOW, 2.0), (FAST, 1.0)):
        for each in sides[side]:
            _add(each.document, workload, factor)
    return _of(divided_reports.of_measured(sides, baseline=FAST), explained)


def _add(document: dict[str, Any], workload: str, factor: float) -> None:
    """Add a workload that takes so many times as long, all in user mode beyond the usual."""
    for entry in workload_entries.entries({workload: factor}, only=[workload]):
        wall_ns = entry["run_ns"]
        times = {"wall_ns": wall_ns, "user_ns": round((1 - 0.8 / factor) * wall_ns)}
        times |= {"kernel_ns": 0, "waiting_ns": 0}
        document["workloads"].append({**entry, "process_times": times})
