# SPDX-License-Identifier: MPL-2.0
"""How often trials confirm what is true, and what is not, on simulated machines.

The machines of a pair copy the same files; all trials are run by the same physical model as the retrieves.
"""

from dataclasses import replace
from typing import Any

import divided_reports
import pytest
from simulated_machine import Disk
from simulated_results import Pool
from situations import BASE, FAST, ONE_DISK, SLOW

from io_benchmark.analysis.diagnosis_model import State, TrialState
from io_benchmark.analysis.report_model import Report
from io_benchmark.results.workloads.cache_retrieve import TrialKind

SEEDS, LONG_SEEDS = 4, 20
Facts = dict[str, Any]
# Of few workers, disks that vary more may leave it undecided.
STEADY = replace(BASE, disks_vary=0.01)
ONE = {"disks": ONE_DISK.disks}
SLOWER_DISKS = {"disks": (Disk(315, 680),) * 2}
OTHER_GREP = {"grep_version": "3.1"}
# Writeback takes CPU time, too.
FLUSHING = {"flush_ns_per_byte": 0.15}
# Write bandwidth, found by these causes.
BY_BANDWIDTH: dict[str, tuple[str, Facts]] = {
    "one disk": ("device-count", ONE),
    "one disk, an unreached limit": ("device-count", {**ONE, "write_limit_mb_per_s": 6000.0}),
    "one disk, a hidden slow grep": ("device-count", {**ONE, **OTHER_GREP, "grep_ns": 7e6}),
    "a write limit": ("cgroup-io-limit", {"write_limit_mb_per_s": 157.0}),
}
# Anything else: no cause in storage may be confirmed.
NOT_BY_STORAGE: dict[str, Facts] = {
    "slow grep": {**OTHER_GREP, "grep_ns": 105e6},
    "slow grep, slower disks": {**OTHER_GREP, **SLOWER_DISKS, "grep_ns": 210e6},
    "a neighbour blocked on another disk": {"blocked_elsewhere_share": 0.5},
    "CPU contention, slower disks": {**FLUSHING, **SLOWER_DISKS, "competitors_per_cpu": 12.0},
    "a very slow CPU": {
        **FLUSHING,
        "cpu_model": "slow",
        "user_factor": 12.5,
        "kernel_factor": 12.5,
    },
}
IN_STORAGE = ("device-count", "disk-speed", "cgroup-io-limit", "linear-volume", "ext4-flush")


def tried(facts: Facts, workers: int, seed: int) -> tuple[Report, list[str]]:
    """Compare machines with these facts with usual ones; return the causes that trials confirm."""
    slow = Pool(SLOW, replace(STEADY, **facts), workers)
    report = divided_reports.tried(slow, Pool(FAST, STEADY, workers), seed=seed)
    causes = report.diagnoses[0].causes
    return report, [cause.name for cause in causes if cause.state is State.CONFIRMED]


@pytest.fixture(name="seeds")
def _seeds(request: pytest.FixtureRequest) -> range:
    return range(LONG_SEEDS if request.config.getoption("--long") else SEEDS)


@pytest.mark.parametrize("workers", [1, 3])
def test_write_bandwidth_is_confirmed(workers: int, seeds: range) -> None:
    """In 19 of 20 pushes or more, with decoys and without; no other cause ever is."""
    attempts = confirmed = 0
    for name, facts in BY_BANDWIDTH.values():
        for seed in seeds:
            _, found = tried(facts, workers, seed)
            assert found in ([], [name])
            attempts += 1
            confirmed += found == [name]
    assert confirmed >= 0.95 * attempts


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("facts", NOT_BY_STORAGE.values(), ids=NOT_BY_STORAGE)
def test_no_cause_in_storage_is_confirmed(facts, workers, seeds):
    """Where something else makes the difference."""
    for seed in seeds[1:]:
        report, found = tried(facts, workers, seed)
        assert not {*found} & {*IN_STORAGE}
        outcomes = {each.kind: each.state for each in report.diagnoses[0].trials}
        assert outcomes.get(TrialKind.PACE) is not TrialState.CONFIRMED
