# SPDX-License-Identifier: MPL-2.0
"""How often trials confirm what is true, and what is not, on simulated machines.

The machines of a pair copy the same files; all trials are run by the same physical model as the retrieves.
"""

from collections.abc import Mapping

import divided_reports
import pytest
from simulated_cases import (
    BASE,
    DISK_BOUND,
    SINGLE,
    Case,
    Change,
    changed,
    cpu,
    disks,
    every_disk,
    image,
    limits,
    neighbours,
)
from simulated_machine import MIB

from io_benchmark.analysis.diagnosis_model import State, TrialState
from io_benchmark.analysis.report_model import Report
from io_benchmark.results.workloads.cache_retrieve import TrialKind

SEEDS, LONG_SEEDS = 4, 20
GIB = 1024 * MIB
HIDDEN_GREP = image(grep_version="3.1", lookup_factor=20.0)
SLOW_GREP = image(grep_version="3.1", lookup_factor=300.0)
SLOWER_DISKS = every_disk(write_mib_per_s=300.0)
CONFIRMED = TrialState.CONFIRMED
# Write bandwidth, found by these causes.
BY_BANDWIDTH: Mapping[str, tuple[str, tuple[Change, ...]]] = {
    "one disk": ("device-count", (disks(1),)),
    "one disk, an unreached limit": (
        "device-count",
        (disks(1), limits(write_bytes_per_s=6.0 * GIB)),
    ),
    "one disk, a hidden slow grep": ("device-count", (disks(1), HIDDEN_GREP)),
    "a write limit": ("cgroup-io-limit", (limits(write_bytes_per_s=300.0 * MIB),)),
}
# Anything else: no cause in storage may be confirmed.
NOT_BY_STORAGE: Mapping[str, tuple[Change, ...]] = {
    "slow grep": (SLOW_GREP,),
    "slow grep, slower disks": (image(grep_version="3.1", lookup_factor=600.0), SLOWER_DISKS),
    "a neighbour blocked on another disk": (neighbours(other_disk_blocked_share=0.5),),
    "CPU contention, slower disks": (neighbours(runnable_per_cpu=12.0), SLOWER_DISKS),
    "a very slow CPU": (cpu(speed=0.08, model="slow"),),
}
IN_STORAGE = ("device-count", "disk-speed", "cgroup-io-limit", "linear-volume", "ext4-flush")


def causes(report: Report, *states: State) -> list[str]:
    return [cause.name for cause in report.diagnoses[0].causes if cause.state in states]


def outcomes(report: Report) -> dict[TrialKind, TrialState]:
    return {each.kind: each.state for each in report.diagnoses[0].trials}


@pytest.fixture(name="seeds")
def _seeds(request: pytest.FixtureRequest) -> range:
    return range(LONG_SEEDS if request.config.getoption("--long") else SEEDS)


@pytest.mark.parametrize("workers", [1, 3])
def test_write_bandwidth_is_confirmed(workers: int, seeds: range) -> None:
    """In 19 of 20 pushes or more, with decoys and without; no other cause ever is."""
    tried = confirmed = 0
    for name, changes in BY_BANDWIDTH.values():
        for seed in seeds:
            report = divided_reports.tried(changed(*changes), BASE, seed, workers)
            found = causes(report, State.CONFIRMED)
            assert found in ([], [name])
            tried += 1
            confirmed += found == [name]
    assert confirmed >= 0.95 * tried


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("changes", NOT_BY_STORAGE.values(), ids=NOT_BY_STORAGE)
def test_no_cause_in_storage_is_confirmed(changes, workers, seeds):
    """Where something else makes the difference."""
    for seed in seeds[1:]:
        report = divided_reports.tried(changed(*changes), BASE, seed, workers)
        assert not set(causes(report, State.CONFIRMED)) & set(IN_STORAGE)
        assert outcomes(report).get(TrialKind.PACE) is not CONFIRMED


@pytest.mark.parametrize(
    "case", [case for case in SINGLE if case.destination == DISK_BOUND], ids=lambda case: case.name
)
def test_only_what_is_true_is_confirmed(case: Case) -> None:
    """And nothing that is true is refuted."""
    report = divided_reports.tried(case.slow, case.fast)
    assert set(causes(report, State.CONFIRMED)) <= case.right
    assert not set(causes(report, State.REFUTED)) & case.right
