# SPDX-License-Identifier: MPL-2.0
"""The rows of the picture of a comparison: which pools, in which order, and which workers."""

import math
from functools import partial
from statistics import fmean

import many_measurements
import pytest
import sample_report
import seed_workers
from msgspec.structs import replace

from io_benchmark.analysis.compare import compare
from io_benchmark.analysis.comparing.pairs import Options
from io_benchmark.analysis.model.plan import Plan
from io_benchmark.analysis.model.report import SampledReport
from io_benchmark.report.blocks import Picture, plain
from io_benchmark.report.drawn import StripRow
from io_benchmark.report.sections.measured import sides_of
from io_benchmark.report.sections.pools.pool_picture import pool_picture

POOLS = sample_report.POOLS


def drawn(report: SampledReport) -> tuple[str, list[StripRow]]:
    """The caption and the rows."""
    (picture,) = pool_picture(report, sides_of(report))
    assert isinstance(picture, Picture)
    return plain(picture.caption), picture.arguments[0]


def several(workers: int) -> SampledReport:
    made = seed_workers.workers(workers, 0, 0.02)
    return compare(Plan.of_pools(POOLS, None), made, Options())


@pytest.mark.parametrize(
    ("report", "rows"),
    [
        pytest.param(
            sample_report.seed_case,
            [("intel", "baseline", 1), ("amd-16", "slower", 1), ("amd-30", "inconclusive", 1)],
            id="pools",
        ),
        pytest.param(
            sample_report.before_after,
            [
                ("intel before", "baseline", 4),
                ("intel after", "inconclusive", 4),
                ("amd-16 before", "baseline", 4),
                ("amd-16 after", "faster", 4),
            ],
            id="before and after",
        ),
        pytest.param(
            sample_report.refused,
            [("intel", "baseline", 1), ("amd-16", "no verdict", 1)],
            id="refused",
        ),
    ],
)
def test_rows(report, rows) -> None:
    """The slowest pool is first, below its baseline; a refused one has a row."""
    _, pictured = drawn(report())
    assert [(row.name, row.verdict, row.workers) for row in pictured] == rows


def test_workers() -> None:
    """The dots' geometric mean is the pool's ratio; a title has the worker's facts."""
    _, (baseline, slower, _) = drawn(several(5))
    for row in (baseline, slower):
        assert row.ratio is not None
        assert math.exp(fmean(map(math.log, row.ratios))) == pytest.approx(row.ratio)
    machine, kind, zone, date, value = slower.dots[0].title.split(", ")
    line = next(line for line in several(5).workers if line.worker_id == machine)
    assert (line.side, line.instance_type, line.zone) == ("amd-16", kind, zone)
    assert len(date.split("-")) == 3
    assert value.endswith("×)")


def test_runs_of_one_machine() -> None:
    """They are one dot, which says how many runs it is of."""
    workers = [
        replace(each, worker_id="zone/one") for each in seed_workers.workers(3, pools=POOLS[:2])
    ]
    report = compare(Plan.of_pools(POOLS[:2], None), workers, Options())
    _, rows = drawn(report)
    assert [row.workers for row in rows] == [1, 1]
    assert all(row.dots[0].title.endswith(", mean of 3 runs") for row in rows)


def test_a_worker_that_a_rule_leaves_out() -> None:
    """It is not among the dots of its pool."""
    report = several(4)
    first = next(each for each in report.series if each.side == "amd-16")
    series = tuple(replace(each, is_used=each is not first) for each in report.series)
    _, rows = drawn(replace(report, series=series))
    assert {row.name: row.workers for row in rows} == {"intel": 4, "amd-16": 3, "amd-30": 4}


def test_results_say_what_is_used() -> None:
    """What no rule left out is used; what is compared with nothing is not."""
    assert {each.is_used for each in several(2).series} == {True}


def test_refused_workers_are_hollow() -> None:
    """The caption says so."""
    caption, rows = drawn(sample_report.refused())
    assert [row.is_compared for row in rows] == [True, False]
    assert rows[1].chip == "no verdict: copy-method"
    assert caption.endswith("Hollow dots are not compared.")


def test_a_single_pool() -> None:
    """It is drawn around its own mean."""
    report = compare(
        Plan.of_pools(POOLS[:1], None), seed_workers.workers(3, pools=POOLS[:1]), Options()
    )
    _, (row,) = drawn(report)
    assert (row.name, row.verdict, row.workers) == ("intel", "baseline", 3)


def test_nothing() -> None:
    """Without results there is no picture."""
    report = sample_report.empty()
    assert [*pool_picture(report, sides_of(report))] == []


def test_a_rehearsal() -> None:
    """All is noise: no interval is drawn."""
    _, rows = drawn(replace(several(3), is_only_noise=True))
    assert [(row.verdict, row.interval) for row in rows[1:]] == [("noise", None)] * 2


def test_several_workloads() -> None:
    """The caption names the measurement; where pools differ in it, each row does."""
    report = many_measurements.every_workload()
    caption, rows = drawn(report)
    assert ": cache-retrieve, place workspace" in caption
    assert {row.detail for row in rows} == {""}
    (first, *rest) = report.subjects
    kept = tuple(pair for pair in first.comparisons if pair.candidate == "amd-16")
    figures = {name: side for name, side in first.figures.items() if name != "amd-30"}
    _, rows = drawn(
        replace(report, subjects=(replace(first, comparisons=kept, figures=figures), *rest))
    )
    assert {row.name: row.detail.split(",")[0] for row in rows}["amd-16"] == "cache-retrieve"
    assert {row.name: row.detail.split(",")[0] for row in rows}["amd-30"] != "cache-retrieve"


@pytest.mark.parametrize(("workers", "points"), [(180, 0), (183, 1), (1000, 274)])
def test_many_workers(workers: int, points: int) -> None:
    """60 of a pool have titles, which the caption says where others have none."""
    caption, rows = drawn(sample_report.large(workers))
    assert max(len(row.points) for row in rows) == points
    assert ("only the 60 furthest from its mean have titles" in caption) is (points > 0)


def test_titles_of_many_pools() -> None:
    """All pools together have 240 of them, so that the page stays small."""
    _, rows = drawn(sample_report.many_pools(20))
    assert len(rows) == 20
    assert partial(sample_report.many_pools, 20)().subjects[0].figures.keys() == {
        row.name for row in rows
    }
