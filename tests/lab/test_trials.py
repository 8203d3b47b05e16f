# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What the worker's trials measure on real storage: one disk against two striped.

The disks are capped. On a machine with other work one measurement may go astray; then another one decides.
"""

from collections.abc import Callable
from pathlib import Path
from statistics import fmean

import pytest
from storage_lab import Lab, needs, needs_write_caps
from worker import retrieves_of

from io_benchmark.results.trials import TrialKind, Trials
from io_benchmark.sources.folder.run_files import read_run

pytestmark = [pytest.mark.serial, pytest.mark.root]

Measure = Callable[..., Path]
RUN = ("--sizes", "20x4", "--retrieves", "60", "--trials", "always")
CAP_MIB_PER_S = 40
ATTEMPTS = 3


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


def test_one_disk_against_two(lab: Lab, measure: Measure) -> None:
    """Its ceiling is half of theirs; held to it, two disks take as long as one."""
    needs("mkfs.btrfs")
    needs_write_caps()
    one = lab.stripe("one", 1, 900, CAP_MIB_PER_S)
    two = lab.stripe("two", 2, 600, CAP_MIB_PER_S)
    seen = []
    for _ in range(ATTEMPTS):
        slow = trials_of(measure("amd-16", one, *RUN))
        pace = round(ceiling_bytes_per_s(slow))
        fast = trials_of(measure("intel", two, *RUN, "--pace", str(pace)))
        for trials in (slow, fast):
            lookups_ns = [
                lookup_ns
                for block in trials.blocks
                if block.trial is TrialKind.LOOKUP
                for lookup_ns in block.lookup_ns
            ]
            assert fmean(lookups_ns) < 100_000
        ceilings_ratio = ceiling_bytes_per_s(fast) / pace
        as_slow_ratio = mean_ns(fast, TrialKind.PACE) / mean_ns(slow, TrialKind.NORMAL)
        gap_ratio = mean_ns(slow, TrialKind.NORMAL) / mean_ns(fast, TrialKind.NORMAL)
        seen.append((ceilings_ratio, as_slow_ratio, gap_ratio))
        if abs(ceilings_ratio - 2) < 0.2 and 1 / 1.1 <= as_slow_ratio <= 1.1 and gap_ratio > 1.5:
            return
    raise AssertionError(f"ceilings, paced ÷ slow, gap: {seen}")
