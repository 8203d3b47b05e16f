# SPDX-License-Identifier: MPL-2.0
"""Where the time went: the parts of a difference, in a sentence and in a table."""

import pytest
import sample_report
from divided_reports import MS, Times, with_parts
from written import folds, lines, rows, section, tables

from io_benchmark.analysis.model.comparison import DIFFERENT
from io_benchmark.analysis.model.figures import Division, PartDifference
from io_benchmark.analysis.model.report import Report
from io_benchmark.analysis.model.time_parts import Kind, Part, Phase
from io_benchmark.report.blocks import Items
from io_benchmark.report.sections.parts import _Difference, where

LOOKUP_USER = Part(Phase.LOOKUP, Kind.USER)
LOOKUP_KERNEL = Part(Phase.LOOKUP, Kind.KERNEL)
COPY_KERNEL, COPY_BLOCKED, COPY_ELSEWHERE, UNEXPLAINED = (
    Part(Phase.COPY, kind) for kind in (Kind.KERNEL, Kind.BLOCKED, Kind.ELSEWHERE, Kind.UNEXPLAINED)
)
BLOCKED = "copies blocked (I/O, memory or something else)"
SEED_CASE = sample_report.seed_case()


def sentences(report: Report) -> list[str]:
    lists = [block for block in section(report, "Where") if isinstance(block, Items)]
    return [line.removeprefix("- ") for line in lines(lists)]


def of_parts(parts: dict[Part, Times]) -> tuple[str, dict[str, tuple[str, ...]]]:
    """The sentence, without its lead, and the table about a difference with these parts."""
    report = with_parts(SEED_CASE, parts)
    (table,) = tables(section(report, "Where"))
    (sentence,) = sentences(report)
    return sentence.partition(": ")[2], rows(table)


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        pytest.param(
            {
                LOOKUP_USER: (1, 1, 0, 0),
                COPY_KERNEL: (10, 12, 1, 3),
                UNEXPLAINED: (65, 133, 60, 76),
            },
            "copies, not recorded +68.0 ms (97 %), copies on a CPU in the kernel +2.0 ms (3 %); "
            "the results do not record what the copies waited for.",
            id="without waiting",
        ),
        pytest.param(
            {COPY_KERNEL: (30, 40, -5, 25), COPY_BLOCKED: (40, 60, -1, 41)},
            "no part alone is certain.",
            id="no part is certain",
        ),
        pytest.param(
            {COPY_KERNEL: (30, 40, 0, 20), COPY_BLOCKED: (40, 60, 15, 25)},
            f"{BLOCKED} +20.0 ms (67 %), the rest +10.0 ms (33 %), of which no part alone is "
            "certain.",
            id="the rest",
        ),
        pytest.param(
            {LOOKUP_USER: (15, 5, -11, -9), COPY_BLOCKED: (60, 140, 70, 90)},
            f"{BLOCKED} +80.0 ms (114 %), lookups on a CPU in user mode −10.0 ms (−14 %).",
            id="both directions",
        ),
        pytest.param(
            {COPY_BLOCKED: (60, 140, 70, 90), COPY_ELSEWHERE: (5, 5, -1, 1)},
            "copies blocked (I/O, writeback, memory) +80.0 ms (100 %).",
            id="blocked time is divided",
        ),
        pytest.param(
            {LOOKUP_USER: (30, 10, -21, -19), COPY_BLOCKED: (40, 61, 20, 22)},
            f"{BLOCKED} +21.00 ms, lookups on a CPU in user mode −20.00 ms.",
            id="parts that cancel each other have no share",
        ),
    ],
)
def test_parts(parts: dict[Part, Times], sentence: str) -> None:
    """What is certain is named, the largest first, and the shares add up to 100 %."""
    assert of_parts(parts)[0] == sentence


@pytest.mark.parametrize(
    ("user", "expected"),
    [
        pytest.param((1, 2.37, 1, 2), ["copies blocked", "other parts", "all parts"], id="1.9 %"),
        pytest.param(
            (1, 2.50, 1, 2),
            ["on a CPU in user mode", "on a CPU in the kernel", "copies blocked", "all parts"],
            id="2.1 %, so one small part is left, which keeps its name",
        ),
    ],
)
def test_small_parts(user: Times, expected: list[str]) -> None:
    """Parts below 2 % of the difference and of both times share a row, if there are two."""
    parts = {LOOKUP_USER: user, LOOKUP_KERNEL: (1, 0.9, -0.2, 0.0), COPY_BLOCKED: (80, 150, 60, 80)}
    assert [label for label, cells in of_parts(parts)[1].items() if cells] == expected


def test_many_pools() -> None:
    """Each candidate has a sentence; three have a table, and the others are folded."""
    parts = {LOOKUP_USER: (1, 1, 0, 0), COPY_BLOCKED: (75, 145, 60, 80)}
    report = with_parts(sample_report.many_pools(), parts)
    different = [
        each.candidate for each in report.subjects[0].comparisons if each.verdict in DIFFERENT
    ]
    assert [line.split(",")[0] for line in sentences(report)] == different
    assert len(tables(section(report, "Where"))) == len(different)
    assert folds(report)[0] == f"The parts of {len(different) - 3} further differences"


def of_times(baseline_ms: float, candidate_ms: float) -> _Difference:
    times_ns = (baseline_ms * MS, candidate_ms * MS)
    part = PartDifference(*COPY_BLOCKED, *times_ns, low_ns=None, high_ns=None)
    return _Difference.of(Division("before", "after", (part,)))


@pytest.mark.parametrize(
    ("times_ms", "expected"),
    [
        ((75.8, 145.9), ("75.8", "+70.1", "ms")),
        ((70, 270), ("70", "+200", "ms")),
        ((75, 75.001), ("75.000", "+0.001", "ms")),
        ((75, 75), ("75.00", "0.00", "ms")),
        ((0, 0), ("0.00", "0.00", "ns")),
    ],
)
def test_decimals(times_ms: tuple[float, float], expected: tuple[str, str, str]) -> None:
    """Times and their difference share a unit and decimals, so that they add up as written."""
    difference = of_times(*times_ms)
    before_ns, after_ns = (MS * time_ms for time_ms in times_ms)
    written = (difference.plain(before_ns), difference.signed(after_ns - before_ns))
    assert (*written, difference.unit) == expected


def test_a_sentence_adds_up_as_it_is_written() -> None:
    """97.2 ms are 90.1 and 7.1: the rest is of the written numbers, and not 7.2."""
    parts = {COPY_BLOCKED: (0.0, 90.06, 89.0, 91.0), COPY_KERNEL: (0.0, 7.19, -9.0, 20.0)}
    subject = with_parts(SEED_CASE, parts).subjects[0]
    whole, named = where(subject.divisions[0], subject.subject)
    assert whole == "+97.2 ms per retrieve"
    assert (
        named
        == f"{BLOCKED} +90.1 ms (93 %), the rest +7.1 ms (7 %), of which no part alone is certain"
    )
