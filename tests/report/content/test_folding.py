# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Reports of many measurements: what is decided is told in full, the rest in a line."""

from collections.abc import Callable

import every_workload
import pytest
import sample_report
import several_places
from msgspec.structs import replace
from page import Page, assert_harmless

from io_benchmark.analysis.model import Comparison, Interval, Subject, Verdict
from io_benchmark.analysis.report_model import Report, SubjectReport
from io_benchmark.number_text import NOTHING
from io_benchmark.report.content import document
from io_benchmark.report.content.folding import FOLDED_FROM, Folded
from io_benchmark.report.content.footnotes import short_marks
from io_benchmark.report.formats.html import render_report
from io_benchmark.report.formats.output import rendered

ONE_SCREEN = 40


def folded(report: Report) -> Folded:
    return document.build(report).folded


def judged(choose: Callable[[Subject, str], tuple[Verdict, float]]) -> Report:
    """Everything in three places, with these verdicts and ratios, and no causes."""
    report = several_places.everything()

    def one(found: Comparison) -> Comparison:
        verdict, ratio = choose(found.subject, found.candidate)
        return replace(
            found, verdict=verdict, ratio=ratio, interval=Interval(0.9 * ratio, 1.1 * ratio, 0.95)
        )

    parts = tuple(
        replace(part, comparisons=tuple(map(one, part.comparisons))) for part in report.subjects
    )
    return replace(report, subjects=parts, diagnoses=())


def test_the_answer_fits_a_screen() -> None:
    """88 measurements of three pools: 40 lines of Markdown, then a third of the lines in all."""
    report = several_places.everything()
    answer, _, details = rendered(report, "markdown").partition("<details>")
    assert len(answer.splitlines()) <= ONE_SCREEN
    in_full = rendered(report, "markdown", details=True)
    assert 2 * len(details.splitlines()) < len(in_full.splitlines())


def test_a_line_a_workload_for_what_is_not_decided() -> None:
    """Places and destinations are counted, pools that are alike share the words."""
    assert [line.text for line in folded(several_places.everything()).lines] == [
        "cache-retrieve: amd-30 inconclusive in 3 places × 3 destinations, 1.01× to 1.04×.",
        "random-io: amd-30 inconclusive in 3 places × 4 measurements, 1.00×.",
        "spawn: amd-16, amd-30 inconclusive on posix-spawn, 1.00×.",
        "sync-write: amd-16, amd-30 inconclusive in 3 places × 4 measurements, 1.00×.",
        "metadata: amd-16, amd-30 inconclusive in 3 places × 11 measurements, 1.00×.",
        "exec: amd-16, amd-30 inconclusive in 3 places × 2 measurements, 1.00×.",
        "upload: amd-16, amd-30 inconclusive on 3 measurements, 1.00×.",
        "unpack: amd-16, amd-30 inconclusive in 3 places × 4 measurements, 1.00×.",
    ]


def test_equivalent_and_inconclusive_stay_apart() -> None:
    """Each verdict has its count and its range."""

    def choose(subject: Subject, candidate: str) -> tuple[Verdict, float]:
        if subject.workload != "cache-retrieve" or candidate == "amd-30":
            return Verdict.EQUIVALENT, 1.01
        known = subject.place == "memory" and subject.destination == "fresh"
        return (Verdict.EQUIVALENT, 1.0) if known else (Verdict.INCONCLUSIVE, 1.1)

    line, *_ = folded(judged(choose)).lines
    assert line.text == (
        "cache-retrieve: amd-16 inconclusive on 8 measurements, 1.10×; amd-16 equivalent on fresh in "
        "memory, 1.00× (0.90 to 1.10); amd-30 equivalent in 3 places × 3 destinations, 1.01×."
    )


def test_what_differs_in_several_places_is_one_bullet() -> None:
    """It names each of them with its ratio."""

    def choose(subject: Subject, candidate: str) -> tuple[Verdict, float]:
        if (subject.workload, candidate) != ("cache-retrieve", "amd-16"):
            return Verdict.INCONCLUSIVE, 1.0
        slower = 1.5 + 0.1 * several_places.DESTINATIONS.index(subject.destination)
        return Verdict.SLOWER, slower + (0.05 if subject.place == "memory" else 0)

    (group,) = folded(judged(choose)).groups
    assert group.title == "cache-retrieve in 3 places × 3 destinations (ms, lower is better)"
    (answer,) = group.answers
    assert answer.lead == "amd-16 is 1.75× slower than intel on fresh in memory"
    assert answer.rest == (
        "(95 % interval 1.57 to 1.93). Also slower: fresh in workspace 1.70×; fresh in container "
        "1.70×; unlink in memory 1.65×; unlink in workspace 1.60×; unlink in container 1.60×; "
        "overwrite in memory 1.55×; overwrite in workspace 1.50×; overwrite in container 1.50×."
    )


def test_many_differences_are_named_and_counted() -> None:
    """Twelve beside the leading one have names; the others' range is given, as slower."""

    def choose(subject: Subject, candidate: str) -> tuple[Verdict, float]:
        slower = subject.workload == "metadata" and candidate == "amd-16"
        return (Verdict.SLOWER, 2.0) if slower else (Verdict.INCONCLUSIVE, 1.0)

    (group,) = folded(judged(choose)).groups
    (answer,) = group.answers
    assert answer.rest.count("2.00×;") == 12
    assert answer.rest.endswith("; 20 more measurements, 2.00×.")


def test_a_difference_is_never_folded() -> None:
    """Whatever is slower or faster has its own row in a table, however many there are of it."""
    report = judged(lambda _subject, _candidate: (Verdict.FASTER, 0.5))
    found = folded(report)
    assert (found.lines, found.table, found.undecided) == ((), None, frozenset())
    assert found.shown == document.build(report).sections


