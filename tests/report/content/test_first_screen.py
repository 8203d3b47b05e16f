# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What a reader needs for a decision: the sentences of the first screen, and what it leaves out."""

import divided_reports
import every_workload
import sample_report
from msgspec.structs import replace

from io_benchmark.analysis.model import Comparison
from io_benchmark.analysis.report_model import Report
from io_benchmark.analysis.statements import statement
from io_benchmark.report.content import document
from io_benchmark.report.content.first_screen import FirstScreen


def screen(report: Report) -> FirstScreen:
    return document.build(report).first_screen


def lines(report: Report) -> list[str]:
    return [f"{line.mark} {line.lead} {line.text}".strip() for line in screen(report).lines]


def test_a_pool_and_its_cause() -> None:
    """The verdict, where the difference lies, the cause with its standing, and what to try."""
    assert lines(divided_reports.tried_one_disk()) == [
        "- amd-16 is 2.05× slower than intel (95 % interval 1.92 to 2.18).",
        "Where: +73.4 ms per retrieve: copies blocked (I/O, writeback, memory) +73.4 ms (100 %).",
        (
            "Cause (confirmed by a trial): 1 disk against 2 disks, striped explains 97 %; "
            "not separable from that: scheduler."
        ),
        "Try: use a machine type with more local SSDs, striped (2.00× faster, predicted).",
        "!  intel: 1 of 4 runs was made to confirm a cause; only the trials count",
    ]


def test_which_look_it_is() -> None:
    """It adjusts the intervals; a verdict of an earlier look says so in its own sentence."""
    report = divided_reports.tried_one_disk()
    (subject,) = report.subjects
    (comparison,) = subject.comparisons
    looked = replace(comparison, look=statement("second of at most 3 looks"))
    stands = replace(looked, of_all=comparison)

    def found(changed: Comparison) -> list[str]:
        return lines(replace(report, subjects=(replace(subject, comparisons=(changed,)),)))

    sentence = "!  second of at most 3 looks; the intervals are adjusted"
    assert sentence in found(looked)
    assert sentence not in found(stands)
    assert "decided at an earlier look" in found(stands)[0]


def test_a_worker_that_does_not_belong_to_its_pool() -> None:
    """It has a sentence and its cause; what a decision costs is a line of its own."""
    assert lines(divided_reports.one_bad_worker()) == [
        "- amd-16 compared with intel is inconclusive at 1.17× (95 % interval 0.81 to 1.70).",
        (
            "- worker us-central1-f/141834572747825 of amd-16 (task wRy5QqWwjMF5-yzYYTLgz5.0) "
            "alone is 1.95× its pool (4 other workers)."
        ),
        "Cause (supported): 1 disk against 2 disks, striped explains 99 %.",
        "Try: replace this worker, or set it up as the rest of its pool (1.95× faster, measured).",
        (
            "-  To settle amd-16: 47 more workers per pool, 94 in total, about 4.2 worker hours "
            "(by 10 runs here, set-up included)."
        ),
    ]


def test_many_measurements() -> None:
    """A pool has one sentence: its first workload that differs, other workloads by their ratios."""
    report = replace(every_workload.report(), diagnoses=())
    found = lines(report)
    assert found[0] == (
        "- amd-16 is 1.92× slower than intel on cache-retrieve, overwrite in workspace "
        "(95 % interval 1.61 to 2.28). Also slower: random-io 2.00× to 2.01×, "
        "sync-write 4.00× to 5.00×, metadata 1.80× to 10.01×, exec 1.50×, upload 150×. "
        "Inconclusive: 20 measurements, 1.00× to 1.06×."
    )
    assert found[2] == (
        "- amd-30 compared with intel is inconclusive on 28 measurements, 1.00× to 1.01×. "
        "No verdict: 2 measurements."
    )
    assert found[4].startswith("! REFUSED by parameters (intel, amd-30; exec (2 measurements)): ")


def test_many_pools() -> None:
    """Two pools that differ most have a sentence each; the others share one per verdict."""
    assert [line for line in lines(sample_report.many_pools(10)) if line.startswith("- ")] == [
        "- pool-03 is faster than pool-01 at 0.70× its time (95 % interval 0.63 to 0.77).",
        "- pool-07 is faster than pool-01 at 0.71× its time (95 % interval 0.64 to 0.78).",
        "- Slower: pool-02, pool-06, pool-10, 1.30× to 1.32×.",
        "- Faster: pool-11, 0.72×.",
        "- Equivalent: pool-04, pool-08, pool-12, 1.00× to 1.02×.",
        "- Inconclusive: pool-05, pool-09, 1.04× to 1.05×.",
    ]


def test_what_was_not_read() -> None:
    """Without results the reasons remain; more than two of a kind are counted."""
    report = replace(
        sample_report.empty(), unreadable=("one: failed", "two: failed", "three: failed")
    )
    assert lines(report) == [
        "- No verdict: none of the results could be read.",
        "! Not read: one: failed",
        "!  and 2 more results not read",
    ]


def test_what_is_left_out_first() -> None:
    """Rows of figures, then warnings, the table, where the difference lies, and what to try."""
    whole = screen(sample_report.seed_case(10))
    kept: list[tuple[list[str], list[str]]] = []

    def write(part: FirstScreen) -> str:
        rows = [row.label for row in part.figures.rows] if part.figures else []
        kept.append((rows, [line.lead for line in part.lines]))
        return "\n" * 100

    whole.that_fits(write, 23)
    answers = ["amd-16 is 1.92× slower than intel", "Cause (supported):"]
    decided = "amd-30 compared with intel is inconclusive"
    assert kept[0][0] == ["Avg", "P50", "P95", "P99", "Total"]
    assert kept[5][0] == ["Avg"]
    assert "few-workers:" in kept[5][1]
    assert "few-workers:" not in kept[6][1]
    assert kept[-1] == ([], [*answers, decided])
