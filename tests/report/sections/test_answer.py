# SPDX-License-Identifier: MPL-2.0
"""The answer: what a first screen says about each pool, and the full report about each workload."""

import divided_reports
import every_workload
import pytest
import sample_report
import seed_workers
from msgspec.structs import replace
from sample_report import text
from written import lines, screen, section

from io_benchmark.analysis.compare import Options, compare
from io_benchmark.analysis.evidence_model import Leftover
from io_benchmark.analysis.model import Cause, Comparison, Problem, Severity, State, Verdict
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.report_model import Report
from io_benchmark.analysis.statements import statement

SIDES = ("amd before", "amd after")


def answer(report: Report) -> list[str]:
    return lines(section(report, "Answer"))


def test_a_pool_and_its_cause() -> None:
    """The verdict, where the difference lies, the cause with its standing, and what to try."""
    expected = [
        "- amd-16 is 2.05× slower than intel (95 % interval 1.92 to 2.18).",
        "Where (+73.4 ms per retrieve): copies blocked (I/O, writeback, memory) +73.4 ms (100 %).",
        (
            "Cause (confirmed by a trial): 1 disk against 2 disks, striped, which explains 97 %; "
            "not separable from that: scheduler."
        ),
        "Try: use a machine type with more local SSDs, striped (2.00× faster, predicted).",
    ]
    report = divided_reports.tried_one_disk()
    remark = "! intel: 1 of 4 runs was made to confirm a cause; only the trials count"
    assert screen(report) == [*expected, remark]
    assert answer(report)[:4] == expected


def test_a_pool_that_is_faster() -> None:
    """What to try is for the baseline, and says so; a pool that is faster than before needs nothing."""
    pools = ("amd-16", "intel")
    report = compare(Plan.of_pools(pools, "amd-16"), seed_workers.workers(pools=pools), Options())
    (advice,) = [line for line in screen(report) if line.startswith("Try: ")]
    assert advice.startswith("Try: on amd-16, use a machine type with more local SSDs, striped")
    workers = [
        replace(worker, side=side)
        for pool, side in zip(pools, SIDES, strict=True)
        for worker in seed_workers.workers(pools=(pool,))
    ]
    again = screen(compare(Plan.before_and_after(["amd"]), workers, Options()))
    assert again[0].startswith("- amd after is faster than amd before")
    assert not any(line.startswith("Try: ") for line in again)


def test_which_look_it_is() -> None:
    """It adjusts the intervals; a verdict of an earlier look says so in its own sentence."""
    report = divided_reports.tried_one_disk()
    (subject,) = report.subjects
    (comparison,) = subject.comparisons
    looked = replace(comparison, look=statement("second of at most 3 looks"))
    decided = replace(looked, of_all=comparison)
    other = replace(looked, of_all=replace(comparison, verdict=Verdict.INCONCLUSIVE))

    def lines_with(changed: Comparison) -> list[str]:
        return screen(replace(report, subjects=(replace(subject, comparisons=(changed,)),)))

    sentence = "! second of at most 3 looks; the intervals are wider for it"
    assert sentence in lines_with(looked)
    assert sentence not in lines_with(decided)
    assert lines_with(decided)[0].endswith("decided at an earlier look.")
    assert lines_with(other)[0].endswith(
        "decided at an earlier look, which stands; all workers: 2.05× (1.92 to 2.18)."
    )


def test_many_measurements() -> None:
    """On a screen a pool has one sentence: other workloads are there by their ratios."""
    found = screen(replace(every_workload.report(), diagnoses=()))
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


def test_a_sentence_per_workload() -> None:
    """In the full report each has a sentence, the most different measurement that is explained first."""
    found = answer(every_workload.report())
    at = found.index("metadata (ops/s, higher is better)")
    assert found[at + 1 : at + 5] == [
        (
            "- amd-16 is 4.49× slower than intel on metadata, stat, 4 at once in workspace (95 % "
            "interval 3.78 to 5.33). Also slower: visibility, 2 at once 10.01×; stat, 2 at once 1.80×. "
            "Inconclusive: 8 measurements, 1.00×."
        ),
        (
            "Cause (supported): throughput 0.83× with 4 threads against throughput 3.74× with 4 "
            "threads, which explains 100 %; also supported: files-not-visible."
        ),
        (
            "Try: work on a volume, or with a storage driver without such a lock (overlay2, not AUFS) "
            "(4.49× faster, predicted)."
        ),
        "- amd-30 compared with intel is inconclusive on 11 measurements, 1.00×.",
    ]
    assert (
        "- amd-30 compared with intel: no verdict, refused by parameters (2 measurements)." in found
    )


