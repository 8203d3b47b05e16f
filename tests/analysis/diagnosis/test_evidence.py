# SPDX-License-Identifier: MPL-2.0
"""Whether copies wait for the reads or for the writes of the disks."""

from types import SimpleNamespace
from typing import Any

import pytest

from io_benchmark.analysis.diagnosis.evidence import mostly_reads

RETRIEVE, MIB = "cache-retrieve", 1024 * 1024
STEADY = ((30.0, 30.0), (31.0, 100.0))


def side(moved_mib: tuple[int, int], rates: tuple[float, float], peaks: tuple[float, float]) -> Any:
    """Return a side whose workers moved this much, read and written, at these rates per second."""
    names = ("moved_bytes", "moved_bytes_per_s", "peak_bytes_per_s")
    pairs = ((read * MIB, written * MIB) for read, written in (moved_mib, rates, peaks))
    view = SimpleNamespace(**dict(zip(names, pairs, strict=True)))
    return SimpleNamespace(mean=lambda question: question(view))


@pytest.mark.parametrize(
    ("workload", "slower", "expected"),
    [
        pytest.param(RETRIEVE, side((320, 320), *STEADY), True, id="reads-at-their-peak"),
        pytest.param(
            RETRIEVE, side((320, 320), (30, 30), (100, 31)), False, id="writes-at-their-peak"
        ),
        # Few reads in each second have a peak rate too, but keep no disk busy.
        pytest.param(RETRIEVE, side((65, 320), *STEADY), True, id="reads-of-a-fifth"),
        pytest.param(RETRIEVE, side((63, 320), *STEADY), False, id="reads-of-less-than-a-fifth"),
        pytest.param(RETRIEVE, side((0, 323), (0, 30), (0, 30.1)), False, id="no-reads"),
        pytest.param("unpack", side((641, 320), *STEADY), True, id="twice-as-many-reads"),
        pytest.param("unpack", side((639, 320), *STEADY), False, id="less-than-twice"),
    ],
)
def test_copies_wait_for_what_the_disks_do_most_of_the_time(
    workload: str, slower: Any, expected: bool
) -> None:
    """Of copies what the disks do at their peak decides; of operations what both sides do most."""
    faster = side((960, 320), (75, 75), (100, 100))
    subject = SimpleNamespace(workload=workload)
    case: Any = SimpleNamespace(subject=subject, slower=slower, faster=faster)
    assert mostly_reads(case) is expected
