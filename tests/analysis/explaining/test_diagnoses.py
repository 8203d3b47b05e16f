# SPDX-License-Identifier: MPL-2.0
"""Which differences are explained, and what the supported causes leave over of one."""

import divided_reports
import pytest
import seed_case
from msgspec.structs import replace
from seed_facts import spent, waiting_for_io
from seed_workers import SUBJECT, causes_of, measurement, workers_of
from simulated_results import Pool
from situations import BASE, FAST, ONE_DISK, SLOW

from io_benchmark.analysis.explaining.case import Case
from io_benchmark.analysis.explaining.diagnoses import _explained, _left_over
from io_benchmark.analysis.model.cause import State
from io_benchmark.analysis.model.comparison import Verdict
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.model.time_parts import Kind
from io_benchmark.results.workloads import NOT_VISIBLE

SLOWER, FASTER, OPEN = Verdict.SLOWER, Verdict.FASTER, Verdict.INCONCLUSIVE
RETRIEVE, STAT, RENAME, VISIBILITY, SYNC = (
    "cache-retrieve//workspace",
    "metadata/stat/workspace",
    "metadata/create-rename-unlink/workspace",
    "metadata/visibility/workspace",
    "sync-write/dsync-append/workspace",
)
LATE = "metadata/visibility/container"
# A measurement, how many times as long amd-16 takes for it, and how many files were late.
Measured = tuple[str, Verdict, float, int]


@pytest.mark.parametrize(
    ("measured", "explained"),
    [
        pytest.param([(RETRIEVE, OPEN, 1.0, 0)], [RETRIEVE], id="the first one always"),
        pytest.param(
            [(RETRIEVE, SLOWER, 2.0, 0), (SYNC, OPEN, 3.0, 0)], [RETRIEVE], id="what differs"
        ),
        pytest.param(
            [(RETRIEVE, SLOWER, 2.0, 0), (STAT, SLOWER, 2.0, 0), (RENAME, FASTER, 0.3, 0)],
            [RETRIEVE, RENAME],
            id="what differs most of another workload",
        ),
        pytest.param(
            [(STAT, OPEN, 1.0, 0), (RENAME, SLOWER, 2.0, 0)], [RENAME], id="of the only workload"
        ),
        pytest.param(
            [(STAT, SLOWER, 2.0, 0), (VISIBILITY, SLOWER, 9.0, 0)],
            [STAT],
            id="a check of visibility only where nothing else differs",
        ),
        pytest.param(
            [(STAT, SLOWER, 2.0, 0), (VISIBILITY, SLOWER, 9.0, 5)],
            [STAT],
            id="late files of the side that is explained",
        ),
        pytest.param(
            [(STAT, FASTER, 0.5, 0), (VISIBILITY, SLOWER, 9.0, 5)],
            [STAT, VISIBILITY],
            id="late files of a side that is faster otherwise",
        ),
        pytest.param(
            [(STAT, SLOWER, 2.0, 0), (LATE, SLOWER, 9.0, 5)],
            [STAT, LATE],
            id="late files in another place",
        ),
        pytest.param(
            [(STAT, SLOWER, 2.0, 0), (LATE, OPEN, 9.0, 5)], [STAT], id="late files by chance"
        ),
    ],
)
def test_what_is_explained(measured: list[Measured], explained: list[str]) -> None:
    """The leading workload, what differs most of each other one, and files that are late."""
    measurements = [
        measurement(
            workload, variant, ratio, NOT_VISIBLE, late, faster=0, place=place, verdict=verdict
        )
        for name, verdict, ratio, late in measured
        for workload, variant, place in [name.split("/")]
    ]
    subjects = [comparison.subject for comparison in _explained(measurements)]
    names = [f"{subject.workload}/{subject.variant}/{subject.place}" for subject in subjects]
    assert names == explained


@pytest.mark.parametrize(
    ("user_ms", "kernel_ms", "left"),
    [
        pytest.param(0, 6.9, [], id="less than a tenth"),
        pytest.param(0, 7.1, [Kind.KERNEL], id="a tenth of 69.7 ms"),
        pytest.param(4.9, 20, [Kind.KERNEL], id="the other part is less than a fifth of it"),
        pytest.param(5.1, 20, [Kind.KERNEL, Kind.USER], id="the other part is a fifth of it"),
        pytest.param(20, 6, [Kind.USER, Kind.KERNEL], id="the largest part first"),
    ],
)
def test_what_is_left_over(user_ms: float, kernel_ms: float, left: list[Kind]) -> None:
    """Fewer disks explain blocked copies, and no time on a CPU."""
    change = {
        "intel": waiting_for_io(1) | spent(),
        "amd-16": waiting_for_io(1) | spent(copy_user=user_ms, copy_kernel=kernel_ms),
    }
    sides = workers_of(seed_case.documents(1, pools=["intel", "amd-16"], change=change))
    fast, slow = (Side.of_workers(workers, SUBJECT) for workers in sides.values())
    cause = replace(causes_of(change)["device-count"], state=State.SUPPORTED, share=None)
    leftover = _left_over([cause], Case.of(SUBJECT, 1.92, fast, slow))
    assert [part.kind for part in (leftover.parts if leftover else ())] == left


@pytest.mark.parametrize(("share", "left"), [(1.0, None), (0.95, None), (0.85, 0.15), (0.5, 0.287)])
def test_shares_do_not_exceed_the_whole(share: float, left: float | None) -> None:
    """A faster part may make up for a slower one: 20 ms of a difference of 69.7 ms.

    Then what the causes explain and what they leave over is at most 100 %.
    """
    change = {
        "intel": waiting_for_io(1) | spent(copy_user=0, copy_kernel=0),
        "amd-16": waiting_for_io(1) | spent(copy_user=0, copy_kernel=20),
    }
    sides = workers_of(seed_case.documents(1, pools=["intel", "amd-16"], change=change))
    fast, slow = (Side.of_workers(workers, SUBJECT) for workers in sides.values())
    cause = causes_of(change)["device-count"]
    supported = [
        replace(cause, state=State.SUPPORTED, share=None),
        replace(cause, state=State.SUPPORTED, share=share),
    ]
    leftover = _left_over(supported, Case.of(SUBJECT, 1.92, fast, slow))
    assert (leftover and leftover.share) == (left and pytest.approx(left, abs=1e-3))


def test_remedies_are_for_the_slower_side() -> None:
    """Whichever of both is the baseline: fewer disks are not a remedy."""
    pools = Pool(SLOW, ONE_DISK, 4), Pool(FAST, BASE, 4)
    (slower,) = divided_reports.of_pools(*pools, baseline=FAST).diagnoses
    (faster,) = divided_reports.of_pools(*pools, baseline=SLOW).diagnoses
    assert [remedy.cause for remedy in slower.remedies][:1] == ["device-count"]
    assert faster.remedies == slower.remedies