def test_many_pools() -> None:
    """On a screen two have a sentence each, in the full report all that differ; the others share some."""
    report = sample_report.many_pools(10)
    shared = [
        "- Equivalent: pool-04, pool-08, pool-12, 1.00× to 1.02×.",
        "- Inconclusive: pool-05, pool-09, 1.04× to 1.05×.",
    ]
    assert [line for line in screen(report) if line.startswith("- ")] == [
        "- pool-03 is faster than pool-01 at 0.70× its time (95 % interval 0.63 to 0.77).",
        "- pool-07 is faster than pool-01 at 0.71× its time (95 % interval 0.64 to 0.78).",
        "- Slower: pool-02, pool-06, pool-10, 1.30× to 1.32×.",
        "- Faster: pool-11, 0.72×.",
        *shared,
    ]
    found = [line for line in answer(report) if line.startswith("- ")]
    named = [line.split()[1] for line in found[:-2]]
    assert (named, found[-2:]) == (
        [f"pool-{number:02d}" for number in (2, 3, 6, 7, 10, 11)],
        shared,
    )


def test_what_was_not_read() -> None:
    """Without results the reasons remain; more than two of a kind are counted."""
    unreadable = ("one: failed", "two: failed", "three: failed")
    assert screen(replace(sample_report.empty(), unreadable=unreadable)) == [
        "- No verdict: none of the results could be read.",
        "! Not read: one: failed",
        "! Not read: two: failed",
        "! Not read: three: failed",
    ]
    alone = replace(sample_report.seed_case(10), unreadable=unreadable)
    assert [line for line in screen(alone) if "read" in line] == [
        "! Not read: one: failed",
        "! and 2 more results not read",
    ]


@pytest.mark.parametrize(
    ("share", "ending"),
    [
        pytest.param(0.2, "; not explained: 14.7 ms per retrieve (20 %).", id="a fifth"),
        pytest.param(0.199, "scheduler.", id="less"),
    ],
)
def test_what_the_causes_leave_over(share: float, ending: str) -> None:
    """The cause's line says it where it is a fifth of the difference or more."""
    report = divided_reports.tried_one_disk()
    (diagnosis,) = report.diagnoses
    leftover = Leftover(73.4e6 * share, share, ())
    report = replace(report, diagnoses=(replace(diagnosis, leftover=leftover),))
    assert screen(report)[2].endswith(ending)


def causes_line(*causes: Cause) -> str:
    """The seed's case with other hypotheses."""
    report = sample_report.seed_case(5)
    (diagnosis,) = report.diagnoses
    report = replace(report, diagnoses=(replace(diagnosis, causes=causes, remedies=()),))
    (line,) = [line for line in screen(report) if line.startswith("Cause")]
    return line


SUPPORTED = sample_report.SUPPORTED
OPEN = replace(SUPPORTED, name="other", state=State.NOT_SEPARABLE, share=None)


@pytest.mark.parametrize(
    ("causes", "line"),
    [
        pytest.param(
            [replace(SUPPORTED, share=None)],
            "Cause (supported): 1 local SSD against 2 local SSDs striped (device-count).",
            id="no-share",
        ),
        pytest.param(
            [replace(SUPPORTED, candidate_evidence=sample_report.evidence(statement("x" * 101)))],
            "Cause (supported): Fewer local SSDs share the writes, which explains 94 %.",
            id="long-evidence",
        ),
        pytest.param(
            [replace(SUPPORTED, name="other", share=None), SUPPORTED],
            (
                "Cause (supported): 1 local SSD against 2 local SSDs striped, which explains 94 %; also "
                "supported: other."
            ),
            id="the-largest-share-first",
        ),
        pytest.param(
            [SUPPORTED, replace(SUPPORTED, name="other", state=State.CONFIRMED, share=0.1)],
            (
                "Cause (confirmed by a trial): 1 local SSD against 2 local SSDs striped, which explains "
                "10 %; also supported: device-count."
            ),
            id="the-confirmed-one-first",
        ),
        pytest.param(
            [replace(SUPPORTED, state=State.RULED_OUT)],
            "Cause: none is supported by the observations.",
            id="none-supported",
        ),
        pytest.param(
            [OPEN],
            (
                "Cause (not separable): 1 local SSD against 2 local SSDs striped (other), of which "
                "nothing shows the cost."
            ),
            id="one-is-not-separable",
        ),
        pytest.param(
            [OPEN, replace(OPEN, name="third")],
            "Cause (not separable): other, third.",
            id="two-are-not-separable",
        ),
    ],
)
def test_causes(causes: list[Cause], line: str) -> None:
    """What explains the difference, with how much of it."""
    assert causes_line(*causes) == line