def test_a_refusal_is_never_folded() -> None:
    """What has no verdict keeps its sentence, its refusal and its table."""
    report = every_workload.report()
    built = document.build(report)
    (group,) = [one for one in built.folded.groups if one.title.startswith("exec")]
    assert [one.verdict for one in group.answers] == ["slower", "no verdict"]
    (table,) = [one.measures for one in built.folded.shown if one.title.startswith("exec")]
    assert table is not None
    assert [measure.label for measure in table.measures] == [
        "hardlinked, 4 at once",
        "copies, 4 at once",
    ]
    for form in ("text", "markdown"):
        assert "refused by parameters" in rendered(report, form).lower()


def test_the_table_of_what_is_not_decided() -> None:
    """A row a measurement, over its pools, with the widest interval."""
    table = folded(several_places.everything()).table
    assert table is not None
    assert table.heads == ("Ratio", "95 % interval", "Verdict")
    rows = {(one.label, row.pool): row.cells for one in table.measures for row in one.rows}
    assert len(rows) == 88 - 3
    assert rows["cache-retrieve", "overwrite in container"] == (
        "1.01× to 1.03×",
        "0.85 to 1.22",
        "inconclusive",
    )
    assert ("random-io, place workspace", "write-depth-32") not in rows
    assert rows["random-io, place container", "write-depth-32"][2] == "inconclusive"


def test_what_only_one_pool_measured_has_a_row() -> None:
    """It was not compared, and says so."""
    table = folded(several_places.five()).table
    assert table is not None
    assert table.measures[0].rows[-1].cells == (NOTHING, NOTHING, "not compared")


def few(count: int) -> Report:
    """So many measurements, of which nothing is decided."""
    report = several_places.everything()
    return replace(report, subjects=report.subjects[1 : 1 + count], diagnoses=(), places=())


def test_from_how_many_on() -> None:
    """Four measurements are told in full; of five those that are decided."""
    less, more = (few(FOLDED_FROM - 1), few(FOLDED_FROM))
    assert folded(less) == document.build(less, details=True).folded
    assert "Not decided" in rendered(more, "markdown")
    assert "Not decided" not in rendered(more, "markdown", details=True)


def test_notes_and_remarks_stay() -> None:
    """Warnings and what could not be read are the same, folded or not."""
    report = every_workload.report()
    short, long = document.build(report), document.build(report, details=True)
    assert (short.notes.footnotes, short.lists, short.notes.refusals) == (
        long.notes.footnotes,
        long.lists,
        long.notes.refusals,
    )
    marks = {mark for line in short.folded.lines for mark in line.marks}
    assert marks <= {note.number for note in short.notes.footnotes}
    assert marks


def test_the_page_has_everything() -> None:
    """Sections of which nothing is decided are folded away, not left out."""
    report = several_places.everything()
    text = render_report(report)
    assert_harmless(Page(text))
    built = document.build(report)
    assert text.count("<summary>No pool is slower or faster here</summary>") == len(
        built.folded.undecided
    )
    assert len(built.folded.undecided) == len(built.sections) - len(built.folded.shown)
    for section in built.sections:
        assert f"<h2>{section.title}" in text


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        pytest.param((), "", id="none"),
        pytest.param((1, 2), " [1] [2]", id="two"),
        pytest.param((1, 2, 3), " [1] to [3]", id="three-in-a-row"),
        pytest.param((1, 3, 4, 5, 6, 9), " [1] [3] to [6] [9]", id="in-between"),
        pytest.param(
            (1, 3, 4, 5, 7, 9, 11, 12), " [1] [3] to [5] [7] and 3 more notes", id="too-many"
        ),
    ],
)
def test_many_notes_in_a_row(numbers: tuple[int, ...], text: str) -> None:
    """Of three or more in a row the ends are shown; of many such a few, the others are counted."""
    assert short_marks(numbers) == text


@pytest.mark.parametrize("width", [40, 50, 80, 120])
def test_width(width: int) -> None:
    """No line is wider than the terminal; where a table does not fit it becomes sentences."""
    shown = sample_report.on_terminal(several_places.everything(), width)
    assert [line for line in shown.splitlines() if len(line) > width] == []


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_hostile_names(form: str) -> None:
    """Workloads, places, variants and pools of folded measurements steer nothing."""
    script, breaks, escapes, entities, long = sample_report.HOSTILE_NAMES
    report = every_workload.report()

    def part(at: int, old: SubjectReport) -> SubjectReport:
        subject = Subject("metadata", f"{breaks}{at % 2}", variant=f"{script}{at}", threads=at)
        names = {"intel": escapes, "amd-16": long, "amd-30": entities}
        return replace(
            old,
            subject=subject,
            figures={names[side]: one for side, one in old.figures.items()},
            comparisons=tuple(
                replace(
                    one,
                    subject=subject,
                    baseline=escapes,
                    candidate=names[one.candidate],
                    verdict=Verdict.INCONCLUSIVE if at else Verdict.SLOWER,
                )
                for one in old.comparisons
            ),
        )

    parts = tuple(part(at, one) for at, one in enumerate(report.subjects[5:11]))
    hostile = replace(
        report, baseline=escapes, subjects=parts, diagnoses=(), problems=(), series=()
    )
    text = rendered(hostile, form)
    assert "\x1b" not in text
    if form == "html":
        assert_harmless(Page(text))
    if form == "markdown":
        assert "](https" not in "".join(text.split("`")[::2])  # outside of code
