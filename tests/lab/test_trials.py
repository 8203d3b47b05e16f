# SPDX-License-Identifier: MPL-2.0
"""What the worker's trials measure on real storage: one disk against two striped.

The disks are capped far below what the machine's CPUs and memory do. What should be equal may
differ by as much as disks that are alike do.
"""

from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from answers import states
from storage_lab import Lab, needs, needs_write_caps
from worker import retrieves_of

from io_benchmark.analysis.explaining.causes.disks import ALIKE_RATIO
from io_benchmark.results.workloads.cache_retrieve import TrialKind, Trials
from io_benchmark.sources.run_files import read_run

pytestmark = [pytest.mark.serial, pytest.mark.root, pytest.mark.lab]

Measure = Callable[..., Path]
Compare = Callable[..., dict[str, Any]]
RUN = ("--sizes", "20x2", "--retrieves", "120", "--trials", "always")
CAP_MIB_PER_S = 40


def trials_of(result: Path) -> Trials:
    (entry,) = retrieves_of(read_run(result).result)
    assert entry.trials is not None
    assert (entry.trials.state, entry.trials.reason) == ("completed", None)
    return entry.trials


def ceiling_bytes_per_s(trials: Trials) -> float:
    written_bytes = sum(ceiling.written_bytes for ceiling in trials.ceilings)
    return written_bytes / sum(ceiling.duration_ns for ceiling in trials.ceilings) * 1e9


def mean_ns(trials: Trials, kind: TrialKind) -> float:
    """The mean time of a retrieve in all blocks of a kind."""
    return fmean(
        lookup_ns + copy_ns
        for block in trials.blocks
        if block.trial is kind
        for lookup_ns, copy_ns in zip(block.lookup_ns, block.copy_ns, strict=True)
    )


def lookups_ns(trials: Trials) -> list[int]:
    """The times of lookups in blocks that have none."""
    blocks = [block for block in trials.blocks if block.trial is TrialKind.LOOKUP]
    return [lookup_ns for block in blocks for lookup_ns in block.lookup_ns]


def test_one_disk_against_two(lab: Lab, measure: Measure, compare: Compare) -> None:
    """Its ceiling is half of theirs; held to it, two disks take as long.

    So the cause is confirmed.
    """
    needs("mkfs.btrfs")
    needs_write_caps()
    one = lab.stripe("one", 1, 900, CAP_MIB_PER_S)
    two = lab.stripe("two", 2, 600, CAP_MIB_PER_S)
    slow_result = measure("amd-16", one, *RUN)
    slow = trials_of(slow_result)
    pace = round(ceiling_bytes_per_s(slow))
    fast_result = measure("intel", two, *RUN, "--pace", str(pace))
    fast = trials_of(fast_result)
    assert max(fmean(lookups_ns(slow)), fmean(lookups_ns(fast))) < 100_000
    two_disks_ratio = ceiling_bytes_per_s(fast) / pace / 2
    paced_ratio = mean_ns(fast, TrialKind.PACE) / mean_ns(slow, TrialKind.NORMAL)
    for ratio in (two_disks_ratio, paced_ratio):
        assert 1 / ALIKE_RATIO <= ratio <= ALIKE_RATIO, (two_disks_ratio, paced_ratio)
    assert states(compare(slow_result, fast_result))["device-count"] == "confirmed"
