# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What a reader needs for a decision: the sentences of the first screen, and what it leaves out."""

import divided_reports
import every_workload
import pytest
import sample_report
import seed_workers
from msgspec.structs import replace
from sample_report import text

from io_benchmark.analysis.compare import Options, compare
from io_benchmark.analysis.leftover_model import Leftover
from io_benchmark.analysis.model import Comparison, Problem, Severity
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.report_model import Report
from io_benchmark.analysis.statements import statement
from io_benchmark.report.content import document
from io_benchmark.report.content.first_screen import FirstScreen

SIDES = ("amd before", "amd after")


def screen(report: Report) -> FirstScreen:
    return document.build(report).first_screen


def lines(report: Report) -> list[str]:
    return [f"{line.mark} {line.lead} {line.text}".strip() for line in screen(report).lines]


def test_a_pool_and_its_cause() -> None:
    """The verdict, where the difference lies, the cause with its standing, and what to try."""
    assert lines(divided_reports.tried_one_disk()) == [
        "- amd-16 is 2.05× slower than intel (95 % interval 1.92 to 2.18).",
        "Where (+73.4 ms per retrieve): copies blocked (I/O, writeback, memory) +73.4 ms (100 %).",
        (
            "Cause (confirmed by a trial): 1 disk against 2 disks, striped, which explains 97 %; "
            "not separable from that: scheduler."
        ),
        "Try: use a machine type with more local SSDs, striped (2.00× faster, predicted).",
        "!  intel: 1 of 4 runs was made to confirm a cause; only the trials count",
    ]


def test_a_pool_that_is_faster() -> None:
    """What to try is for the baseline, and says so; a pool that is faster than before needs nothing."""
    pools = ("amd-16", "intel")
    report = compare(Plan.of_pools(pools, "amd-16"), seed_workers.workers(pools=pools), Options())
    (found,) = [line for line in lines(report) if line.startswith("Try: ")]
    assert found.startswith("Try: on amd-16, use a machine type with more local SSDs, striped")
    of_pool = {
        side: seed_workers.workers(pools=(pool,)) for pool, side in zip(pools, SIDES, strict=True)
    }
    sides = [replace(each, side=side) for side, found in of_pool.items() for each in found]
    again = lines(compare(Plan.before_and_after(["amd"]), sides, Options()))
    assert again[0].startswith("- amd after is faster than amd before")
    assert not any(line.startswith("Try: ") for line in again)


def test_which_look_it_is() -> None:
    """It adjusts the intervals; a verdict of an earlier look says so in its own sentence."""
    report = divided_reports.tried_one_disk()
    (subject,) = report.subjects
    (comparison,) = subject.comparisons
    looked = replace(comparison, look=statement("second of at most 3 looks"))
    stands = replace(looked, of_all=comparison)

    def found(changed: Comparison) -> list[str]:
        return lines(replace(report, subjects=(replace(subject, comparisons=(changed,)),)))

    sentence = "!  second of at most 3 looks; the intervals are wider for it"
    assert sentence in found(looked)
    assert sentence not in found(stands)
    assert "decided at an earlier look" in found(stands)[0]


def test_a_worker_that_does_not_belong_to_its_pool() -> None:
    """It has a sentence and its cause; what a decision costs is a line of its own."""
    assert lines(divided_reports.one_bad_worker()) == [
        "- amd-16 compared with intel is inconclusive at 1.17× (95 % interval 0.81 to 1.70).",
        (
            "- worker us-central1-f/141834572747825 of amd-16 (task wRy5QqWwjMF5-yzYYTLgz5.0) "
            "alone takes 1.95× the time of its pool (4 other workers)."
        ),
        "Cause (supported): 1 disk against 2 disks, striped, which explains 99 %.",
        "Try: replace this worker, or set it up as the rest of its pool (1.95× faster, measured).",
        (
            "-  To settle amd-16: 47 more workers per pool, 94 in total, about 4.2 worker hours "
            "(estimated from 10 runs, set-up included)."
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
        "! Not read: two: failed",
        "! Not read: three: failed",
    ]
    alone = replace(sample_report.seed_case(10), unreadable=report.unreadable)
    assert [line for line in lines(alone) if "read" in line] == [
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


@pytest.mark.parametrize(
    ("share", "ending"),
    [
        pytest.param(0.21, "; not explained: 15.4 ms per retrieve (21 %).", id="a fifth"),
        pytest.param(0.19, "scheduler.", id="less"),
    ],
)
def test_what_the_causes_leave_over(share: float, ending: str) -> None:
    """The cause's line says it where it is a fifth of the difference or more."""
    report = divided_reports.tried_one_disk()
    (diagnosis,) = report.diagnoses
    leftover = Leftover(73.4e6 * share, share, ())
    report = replace(report, diagnoses=(replace(diagnosis, leftover=leftover),))
    assert lines(report)[2].endswith(ending)


def test_one_machine_ran_all_pools() -> None:
    """More workers are not asked for, because more runs on this machine are none."""
    workers = [replace(each, worker_id="rehearsal/host") for each in seed_workers.workers()]
    pools = {each.pool for each in workers}
    found = lines(compare(Plan.of_pools(pools, None), workers, Options()))
    assert (
        "-  More workers are not expected to settle amd-30: one machine ran all of these tasks."
        in found
    )
    assert not any("To settle" in line for line in found)
    # One line about it is enough: the warnings about pairs of pools are among the details.
    assert [line for line in found if "rehearsal/host" in line] == [
        (
            "!  Worker rehearsal/host ran 3 of these tasks, so they are not independent; some at the same "
            "time, which slows each of them."
        )
    ]


def test_the_explanation_of_a_warning_is_among_the_details() -> None:
    """The first screen has the message whole, the details both; rules about comparisons come first."""
    zones = Problem("zones", Severity.WARNING, None, ("intel",), text("short"), text("Long."))
    report = sample_report.seed_case(10)
    report = replace(report, problems=(*report.problems, zones, replace(zones, sides=("amd-30",))))
    found = [line for line in lines(report) if line.startswith("! ")]
    assert found[:2] == [
        "! zones: intel: short (and 1 more such warning)",
        "!  and 2 more kinds of warnings: few-workers, page-cache",
    ]
    notes = document.build(report).notes.footnotes
    assert notes[-1].text == "amd-30: short. Long."


def test_every_task_failed() -> None:
    """There is room for more than two reasons, and for the lines that the command adds."""
    unreadable = tuple(f"task {at}: {'failed ' * 25}" for at in range(6))
    report = replace(sample_report.empty(), unreadable=unreadable)
    assert [line for line in lines(report) if "Not read" in line] == [
        f"! Not read: {line.strip()}" for line in unreadable[:3]
    ]
    shown = sample_report.on_terminal(report, 80, details=False)
    assert len(shown.splitlines()) <= 21


def test_a_warning_about_measurements() -> None:
    """It names none of them, and counts those of other pools."""
    found = lines(every_workload.report())
    assert (
        "! one-worker: amd-16, amd-30, intel: one worker does not show how far workers of its pool "
        "differ; 5 % is assumed (and 1 more such warning)"
    ) in found
