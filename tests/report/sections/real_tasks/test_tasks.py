# SPDX-License-Identifier: MPL-2.0
"""Tasks of many pools and of many labels, and the parts of a difference."""

import pytest
import sample_tasks
from msgspec.structs import replace
from written import folds, headings, lines, screen, section, tables

from io_benchmark.analysis.model.statements import statement
from io_benchmark.analysis.tasks.task_model import TaskReport, TaskTimes
from io_benchmark.report.blocks import Picture
from io_benchmark.report.formats import document_of


@pytest.mark.parametrize(
    ("pools", "title"), [(5, "pool-1, pool-2, pool-3, pool-4 against"), (6, "5 pools against")]
)
def test_the_title(pools: int, title: str) -> None:
    """Up to four pools are named, more are counted."""
    report = sample_tasks.compared(
        [sample_tasks.completed(f"pool-{at}", 5, f"g/{at}") for at in range(pools)], "pool-0"
    )
    assert document_of(report).title.startswith(f"How long the same tasks take: {title} pool-0")


@pytest.mark.parametrize(
    ("count", "but"),
    [
        (0, []),
        (1, ["But: caveat 0."]),
        (2, ["But: caveat 0; caveat 1."]),
        (3, ["But: caveat 0; caveat 1; and 1 more caveat below."]),
    ],
)
def test_caveats(count: int, but: list[str]) -> None:
    """The gravest follow the sentence that they limit; a screen has the others as warnings."""
    report = sample_tasks.seed()
    (pair,) = report.comparisons
    warnings = tuple(statement(f"caveat {number}") for number in range(count))
    limited = replace(report, comparisons=(replace(pair, warnings=warnings),))
    written = screen(limited)
    assert [line for line in written if line.startswith("But")] == but
    assert [line for line in written if line.startswith("! ")] == ["! caveat 2"][: count // 3]
    assert lines(section(limited, "Notes")) == [f"- caveat {number}" for number in range(count)]


def test_what_limits_all_pools() -> None:
    """The look of all pairs and sources that could not be read are said once, first."""
    report = replace(sample_tasks.many(), unreadable=("a",))
    first, *others = screen(report)
    limits = "second of at most 4 looks, for which intervals are wider"
    assert first == f"- All pools: {limits}; 1 source of runs could not be read."
    assert not any("looks" in line for line in others)
    # Pairs at different looks say so themselves.
    pair, *rest = report.comparisons
    mixed = replace(report, comparisons=(replace(pair, look=None), *rest), unreadable=())
    assert [limits in line for line in screen(mixed) if "as long" in line] == [False, True, True]


@pytest.mark.parametrize(
    ("count", "ending"), [(40, "by label"), (41, "by label (the 40 with most time, of 41)")]
)
def test_many_labels(count: int, ending: str) -> None:
    """Those with most time are listed."""
    report = sample_tasks.seed()
    (pair,) = report.comparisons
    many = replace(report, comparisons=(replace(pair, labels=pair.labels[:1] * count),))
    title = f"amd-16 against intel, {ending}"
    assert title in headings(many)
    assert len(tables(section(many, "amd-16 against intel"))[0].rows) == 40


@pytest.mark.parametrize(
    ("difference_s", "work_s", "set_up_s", "whole", "where"),
    [
        # Rounded by themselves they would be -4.7 and -0.06 of -5.
        (
            -4.97,
            -4.7,
            -0.06,
            "−5 s per task",
            "its own work −4.7 s, set-up −0.1 s, the rest −0.2 s",
        ),
        (4.97, 4.8, 0.17, "+5 s per task", "its own work +4.8 s, set-up +0.2 s"),
        (10.4, 9.45, 0.95, "+10 s per task", "its own work +9 s, set-up +1 s"),
        (99.6, 99.0, 0.6, "+100 s per task", "its own work +99 s, set-up +1 s"),
    ],
)
def test_parts_add_up(
    difference_s: float, work_s: float, set_up_s: float, whole: str, where: str
) -> None:
    """The parts of a difference have its decimals, and what they leave over is named."""
    (pair,) = sample_tasks.seed().comparisons
    before = TaskTimes(100.0, None, 10.0, 90.0)
    after = TaskTimes(100.0 + difference_s, None, 10.0 + set_up_s, 90.0 + work_s)
    times = {pair.baseline: before, pair.candidate: after}
    changed = replace(pair, times=times, difference_s=difference_s)
    report = replace(sample_tasks.seed(), comparisons=(changed,))
    written = "\n".join(lines(document_of(report).whole))
    assert f", {whole} (" in written
    assert f"Where: {where}.\n" in written


def many_pools(count: int) -> TaskReport:
    """Return pools of which each takes a little longer than the one before."""
    runs = [
        sample_tasks.completed(f"pool-{at:02}", 5 + at, f"g/{at}-{worker}")
        for at in range(count)
        for worker in range(3)
    ]
    return sample_tasks.compared(runs, "pool-00")


@pytest.mark.parametrize(("count", "rows", "further"), [(5, 5, None), (6, 5, "and 1 more pool")])
def test_the_answer_has_four_pools(count: int, rows: int, further: str | None) -> None:
    """Of more, the evidence has all, with a picture of all."""
    report = many_pools(count)
    document = document_of(report)
    (picture,) = [block for block in document.answer if isinstance(block, Picture)]
    assert len(picture.arguments[0]) == rows
    ending = lines(document.answer)[-1]
    assert (ending == further) is (further is not None)
    all_pools = section(report, "All pools")
    if further is None:
        assert all_pools == []
    else:
        (whole,) = [block for block in all_pools if isinstance(block, Picture)]
        assert len(whole.arguments[0]) == count


def test_dots_are_labels() -> None:
    """Each has its name, its ratio and its share of the time; a single label has none."""
    (picture,) = [
        block for block in document_of(sample_tasks.many()).answer if isinstance(block, Picture)
    ]
    usual, _, half, _ = picture.arguments[0]
    assert (usual.verdict, usual.dots) == ("baseline", ())
    assert [dot.title for dot in half.dots] == [
        "link: 1.60×, 89 % of the time",
        "test: 1.00×, 11 % of the time",
    ]
    (single,) = [block for block in document_of(many_pools(2)).answer if isinstance(block, Picture)]
    assert not any(row.dots for row in single.arguments[0])


@pytest.mark.parametrize(("count", "folded"), [(12, []), (13, ["13 labels"])])
def test_many_labels_are_folded(count: int, folded: list[str]) -> None:
    """A table of twelve labels is open, a longer one is folded."""
    report = sample_tasks.seed()
    (pair,) = report.comparisons
    many = replace(report, comparisons=(replace(pair, labels=pair.labels[:1] * count),))
    assert folds(many) == folded
