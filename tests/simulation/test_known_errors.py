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

from io_benchmark.analysis.model import DIFFERENT, Cause, State
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


def test_device_count_where_another_process_waits() -> None:
    """Pressure is the whole system's: a neighbour that waits for another disk is no wait of copies."""
    neighbour = IRRELEVANT["a neighbour blocked on another disk"]
    slow = both(WARM, ONE_DISK, neighbour, SLOW_GREP)
    found = causes(slow, both(WARM), destination=CPU_BOUND)
    assert found["device-count"].state is RULED_OUT
    assert "device-count" not in supported(found)


def test_disk_speed_counts_no_lookups() -> None:
    """Disks that idle during slow lookups write less per second, and are not slower."""
    found = causes(both(VERY_SLOW_GREP))
    assert found["disk-speed"].state is RULED_OUT


@pytest.mark.parametrize("truth", ["write limit", "read limit while the cache is cold"])
def test_disk_speed_under_a_limit(truth: str) -> None:
    """A disk that a cgroup limits is not slow, also where the limit binds for a part of the run."""
    found = causes(both(TRUTHS[truth].on_both, TRUTHS[truth].change), both(TRUTHS[truth].on_both))
    assert supported(found) == {"cgroup-io-limit"}
    assert found["disk-speed"].state is RULED_OUT


def test_ext4_flush_on_both_sides() -> None:
    """What makes both sides wait alike explains no difference."""
    found = causes(both(ONE_DISK))
    assert (found["ext4-flush"].state, found["ext4-flush"].is_shared) == (RULED_OUT, True)


@pytest.mark.parametrize("name", ["linear-volume", "boot-disk-fallback"])
def test_disks_that_nothing_waited_for(name: str) -> None:
    """A linear volume and a boot disk cost nothing where copies stay in memory."""
    truth = TRUTHS[name.replace("-", " ").removesuffix(" fallback")]
    found = causes(both(WARM, truth.change, SLOW_GREP), both(WARM), destination=CPU_BOUND)
    assert found[name].state is RULED_OUT


@pytest.mark.parametrize(
    ("name", "irrelevant"),
    [
        ("mount-options", IRRELEVANT["mount option"]),
        ("file-system", storage(filesystem="btrfs")),
        ("scheduler", IRRELEVANT["bfq"]),
    ],
)
def test_settings_without_any_time(name: str, irrelevant: Change) -> None:
    """A slower setting needs time in its parts: here the lookups alone take longer."""
    found = causes(both(WARM, irrelevant, SLOW_GREP), both(WARM), destination=CPU_BOUND)
    assert found[name].state is RULED_OUT
    assert "scheduler-idling" not in supported(found)


@pytest.mark.parametrize(
    "limit",
    [
        pytest.param(limits(write_bytes_per_s=600.0 * MIB), id="below twice the rate"),
        pytest.param(limits(write_iops=8_000.0), id="operations"),
        pytest.param(limits(read_bytes_per_s=400.0 * MIB), id="of reads, against writes"),
    ],
)
def test_limits_that_are_not_reached(limit: Change) -> None:
    """One disk writes 391 MiB/s, whatever its cgroup would allow, and reads nothing."""
    found = causes(both(WARM, ONE_DISK, limit), both(WARM))
    assert supported(found) == {"device-count"}
    assert found["cgroup-io-limit"].state is RULED_OUT


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("cgroup-memory-limit", limits(memory_bytes=9.0 * GIB)),
        ("cgroup-cpu-limit", limits(cpus=1.5)),
    ],
)
def test_limits_without_pressure(name: str, limit: Change) -> None:
    """A limit of memory or CPU time that differs is no cause where nothing was read again or waited."""
    found = causes(both(ONE_DISK, limit))
    assert supported(found) == {"device-count"}
    assert found[name].state is RULED_OUT


def test_a_throttled_cpu_of_the_same_model() -> None:
    """All work takes longer by one factor, although no fact differs."""
    found = causes(both(WARM, cpu(speed=0.55)), both(WARM), destination=CPU_BOUND)
    assert supported(found) == {"cpu"}


def test_cpu_by_a_little_steal_or_more_cpus() -> None:
    """5.6 % against 5.3 % of stolen time and other numbers of CPUs explain no slower disks."""
    slow = both(ONE_DISK, cpu(stolen_share=0.056, count=30))
    found = causes(slow, both(cpu(stolen_share=0.053)))
    assert found["cpu"].state is RULED_OUT


def test_kernel_beside_a_slow_cpu() -> None:
    """A slow CPU slows the kernel, too: another release is not the cause."""
    slow = both(WARM, SLOW_CPU, IRRELEVANT["another kernel"])
    found = causes(slow, both(WARM), destination=CPU_BOUND)
    assert supported(found) == {"cpu"}
    assert found["kernel"].state is RULED_OUT


def test_other_load_beside_a_journal() -> None:
    """What the own journal writes is nothing else's."""
    found = causes(both(storage(journals_data=True)))
    assert supported(found) == {"mount-options"}
    assert found["other-load"].state is RULED_OUT


def test_a_small_drift() -> None:
    """Disks that lose 12 % during the run explain no factor of two."""
    found = causes(both(ONE_DISK, other(slows_down_by=0.12)))
    assert "drift-over-time" not in supported(found)


def test_random_io_of_copies_in_memory() -> None:
    """Disks with fewer operations per second do not slow what never waits for them."""
    sides = measured(both(WARM, SLOW_CPU), both(WARM), CPU_BOUND)
    for side, factor in ((SLOW, 2.0), (FAST, 1.0)):
        for each in sides[side]:
            _add(each.document, "random-io", factor)
    report = divided_reports.of_measured(sides, baseline=FAST)
    assert _of(report, "cache-retrieve")["random-io"].state is RULED_OUT


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
    sides = measured(both(WARM, change), both(WARM), CPU_BOUND)
    for side, factor in ((SLOW, 2.0), (FAST, 1.0)):
        for each in sides[side]:
            _add(each.document, workload, factor)
    report = divided_reports.of_measured(sides, baseline=FAST)
    assert _of(report, workload)[wrong].state is RULED_OUT


def _add(document: dict[str, Any], workload: str, factor: float) -> None:
    """Add a workload that takes so many times as long, all in user mode beyond the usual."""
    for entry in workload_entries.entries({workload: factor}, only=[workload]):
        busy = 1 - 0.8 / factor
        wall_ns = entry["run_ns"]
        document["workloads"].append(
            {
                **entry,
                "process_times": {
                    "wall_ns": wall_ns,
                    "user_ns": round(busy * wall_ns),
                    "kernel_ns": 0,
                    "waiting_ns": 0,
                },
            }
        )
