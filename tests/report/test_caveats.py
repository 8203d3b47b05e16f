# SPDX-License-Identifier: MPL-2.0
"""What limits a verdict is in its sentence, or once in the sentence about all pools."""

from typing import Any

import divided_reports
import pytest
import sample_gates
import sample_report
import seed_workers
from msgspec.structs import replace
from sample_report import text
from simulated_results import Pool, measure
from situations import BASE, FAST, ONE_DISK, SLOW
from written import lines, screen, section

from io_benchmark.analysis.compare import compare
from io_benchmark.analysis.comparing.pairs import Options
from io_benchmark.analysis.model.comparison import Problem, Severity
from io_benchmark.analysis.model.plan import Plan
from io_benchmark.analysis.model.report import Report
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.validity.rules import COMPARISON_RULES, SIDE_RULES
from io_benchmark.report.caveats import _CLAUSES

POOLS = ("intel", "amd-16")
WORKERS = "95 % interval 1.73 to 2.13; 3 workers each"
ONE_WORKER = "so the interval assumes that workers vary by 10 %"


def report_with(*problems: Problem) -> Report:
    """A pair of three workers each, with these problems."""
    return replace(divided_reports.tried_one_disk(), problems=problems)


def problem(rule: str, *sides: str, **changes: Any) -> Problem:
    made = Problem(rule, Severity.WARNING, None, sides or POOLS, text("the message"))
    return replace(made, **changes)


def answer(report: Report) -> str:
    """The sentence of the first pool, which a screen and the whole report have alike."""
    (first,) = {of[0] for of in (screen(report), answers(report))}
    return first


def answers(report: Report) -> list[str]:
    return [line for line in lines(section(report, "Answer")) if line.startswith("- ")]


def warnings(report: Report) -> list[str]:
    return [line for line in screen(report) if line.startswith("! ")]


def rules_of(shown: list[str]) -> list[str]:
    return [line.partition(":")[0] for line in shown]


def test_one_worker() -> None:
    """The interval of a single worker says what it assumes, and no warning repeats it."""
    report = compare(Plan.of_pools(POOLS, None), seed_workers.workers(pools=POOLS), Options())
    assert answer(report).endswith(f"interval 1.43 to 2.58; 1 worker each, {ONE_WORKER}).")
    assert warnings(report) == []
    summary, note, *_ = lines(section(report, "Notes"))
    assert summary == "1 warning"
    assert note.startswith("- one-worker: ")


def test_what_limits_all_pools() -> None:
    """It is said once, before the pools."""
    report = sample_report.seed_case()
    first, *pools = [line for line in answers(report) if " worker" in line]
    sentence = "with one worker, the interval assumes that workers vary by 10 %."
    assert first == f"- All pools: {sentence}"
    assert not any("assume" in line for line in pools)
    # One of the pools has more to say.
    amd = problem("zones", "intel", "amd-16")
    made = replace(report, problems=(*report.problems, amd))
    assert answers(made)[0] == first
    assert answers(made)[1].endswith("1 worker each; the workers are in different zones).")


@pytest.mark.parametrize(
    ("problems", "clauses"),
    [
        ([], ""),
        ([problem("zones")], "; the workers are in different zones"),
        ([problem("same-worker", "intel")], "; runs of intel on one machine count as one worker"),
        (
            [problem("survivors", side) for side in POOLS],
            "; slower runs of intel and amd-16 ended early and are left out",
        ),
        (
            [problem("copy-method", severity=Severity.ALLOWED)],
            "; compared nevertheless, by --allow copy-method",
        ),
        # What changes most comes first, and the others are counted.
        (
            [problem("zones"), problem("pushes"), problem("sizes", severity=Severity.ALLOWED)],
            (
                "; compared nevertheless, by --allow sizes; the workers are in different zones; "
                "and 1 more caveat below"
            ),
        ),
        # Of a further measurement, or of further pools.
        (
            [problem("engine", subject=Subject("spawn", "", ""))],
            "; tasks of one pool ran in docker, those of the other natively (spawn)",
        ),
        (
            [problem("engine", subject=Subject("spawn", "", "")), problem("zones")],
            (
                "; the workers are in different zones; tasks of one pool ran in docker, those of "
                "the other natively (spawn)"
            ),
        ),
        ([problem("zones", "intel", "amd-30"), problem("same-worker", "amd-30")], ""),
        # Rules about single runs are warnings.
        ([problem("noisy", "amd-16"), problem("cut-short", "amd-16")], ""),
    ],
)
def test_by_rule(problems: list[Problem], clauses: str) -> None:
    """A rule that changes the meaning of a verdict is in its sentence."""
    assert answer(report_with(*problems)).endswith(f"({WORKERS}{clauses}).")


