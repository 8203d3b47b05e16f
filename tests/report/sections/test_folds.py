# SPDX-License-Identifier: MPL-2.0
"""What is folded: measurements that are not decided, and places that do not differ."""

import many_measurements
import pytest
import sample_report
from msgspec.structs import replace
from written import folds, lines, section, tables

from io_benchmark.analysis.model.cause import Diagnosis, State
from io_benchmark.analysis.model.comparison import DIFFERENT, Interval
from io_benchmark.analysis.model.report import Report
from io_benchmark.report.blocks import Row, plain
from io_benchmark.report.sections.places import _is_notable


def few(count: int) -> Report:
    """So many measurements, of which nothing is decided."""
    report = many_measurements.everything()
    return replace(report, subjects=report.subjects[1 : 1 + count], diagnoses=(), places=())


def test_measurements() -> None:
    """Four measurements are in full; of five, and of many, those that are decided or refused."""
    assert folds(few(4))[0] == "Samples, storage, what would settle it, assumptions, noise"
    assert folds(few(5))[0] == "In 5 measurements no pool is slower or faster"
    report = many_measurements.every_workload()
    # Where no pool is refused, each but the baseline has a comparison.
    complete = [part for part in report.subjects if len(part.comparisons) == 2]
    undecided = [
        part
        for part in complete
        if not any(comparison.verdict in DIFFERENT for comparison in part.comparisons)
    ]
    folded = f"In {len(undecided)} measurements no pool is slower or faster"
    assert folded in folds(report)


def test_places() -> None:
    """Each destination of cache-retrieve has tables, of other workloads what differs."""
    report = many_measurements.everything()
    (summary,) = [fold for fold in folds(report) if "places" in fold]
    titles = [plain(table.title) for table in tables(section(report, "Places"))]
    means = [title for title in titles if not title.startswith("Ratio")]
    assert len(means) == len(report.places)
    assert means[:3] == [
        f"cache-retrieve, destination {name} (ms, lower is better)"
        for name in ("overwrite", "unlink", "fresh")
    ]
    folded = int(summary.split(" in ")[1].split()[0])
    assert all("random-io" in title for title in means[3 : len(means) - folded])


@pytest.mark.parametrize(
    ("bounds", "is_notable"), [((1.01, 1.04), False), ((1.01, 1.06), True), ((0.9, 1.1), False)]
)
def test_a_difference_within_the_margin(bounds: tuple[float, float], is_notable: bool) -> None:
    """It is proven and does not matter, so it is folded."""
    measured = many_measurements.everything().places[-1]
    alike = {"interval": Interval(*bounds, 0.95), "missing": None, "not_compared": None}
    rows = tuple(
        replace(row, comparisons=(), sides=tuple(replace(side, **alike) for side in row.sides))
        for row in measured.rows
    )
    assert _is_notable(replace(measured, rows=rows), 0.05) is is_notable


def first_words(row: Row) -> str:
    return plain(row.label).split(":")[0]


def test_causes() -> None:
    """Causes that hold or cannot be separated are open; a fold counts the others."""
    states = (
        ("ruled", State.RULED_OUT),
        ("hidden", State.NOT_OBSERVABLE),
        ("joined", State.NOT_SEPARABLE),
        ("held", State.SUPPORTED),
        ("out", State.RULED_OUT),
    )
    supported = sample_report.cause()
    causes = tuple(replace(supported, name=name, state=state) for name, state in states)
    report = sample_report.with_diagnosis(causes=causes)
    found = section(report, "Why amd-16 is slower than intel")
    opened, folded = tables(found)
    assert [
        [plain(row.label).split(":")[0] for row in table.rows] for table in (opened, folded)
    ] == [
        ["SUPPORTED held", "NOT SEPARABLE joined"],
        ["RULED OUT ruled", "RULED OUT out", "NOT OBSERVABLE hidden"],
    ]
    assert "2 causes ruled out, 1 not observable" in lines(found)


@pytest.mark.parametrize(
    ("candidates", "expected"),
    [
        (
            3,
            [
                f"Possible causes, pool-{n:02d} compared with pool-01: 1 cause ruled out"
                for n in (4, 8, 12)
            ],
        ),
        (4, ["Possible causes of 4 differences that are not proven"]),
    ],
)
def test_causes_of_differences_that_are_not_proven(candidates: int, expected: list[str]) -> None:
    """Each is one fold; more than three share a fold."""
    report = sample_report.many_pools(17)
    cause = sample_report.cause(state=State.RULED_OUT)
    undecided = [f"pool-{number:02d}" for number in (4, 8, 12, 16)][:candidates]
    diagnoses = tuple(Diagnosis(name, (cause,), ()) for name in undecided)
    report = replace(report, diagnoses=diagnoses)
    found = [fold for fold in folds(report) if fold.startswith("Possible")]
    assert found == expected
    written = sample_report.on_terminal(report, 100)
    assert [f"{summary}." in written for summary in expected] == [True] * len(expected)
    assert "RULED OUT" not in written
