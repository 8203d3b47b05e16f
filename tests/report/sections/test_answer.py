# SPDX-License-Identifier: MPL-2.0
"""The answer: what a first screen says about each pool, and the full report about each workload."""

import divided_reports
import pytest
import sample_report
import seed_workers
from msgspec.structs import replace
from sample_report import text
from written import lines, screen, section

from io_benchmark.analysis.compare import Options, compare
from io_benchmark.analysis.diagnosis_model import Cause, Evidence, Leftover, State
from io_benchmark.analysis.model import Comparison, Problem, Severity, Verdict
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.report_model import Report
from io_benchmark.analysis.statements import statement


def answer(report: Report) -> list[str]:
    return lines(section(report, "Answer"))


def test_a_pool_that_is_faster() -> None:
    """What to try is for the baseline, and says so."""
    pools = ("amd-16", "intel")
    report = compare(Plan.of_pools(pools, "amd-16"), seed_workers.workers(pools=pools), Options())
    (advice,) = [line for line in screen(report) if line.startswith("Try: ")]
    assert advice.startswith("Try: on amd-16, use a machine type with more local SSDs, striped")


@pytest.mark.parametrize(("pools", "named"), [(5, 4), (6, 2)])
def test_many_pools(pools: int, named: int) -> None:
    """Four candidates have a sentence each on a screen; of more, the two that differ most."""
    found = screen(sample_report.many_pools(pools))
    assert len([line for line in found if line.startswith("- pool-")]) == named


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


SUPPORTED = sample_report.cause(share=0.94)
OPEN = replace(SUPPORTED, name="other", state=State.NOT_SEPARABLE, share=None)
DISKS = "1 disk against 2 disks, striped"


@pytest.mark.parametrize(
    ("causes", "line"),
    [
        ([replace(SUPPORTED, share=None)], f"(supported): {DISKS} (device-count)."),
        (
            [replace(SUPPORTED, candidate_evidence=Evidence((), statement("x" * 105)))],
            "(supported): The slower side's writes are spread over fewer disks, which explains 94 %.",
        ),
        (
            [replace(SUPPORTED, name="other", share=None), SUPPORTED],
            f"(supported): {DISKS}, which explains 94 %; also supported: other.",
        ),
        (
            [SUPPORTED, replace(SUPPORTED, name="other", state=State.CONFIRMED, share=0.1)],
            f"(confirmed by a trial): {DISKS}, which explains 10 %; also supported: device-count.",
        ),
        ([replace(SUPPORTED, state=State.RULED_OUT)], "none is supported by the observations."),
        ([OPEN], f"(not separable): {DISKS} (other), of which nothing shows the cost."),
        ([OPEN, replace(OPEN, name="third")], "(not separable): other, third."),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_causes(causes: list[Cause], line: str) -> None:
    """What explains the difference: the confirmed cause first, then the one with the largest share."""
    report = sample_report.with_diagnosis(causes=causes, remedies=())
    (found,) = [found for found in screen(report) if found.startswith("Cause")]
    assert found.removeprefix("Cause").strip(": ") == line


def test_refused_and_missing() -> None:
    """Each candidate without a verdict says why: the rule, or that there is no counterpart."""
    report = sample_report.refused()
    refused = "- amd-16 compared with intel: no verdict, refused by copy-method."
    nothing = "No verdict is given: the measurements are not comparable."
    assert answer(report)[:2] == [nothing, refused]
    (part,), (problem,) = report.subjects, report.problems
    alone = replace(part, figures={"amd-16": part.figures["amd-16"]})
    assert answer(replace(report, subjects=(alone,), problems=()))[1] == (
        "- amd-16 compared with intel: no verdict, because intel has no samples of this."
    )
    only = replace(part, figures={"intel": part.figures["intel"]})
    altogether = replace(report, subjects=(only,), problems=(replace(problem, subject=None),))
    assert answer(altogether)[1] == refused


def test_one_machine_ran_all_pools() -> None:
    """More workers are not asked for, because more runs on this machine are none."""
    workers = [replace(each, worker_id="rehearsal/host") for each in seed_workers.workers()]
    pools = {each.pool for each in workers}
    found = screen(compare(Plan.of_pools(pools, None), workers, Options()))
    reason = "one machine ran all of these tasks."
    assert f"- More workers are not expected to settle amd-30: {reason}" in found
    assert not any("To settle" in line for line in found)
    (warning,) = [line for line in found if "rehearsal/host" in line]
    assert warning.startswith("! shared-worker: intel and amd-16 were measured on the same machine")
    assert warning.endswith("(and 1 more such warning)")


def test_warnings() -> None:
    """Of a rule the first one is shown, rules about comparisons first; the notes explain them."""
    zones = Problem("zones", Severity.WARNING, None, ("intel",), text("short"), text("Long."))
    report = sample_report.seed_case()
    noise = replace(zones, rule="noisy")
    problems = (*report.problems[1:], noise, zones, replace(zones, sides=("amd-30",)))
    report = replace(report, problems=problems)
    assert [line for line in screen(report) if line.startswith("! ")][:2] == [
        "! zones: intel: short (and 1 more such warning)",
        "! and 2 more kinds of warnings: page-cache, noisy",
    ]
    assert lines(section(report, "Notes"))[-1] == "[4] zones: amd-30: short. Long."
    allowed = replace(zones, severity=Severity.ALLOWED)
    found = screen(replace(report, problems=(*report.problems, allowed)))
    assert "! zones: allowed by --allow zones, intel: short" in found


@pytest.mark.parametrize(
    ("sides", "consequence"),
    [
        pytest.param(("amd-16",), "This run is left out.", id="others of its side count"),
        pytest.param(("amd-64",), "No verdict is given.", id="nothing of its side counts"),
    ],
)
def test_a_refused_run_leaves_the_others(sides: tuple[str, ...], consequence: str) -> None:
    """No verdict is denied that is given two lines above."""
    report = sample_report.seed_case()
    problem = replace(report.problems[0], severity=Severity.REFUSED, sides=sides)
    (line,) = [
        line
        for line in screen(replace(report, problems=(problem,)))
        if line.startswith("! REFUSED")
    ]
    assert line.endswith(consequence)
