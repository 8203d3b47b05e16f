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
    Change,
    changed,
    cpu,
    disks,
    every_disk,
    image,
    limits,
    neighbours,
    random_case,
    storage,
)
from simulated_machine import MIB

from io_benchmark.analysis.diagnosis_model import Cause, State, TrialState
from io_benchmark.analysis.report_model import Report
from io_benchmark.results.workloads.cache_retrieve import TrialKind

SEEDS, LONG_SEEDS = 4, 20
RANDOM, RANDOM_LONG = 20, 400
GIB = 1024 * MIB
HIDDEN_GREP = image(grep_version="3.1", lookup_factor=20.0)
SLOW_GREP = image(grep_version="3.1", lookup_factor=300.0)
SLOWER_DISKS = every_disk(write_mib_per_s=300.0)
CONFIRMED, REFUTED = TrialState.CONFIRMED, TrialState.REFUTED
# Write bandwidth, found by these causes.
BY_BANDWIDTH: Mapping[str, tuple[str, tuple[Change, ...]]] = {
    "one disk": ("device-count", (disks(1),)),
    "one disk, bfq": ("device-count", (disks(1, scheduler="bfq"),)),
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
    "slow grep, a neighbour on another disk": (
        SLOW_GREP,
        neighbours(other_disk_blocked_share=0.5),
    ),
    "slow grep, slower disks": (image(grep_version="3.1", lookup_factor=600.0), SLOWER_DISKS),
    "a neighbour blocked on another disk": (neighbours(other_disk_blocked_share=0.5),),
    "CPU contention": (neighbours(runnable_per_cpu=12.0),),
    "CPU contention, slower disks": (neighbours(runnable_per_cpu=12.0), SLOWER_DISKS),
    "a very slow CPU": (cpu(speed=0.08, model="slow"),),
}
IN_STORAGE = ("device-count", "disk-speed", "cgroup-io-limit", "linear-volume", "ext4-flush")


def causes(report: Report, *states: State) -> list[str]:
    return [cause.name for cause in report.diagnoses[0].causes if cause.state in states]


def cause(report: Report, name: str) -> Cause:
    (found,) = [each for each in report.diagnoses[0].causes if each.name == name]
    return found


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


def test_cpu_contention_that_looks_like_a_pace() -> None:
    """Contention also slows what measures the ceiling, so that the paced side is as slow."""
    report = divided_reports.tried(changed(neighbours(runnable_per_cpu=12.0)), BASE, 10)
    (paced,) = [each for each in report.diagnoses[0].trials if each.kind is TrialKind.PACE]
    assert paced.state is TrialState.UNDECIDED
    assert "blocked copies make up only" in paced.meaning.template


def test_random_truths_with_irrelevant_differences(request: pytest.FixtureRequest) -> None:
    """Only what is true is confirmed, and nothing that is true is refuted."""
    cases = map(random_case, range(RANDOM_LONG if request.config.getoption("--long") else RANDOM))
    for seed, case in enumerate(each for each in cases if each.destination == DISK_BOUND):
        report = divided_reports.tried(case.slow, case.fast, seed)
        assert set(causes(report, State.CONFIRMED)) <= case.right, case.name
        assert not set(causes(report, State.REFUTED)) & case.right, case.name


@pytest.mark.parametrize(
    ("change", "state", "confirmed"),
    [
        # With equal copies, the lookups are confirmed.
        pytest.param(SLOW_GREP, CONFIRMED, ["lookup-cost"], id="slow"),
        # The disks write during lookups, so slow lookups cost nothing.
        pytest.param(lambda machine: HIDDEN_GREP(disks(1)(machine)), REFUTED, None, id="hidden"),
    ],
)
def test_a_slow_grep(change, state, confirmed):
    """Without the lookups, the gap goes where they make it."""
    report = divided_reports.tried(changed(change), BASE)
    assert outcomes(report)[TrialKind.LOOKUP] is state
    assert confirmed in (None, causes(report, State.CONFIRMED))


def test_a_slow_grep_with_slower_disks() -> None:
    """The disks differ, and pacing shows that they are not the reason."""
    report = divided_reports.tried(
        changed(image(grep_version="3.1", lookup_factor=900.0), SLOWER_DISKS), BASE
    )
    assert outcomes(report)[TrialKind.LOOKUP] is CONFIRMED
    assert outcomes(report)[TrialKind.PACE] is REFUTED
    assert not set(causes(report, State.CONFIRMED, State.SUPPORTED)) & set(IN_STORAGE)


def test_what_a_rewritten_file_flushes() -> None:
    """Only the slower side's ext4 flushes; the disks are equal."""
    fast = changed(storage(flushes_rewritten_files=False))
    report = divided_reports.tried(BASE, fast)
    assert outcomes(report)[TrialKind.UNLINK] is CONFIRMED
    assert causes(report, State.CONFIRMED) == ["ext4-flush"]
    remove, _ = report.diagnoses[0].remedies
    assert (remove.cause, remove.measured) == ("ext4-flush", True)
    assert remove.gain_ratio == pytest.approx(5.5, abs=0.5)


def test_a_removed_file_that_is_being_written() -> None:
    """Where little may be dirty, removing the destination does not help: that does not refute the cause."""
    slow, fast = (
        changed(limits(memory_bytes=120.0 * MIB)),
        changed(storage(flushes_rewritten_files=False)),
    )
    report = divided_reports.tried(slow, fast)
    assert outcomes(report)[TrialKind.UNLINK] is REFUTED
    found = cause(report, "ext4-flush")
    assert found.state is State.NOT_SEPARABLE
    assert "This refutes the remedy only" in found.explanation[-1].template
    assert "ext4-flush" not in {remedy.cause for remedy in report.diagnoses[0].remedies}