def test_every_rule_has_its_clause() -> None:
    """A rule that warns about a pair is never left to the notes alone."""
    warning = {rule for rule, (severity, _) in SIDE_RULES.items() if severity is Severity.WARNING}
    # Each of these warns of some runs or pools, though it refuses others.
    warning |= {"retrieves", "place-kind", *COMPARISON_RULES}
    assert {*_CLAUSES, "one-worker", "nothing-in-common"} == warning


def test_warnings_that_no_sentence_has() -> None:
    """What has no room in a sentence, or has none there, stays a warning of the screen."""
    rules = ("zones", "measured-apart", "pushes", "noisy")
    report = report_with(*map(problem, rules))
    assert answer(report).endswith("; measured hours apart; and 1 more caveat below).")
    assert rules_of(warnings(report)) == ["! pushes", "! noisy", "! intel"]
    # The sentences of two pools have it, that of a third does not.
    many = sample_report.many_pools(8)
    zones = problem("zones", "pool-01", "pool-08")
    made = replace(many, problems=(*many.problems, zones))
    assert rules_of(warnings(made)) == ["! zones"]
    (shared,) = [line for line in screen(made) if "pool-08" in line and "caveats" in line]
    assert shared.endswith("; for caveats of pool-08 see below.")


def test_lost_results() -> None:
    """Tasks without a result are counted in the sentence of their pool."""
    workers = seed_workers.workers(pools=POOLS)
    plan = Plan.of_pools(POOLS, None)
    lost, more = (
        compare(plan, workers, Options(), lost=["amd-16"] * 2, unreadable=["a", "b", *further])
        for further in ([], ["c"])
    )
    clause = f"1 worker each, {ONE_WORKER}; 2 of 3 results of amd-16 were lost"
    assert answer(lost).endswith(f"{clause}).")
    assert answer(more).endswith(f"{clause}; and 1 more caveat below).")
    unknown = compare(plan, workers, Options(), unreadable=["a"])
    assert answer(unknown).endswith(f"{ONE_WORKER}; 1 result could not be read).")


def test_left_out_runs() -> None:
    """Runs of which nothing counts are counted, by how they ended."""
    report = report_with()
    first, *others = [run for run in report.workers if run.side == "amd-16"]
    rest = [run for run in report.workers if run.side != "amd-16"]
    unused = {"measurements": 2, "measurements_used": 0}

    def clause(*runs: Any) -> str:
        made = replace(report, workers=(*rest, *runs))
        return answer(made).partition(f"{WORKERS}; ")[2].removesuffix(").")

    assert clause(replace(first, **unused), *others) == "1 of 3 runs of amd-16 is left out"
    failed = [replace(run, state="failed", measurements=2, measurements_used=2) for run in others]
    assert clause(first, *failed) == ("2 of 3 runs of amd-16 ended early, used as far as measured")
    failed[0] = replace(failed[0], measurements_used=1)
    assert clause(first, *failed) == "2 of 3 runs of amd-16 ended early, partly used"
    failed[0] = replace(failed[0], measurements_used=0)
    assert clause(first, *failed) == "2 of 3 runs of amd-16 ended early, 1 of them left out"
    assert clause(first, failed[0]) == "1 of 2 runs of amd-16 failed, left out"
    # One that measured nothing at all has nothing that could be left out.
    empty = replace(first, measurements=0, measurements_used=0)
    assert clause(empty, *others) == ""
    # A run that confirms a cause is no part of the comparison.
    assert clause(first, replace(failed[0], is_counted=False)) == ""


def test_unlike_machines() -> None:
    """A pool of two kinds of machines, and a single worker that is unlike its pool."""
    assert "; 1 worker of amd-16 is unlike the others)." in answer(divided_reports.one_bad_worker())
    (gate,) = sample_gates.report("mixed").gates
    assert "; 2 of 6 workers of amd-16 are other machines" in answer(gate.comparison)


def test_noise_has_no_caveat() -> None:
    """Where one machine rehearsed, a verdict is not limited, because there is none."""
    workers = seed_workers.workers(pools=POOLS)
    rehearsed = [replace(run, worker_id="rehearsal/host") for run in workers]
    report = compare(Plan.of_pools(POOLS, None), rehearsed, Options())
    assert report.is_only_noise
    assert answer(report).endswith(": noise of this machine.")


def test_order_of_pools_changes_nothing() -> None:
    """The caveats are the same, whichever pool comes first."""
    pools = [Pool(SLOW, ONE_DISK), Pool(FAST, BASE)]
    reports = [
        divided_reports.of_measured(measure(order, 1), FAST) for order in (pools, pools[::-1])
    ]
    assert answer(reports[0]) == answer(reports[1])