def test_the_median() -> None:
    """It is in the sentence where it is steady; causes belong to the measurement that shows them."""
    found = answer(sample_report.several_subjects())
    assert any("explains 94 %" in line for line in found)
    assert found[0].endswith("Also slower: unlink 1.21×.")


def test_refused_and_missing() -> None:
    """Each candidate without a verdict says why: the rule, or that there is no counterpart."""
    report = sample_report.refused(5)
    nothing = "No verdict is given: the measurements are not comparable."
    refused = "- amd-16 compared with intel: no verdict, refused by copy-method."
    assert answer(report)[:2] == [nothing, refused]
    (part,) = report.subjects
    alone = replace(part, figures={"amd-16": sample_report.AMD_16})
    missing = answer(replace(report, subjects=(alone,), problems=()))[1]
    assert missing == (
        "- amd-16 compared with intel: no verdict, because intel has no samples of this."
    )
    (problem,) = report.problems
    only = replace(part, figures={"intel": sample_report.INTEL})
    altogether = replace(report, subjects=(only,), problems=(replace(problem, subject=None),))
    assert answer(altogether)[1] == refused


def test_one_machine_ran_all_pools() -> None:
    """More workers are not asked for, because more runs on this machine are none."""
    workers = [replace(each, worker_id="rehearsal/host") for each in seed_workers.workers()]
    pools = {each.pool for each in workers}
    found = screen(compare(Plan.of_pools(pools, None), workers, Options()))
    assert (
        "- More workers are not expected to settle amd-30: one machine ran all of these tasks."
        in found
    )
    assert not any("To settle" in line for line in found)
    # One line about it is enough: the warnings about pairs of pools are among the details.
    assert [line for line in found if "rehearsal/host" in line] == [
        (
            "! Worker rehearsal/host ran 3 of these tasks, so they are not independent; some at the same "
            "time, which slows each of them."
        )
    ]


def test_warnings() -> None:
    """Of a rule the first one is shown, rules about comparisons first; the notes explain them."""
    zones = Problem("zones", Severity.WARNING, None, ("intel",), text("short"), text("Long."))
    report = sample_report.seed_case(10)
    report = replace(report, problems=(*report.problems, zones, replace(zones, sides=("amd-30",))))
    assert [line for line in screen(report) if line.startswith("! ")][:2] == [
        "! zones: intel: short (and 1 more such warning)",
        "! and 2 more kinds of warnings: few-workers, page-cache",
    ]
    assert lines(section(report, "Notes"))[-1] == "[4] zones: amd-30: short. Long."
    allowed = replace(zones, severity=Severity.ALLOWED)
    found = screen(replace(report, problems=(*report.problems, allowed)))
    assert "! zones: allowed by --allow zones, intel: short" in found


@pytest.mark.parametrize(
    ("sides", "consequence"),
    [
        pytest.param(("amd-16",), "This run is left out.", id="others of its side count"),
        pytest.param(("intel", "amd-16"), "No verdict is given.", id="both sides"),
        pytest.param(("amd-64",), "No verdict is given.", id="nothing of its side counts"),
    ],
)
def test_a_refused_run_leaves_the_others(sides: tuple[str, ...], consequence: str) -> None:
    """No verdict is denied that is given two lines above."""
    report = sample_report.seed_case(5)
    problem = replace(report.problems[0], severity=Severity.REFUSED, sides=sides)
    (line,) = [
        line
        for line in screen(replace(report, problems=(problem,)))
        if line.startswith("! REFUSED")
    ]
    assert line.endswith(consequence)
