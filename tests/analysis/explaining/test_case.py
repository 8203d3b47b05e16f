# SPDX-License-Identifier: MPL-2.0
"""What a cause is judged by."""

from types import SimpleNamespace
from typing import Any

import pytest
import sample_report
from seed_workers import SUBJECT

from io_benchmark.analysis.explaining.case import Case
from io_benchmark.analysis.explaining.effects import Size
from io_benchmark.analysis.model.figures import Division, PartDifference
from io_benchmark.analysis.model.measurement import OtherMeasurement
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.model.time_parts import Kind, Part, Phase
from io_benchmark.analysis.reading.disk_rates import moved_bytes, moved_bytes_per_s, window_peak

NOBODY = Side.of([])


@pytest.mark.parametrize(
    ("case_ratio", "ratio", "expected"),
    [
        pytest.param(2.0, 1.5, 1.5, id="a-part"),
        pytest.param(0.5, 3.0, 2.0, id="at-most-the-whole-where-the-candidate-is-faster"),
    ],
)
def test_a_part_of_the_ratio(case_ratio: float, ratio: float, expected: float) -> None:
    """It is not larger than the whole, whichever side is slower."""
    assert Size.measured(Case.of(SUBJECT, case_ratio, NOBODY, NOBODY), ratio) == (expected, True)


@pytest.mark.parametrize(("case_ratio", "expected"), [(2.0, 4.0), (0.5, 0.25)])
def test_the_slower_sides_times(case_ratio: float, expected: float) -> None:
    """Over the faster side's, whichever side that is."""
    case = Case.of(SUBJECT, case_ratio, NOBODY, NOBODY)
    comparison = sample_report.comparison(ratio=4.0)
    figures = (sample_report.figures(mean_ms) for mean_ms in (1.0, 4.0))
    measurement = OtherMeasurement(comparison, *figures)
    assert case.times_as_long(measurement) == expected
    assert case.known_times_as_long(measurement) == max(1.0, expected)


@pytest.mark.parametrize(
    ("share", "times"), [(-0.5, 1.0), (0.0, 1.0), (0.5, 2.0), (0.998, 500.0), (1.0, 1000.0)]
)
def test_times_without_a_share(share: float, times: float) -> None:
    """A share of the time that is saved makes it faster, at most a thousand times."""
    assert Case.times_without(share) == pytest.approx(times)


@pytest.mark.parametrize(
    ("slower_ns", "share"), [(9.0, None), (10.0, None), (10.25, 0.75), (12.0, 0.75)]
)
def test_the_least_difference_that_is_divided(slower_ns: float, share: float | None) -> None:
    """A side that takes no longer has no share; else what was not recorded may be in a part."""
    case = Case.of(SUBJECT, 2.0, NOBODY, NOBODY)
    copies, lookups = Part(Phase.COPY, Kind.KERNEL), Part(Phase.LOOKUP, Kind.USER)
    unknown = Part(Phase.COPY, Kind.UNEXPLAINED)
    differences = [
        PartDifference(*part, 10.0, slower_ns, None, None)
        for part in (copies, lookups, unknown, unknown)
    ]
    vars(case)["division"] = Division("slower", "faster", tuple(differences))
    assert case.share_at_most(frozenset([copies])) == share


RETRIEVE, MIB = "cache-retrieve", 1024 * 1024
STEADY = ((30.0, 30.0), (31.0, 100.0))


def side(moved_mib: tuple[int, int], rates: tuple[float, float], peaks: tuple[float, float]) -> Any:
    """Return a side whose workers moved this much, read and written, at these rates per second."""
    # What is kept with a run is not read again.
    reads = (moved_bytes, moved_bytes_per_s, window_peak)
    names = (f"{read.__module__}.{read.__qualname__}" for read in reads)
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
def test_copies_wait_for_what_the_disks_do_most_of_the_time(workload, slower, expected):
    """Of copies what the disks do at their peak decides; of operations what both sides do most."""
    faster = side((960, 320), (75, 75), (100, 100))
    case = Case.of(Subject(workload, SUBJECT.place), 1 / 2, slower, faster)
    assert case.mostly_reads is expected
