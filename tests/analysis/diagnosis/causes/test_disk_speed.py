# SPDX-License-Identifier: MPL-2.0
"""Whether copies wait for the reads or for the writes of the disks."""

from types import SimpleNamespace
from typing import Any

import pytest

from io_benchmark.analysis.diagnosis.causes.disk_speed import mostly_reads

MIB = 1024 * 1024


def side(moved_mib: tuple[int, int], rates: tuple[float, float], peaks: tuple[float, float]) -> Any:
    """Return a side whose workers moved this much, read and written, at these rates per second."""
    view = SimpleNamespace(
        moved_bytes=tuple(each * MIB for each in moved_mib),
        moved_bytes_per_s=tuple(each * MIB for each in rates),
        peak_bytes_per_s=tuple(each * MIB for each in peaks),
    )
    return SimpleNamespace(mean=lambda question: question(view))


@pytest.mark.parametrize(
    ("slower", "expected"),
    [
        pytest.param(side((320, 320), (30, 30), (31, 100)), True, id="reads-at-their-peak"),
        pytest.param(side((320, 320), (30, 30), (100, 31)), False, id="writes-at-their-peak"),
        pytest.param(side((140, 320), (160, 380), (240, 620)), True, id="slower-reads-than-writes"),
        # Ten MiB of small reads over a run that writes as fast as a cgroup lets it.
        pytest.param(side((10, 323), (0.4, 30), (0.4, 30.1)), False, id="few-steady-reads"),
        pytest.param(side((0, 323), (0, 30), (0, 30.1)), False, id="no-reads"),
    ],
)
def test_copies_wait_for_what_the_disks_do_most_of_the_time(slower: Any, expected: bool) -> None:
    """Few reads in each second have a peak rate too, but keep no disk busy."""
    case: Any = SimpleNamespace(
        subject=SimpleNamespace(workload="cache-retrieve"),
        slower=slower,
        faster=side((320, 320), (75, 75), (100, 100)),
    )
    assert mostly_reads(case) is expected
