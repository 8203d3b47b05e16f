# SPDX-License-Identifier: MPL-2.0
"""What a comparison says about pools, single workers and warnings, and how to confirm a cause."""

import copy
from typing import Any

import divided_reports
import pytest
import sample_report
import seed_case
import seed_workers
from msgspec.structs import replace
from sample_report import text
from seed_facts import first
from simulated_results import Pool, measure
from situations import BASE, FAST, ONE_DISK, SLOW
from written import lines, rows, screen, section, tables

from io_benchmark.analysis.compare import compare
from io_benchmark.analysis.comparing.pairs import Options
from io_benchmark.analysis.model.cause import Cause, Evidence, Leftover, State
from io_benchmark.analysis.model.comparison import Problem, Severity, Verdict
from io_benchmark.analysis.model.measurement import SubjectReport
from io_benchmark.analysis.model.plan import Plan
from io_benchmark.analysis.model.report import Replication, Report, Standing
from io_benchmark.analysis.model.statements import statement
from io_benchmark.report.blocks import Items, Words
from io_benchmark.report.formats import Layout, rendered
from io_benchmark.report.sections.comparison import _ratios
from io_benchmark.report.sections.measured import SideResult


def answer(report: Report) -> list[str]:
    return lines(block for block in section(report, "Answer") if isinstance(block, Items))


def test_a_pool_that_is_faster() -> None:
    """What to try is for the baseline, and says so."""
    pools = ("amd-16", "intel")
    report = compare(Plan.of_pools(pools, "amd-16"), seed_workers.workers(pools=pools), Options())
    (advice,) = [line for line in screen(report) if line.startswith("Try: ")]
    assert advice.startswith("Try: on amd-16, use a machine type with more local SSDs, striped")


@pytest.mark.parametrize(("pools", "on_screen", "in_full"), [(5, 4, 4), (6, 2, 3)])
def test_many_pools(pools: int, on_screen: int, in_full: int) -> None:
    """Four candidates have a sentence each.

    Of more, those that differ, and on a screen two of them.
    """
    report = sample_report.many_pools(pools)
    counts = [sum(line.startswith("- pool-") for line in of(report)) for of in (screen, answer)]
    assert counts == [on_screen, in_full]


def test_ratios() -> None:
    """The ends of several ratios, once where they are written alike."""
    pairs = [sample_report.comparison(ratio=ratio) for ratio in (1.01, 0.99, 1.002, 1.001)]
    part = SubjectReport(pairs[0].subject, {}, tuple(pairs))
    sides = [SideResult("a", part, "b", pair.verdict, pair) for pair in pairs]
    assert [*map(_ratios, (sides, sides[2:], []))] == ["0.99× to 1.01×", "1.00×", ""]


def test_which_look_it_is() -> None:
    """It adjusts the interval, in whose sentence it is; so is a verdict of an earlier look."""
    report = divided_reports.tried_one_disk()
    (subject,) = report.subjects
    (comparison,) = subject.comparisons
    looked = replace(comparison, look=statement("second of at most 3 looks"))
    reversed_verdict = replace(comparison, verdict=Verdict.INCONCLUSIVE)
    compared = [looked, *(replace(looked, of_all=pair) for pair in (comparison, reversed_verdict))]
    subjects = [replace(subject, comparisons=(pair,)) for pair in compared]
    first, same, other = (screen(replace(report, subjects=(part,))) for part in subjects)
    clause = "3 workers each; second of at most 3 looks, for which the interval is wider)"
    assert [clause in lines[0] for lines in (first, same, other)] == [True, False, False]
    assert same[0].endswith(", decided at an earlier look.")
    assert other[0].endswith(", which stands; all workers: 1.92× (1.73 to 2.13).")


@pytest.mark.parametrize(
    ("share", "ending"),
    [(0.2, "; not explained: 14.7 ms per retrieve (20 %)."), (0.199, "scheduler.")],
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
            (
                "(supported): The slower side's writes are spread over fewer disks, which explains "
                "94 %."
            ),
        ),
        (
            [SUPPORTED, replace(SUPPORTED, name="other", state=State.CONFIRMED, share=0.1)],
            f"(confirmed by a trial): {DISKS}, which explains 10 %; also supported: device-count.",
        ),
        ([replace(SUPPORTED, state=State.RULED_OUT)], "none is supported by the observations."),
        ([OPEN], f"(not separable): {DISKS} (other), of which nothing shows the cost."),
        ([OPEN, replace(OPEN, name="third")], "(not separable): other, third."),
    ],
    ids=str,
)
def test_causes(causes: list[Cause], line: str) -> None:
    """What explains the difference: the confirmed cause first, then the largest share."""
    report = sample_report.with_diagnosis(causes=causes, remedies=())
    (found,) = [found for found in screen(report) if found.startswith("Cause")]
    assert found.removeprefix("Cause").strip(": ") == line


def test_refused_and_missing() -> None:
    """A candidate without a verdict says why: the rule, or that there is no counterpart."""
    report = sample_report.refused()
    (part,), (problem,) = report.subjects, report.problems
    only = replace(part, figures={"intel": part.figures["intel"]})
    altogether = replace(report, subjects=(only,), problems=(replace(problem, subject=None),))
    alone = replace(part, figures={"amd-16": part.figures["amd-16"]})
    unrefused = replace(report, subjects=(alone,), problems=())
    lead = "- amd-16 compared with intel: no verdict,"
    assert answer(altogether)[1] == f"{lead} refused by copy-method."
    assert answer(unrefused)[1] == f"{lead} because intel has no samples of this."


def test_warnings() -> None:
    """Of a rule the first one is shown; the notes explain all."""
    noise = Problem("noisy", Severity.WARNING, None, ("intel",), text("short"), text("Long."))
    report = sample_report.seed_case()
    problems = (*report.problems[1:], noise, replace(noise, sides=("amd-30",)))
    report = replace(report, problems=(*problems, replace(noise, rule="drift")))
    assert [line for line in screen(report) if line.startswith("! ")][:2] == [
        (
            "! page-cache: amd-30: drop_caches was refused; 41 % of the cache was in memory at "
            "the start"
        ),
        "! and 2 more kinds of warnings: noisy, drift",
    ]
    noted = [line for line in lines(section(report, "Notes")) if line.startswith("- noisy")]
    assert noted == ["- noisy: intel: short. Long.", "- noisy: amd-30: short. Long."]


@pytest.mark.parametrize(
    ("side", "consequence"),
    [("amd-16", "This run is left out."), ("amd-64", "No verdict is given.")],
)
def test_a_refused_run_leaves_the_others(side: str, consequence: str) -> None:
    """No verdict is denied that is given two lines above."""
    report = sample_report.seed_case()
    problem = replace(report.problems[0], severity=Severity.REFUSED, sides=(side,))
    found = screen(replace(report, problems=(problem,)))
    assert [line.endswith(consequence) for line in found if "REFUSED" in line] == [True]


def test_workers_needed() -> None:
    """Each pool has its own number; what counts less than its workers says so."""
    counts = (
        Replication("open", 3, 3, 2, Standing.OPEN, 54, 53),
        Replication("enough here", 3, 3, 3, Standing.OPEN, 3, 0),
        Replication("never", 1, 1, 1, Standing.NOT_BY_REPETITION, None, None),
    )
    report = replace(sample_report.seed_case(), replication=counts)
    table, _ = tables(section(report, "Workers"))
    assert rows(table) == {
        "open": ("3", "2 of 3", "53 more, 54 in total"),
        "enough here": ("3", "3", "enough here, too few in another pool"),
        "never": ("1", "1", "more would not settle it"),
    }


def test_a_preempted_run_stands_in() -> None:
    """The pool's sentence says how it ended, and its worker's line has the rest."""
    ended = {"state": "exception", "reason": "worker-shutdown", "completed": False}
    preempted = sample_report.worker("amd-16", 40, incomplete_reason="still running", **ended)
    report = replace(sample_report.seed_case(), workers=(preempted,))
    *_, runs = tables(section(report, "Workers"))
    assert rows(runs)["amd-16"][3] == "was preempted (worker-shutdown), incomplete: still running"
    shown = screen(report)
    assert (
        "; the only run of amd-16 was preempted (worker-shutdown), used as far as measured)."
        in shown[1]
    )
    assert not any(line.startswith("! amd-16: task") for line in shown)
    # Of a pool that is compared with nothing, no sentence says it.
    (part,) = report.subjects
    alone = replace(report, subjects=(replace(part, comparisons=part.comparisons[1:]),))
    line = f"! amd-16: task {preempted.task_id} run 0 was preempted (worker-shutdown); "
    assert any(shown.startswith(line) for shown in screen(alone))


def refused_report(change: dict[str, Any], **options: Any) -> Report:
    pools = ("intel", "amd-16")
    workers = seed_workers.workers(pools=pools, change={"amd-16": change})
    return seed_workers.report_of(workers, **options)


IN_MEMORY = {"storage.places.0.kind": "memory"}
PYTHON_METHOD = {"workloads.0.copy_method": "cp"}


@pytest.mark.parametrize(
    ("change", "allowed"),
    [
        (IN_MEMORY, ["place-kind"]),
        # Each of them alone would not do.
        ({**IN_MEMORY, **PYTHON_METHOD}, ["copy-method", "place-kind"]),
    ],
)
def test_what_is_refused_has_figures_and_a_way(change: dict[str, Any], allowed: list[str]) -> None:
    """The averages of both sides, the rules, and the options that compare them, which do."""
    shown = screen(refused_report(change))
    averages = "The averages are 146 ms on amd-16 and 76.0 ms on intel."
    assert shown[1].endswith(f"no verdict, refused by {', '.join(allowed)}. {averages}")
    options = " ".join(f"--allow {rule}" for rule in allowed)
    refusals = [line for line in shown if "REFUSED by" in line]
    assert len(refusals) == len(allowed)
    ending = f"No verdict is given. To compare nevertheless, use {options} of compare."
    assert all(line.endswith(ending) for line in refusals)
    compared = refused_report(change, allow=frozenset(allowed))
    assert [len(part.comparisons) for part in compared.subjects] == [1]
    assert not any("REFUSED" in line or "averages are" in line for line in screen(compared))


@pytest.mark.parametrize(
    ("samples", "can_be_allowed"), [(0, False), (1, False), (2, True), (19, True)]
)
def test_what_cannot_be_allowed(samples: int, can_be_allowed: bool) -> None:
    """Without two samples nothing can be compared, and no option is named."""
    report = refused_report(first(samples))
    (line,) = [line for line in screen(report) if "REFUSED by too-few-retrieves" in line]
    assert ("use --allow too-few-retrieves of compare" in line) is can_be_allowed
    allowed = refused_report(first(samples), allow=frozenset(["too-few-retrieves"]))
    assert any(part.comparisons for part in allowed.subjects) is can_be_allowed


STOPPED = {"outcome": seed_case.outcome("stopped", "stopped by SIGTERM")}
# With retrieves, of which too few were done; all batches of `spawn` were.
REFUSED_ENTRY = {f"workloads.0.{key}": value for key, value in STOPPED.items()}


@pytest.mark.parametrize(
    ("change", "use", "state"),
    [
        ({}, "used as far as measured", "failed"),
        (
            REFUSED_ENTRY,
            "partly used",
            "failed, left out: 1 of 2 measurements",
        ),
        (
            {**REFUSED_ENTRY, "workloads.1.outcome": STOPPED["outcome"]},
            "left out",
            "failed, left out",
        ),
    ],
)
def test_a_run_that_failed_is_used_or_left_out(
    change: dict[str, Any], use: str, state: str
) -> None:
    """The sentence, the refusals and the table of workers agree on what became of it."""
    pools, spawn = ("intel", "amd-16"), dict(seed_workers.measured(only=("spawn",)))
    shared = seed_case.documents(2, pools=pools, change=dict.fromkeys(pools, spawn))
    # The entries of `spawn` are the same objects.
    documents = [*map(copy.deepcopy, shared)]
    (failed,) = [document for document in documents if document["task"]["pool"] == "amd-16"][1:]
    for path, value in change.items():
        _, entry, key = path.split(".")
        failed["workloads"][int(entry)][key] = value
    workers = [
        replace(
            seed_workers.worker(document), **({"state": "failed"} if document is failed else {})
        )
        for document in documents
    ]
    report = seed_workers.report_of(workers)
    shown = screen(report)
    assert [f"; 1 of 2 runs of amd-16 failed, {use}" in line for line in shown].count(True) == 1
    assert any("REFUSED by incomplete" in line for line in shown) is bool(change)
    *_, runs = tables(section(report, "Workers"))
    assert sorted(str(row.cells[3]) for row in runs.rows) == ["completed"] * 3 + [state]


@pytest.mark.parametrize(
    ("form", "link"),
    [
        ("html", '(<a href="{url}" rel="external nofollow noreferrer">job on ci.example</a>)'),
        ("markdown", "([job on ci.example]({url}))"),
        ("text", "(job on ci.example {url})"),
    ],
)
def test_the_job_on_another_ci_system(form: str, link: str) -> None:
    """Its link names the host, since anyone may have written it."""
    url = "https://ci.example/o/r/runs/7?job=2#log_a"
    report = sample_report.seed_case()
    report = replace(report, workers=(replace(report.workers[0], url=url),))
    shown = rendered(report, form, Layout(details=True))
    assert " ".join(shown.split()).count(link.replace("{url}", url)) == 1


def test_the_task_on_a_deployment() -> None:
    """Its id leads there, and the row has the host that it was read from."""
    task_id = "PJUgN8IKTxC2TCrqoehGLA"
    source = f"https://tc.example/tasks/{task_id}/runs/0"
    report = sample_report.seed_case()
    run = replace(report.workers[0], task_id=task_id, run_id=0, source=source)
    *_, runs = tables(section(replace(report, workers=(run,)), "Workers"))
    (row,) = runs.rows
    assert row.cells[2:] == (Words(f"{task_id}.0", link=source), "completed", "tc.example")


def test_single_workers() -> None:
    """A screen names two workers unlike their pool and counts further ones.

    The full report has the verdict.
    """
    report = divided_reports.one_bad_worker()
    (worker,), (subject,) = report.single_workers, report.subjects
    three = tuple(replace(worker, machine=f"machine-{number}") for number in range(3))
    found = screen(replace(report, single_workers=three))
    assert sum(" alone takes " in line for line in found) == 2
    assert "- and 1 more worker unlike the rest of a pool" in found
    alone = replace(report, subjects=(replace(subject, comparisons=()),))
    sentence = "The verdict stays inconclusive: it counts all workers."
    counts = [sum(sentence in line for line in answer(made)) for made in (report, alone)]
    assert counts == [1, 0]


GROUP = "fN1SgBXkQqWw0mF5yzYYTA"
CONFIRM = f"io-benchmark submit --baseline intel --confirm group:{GROUP}"
RUN = "run intel once more with copies at 371 MiB/s"


POOLS = (Pool(SLOW, ONE_DISK), Pool(FAST, BASE))


def offer(made: Report, **changes: Any) -> str:
    """Return what follows "To confirm:" on the first screen, of workers with these changes."""
    workers = tuple(replace(run, **{"group_id": GROUP, **changes}) for run in made.workers)
    found = screen(replace(made, workers=workers))
    return next((line.removeprefix("To confirm: ") for line in found if line[:2] == "To"), "")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, f'{RUN} (`{CONFIRM}`, or the action "Confirm the cause").'),
        ({"worker_id": "rehearsal/host"}, f"{RUN} (add --confirm to this rehearse)."),
        # Only what is an id becomes a part of a command to paste.
        *(({"group_id": text}, "") for text in (None, "$(reboot)", "; rm -rf / #xxxxxxxxxxx")),
    ],
)
def test_the_missing_run(changes: dict[str, str], expected: str) -> None:
    """A supported cause is offered the run with its pace, and what creates it."""
    assert offer(divided_reports.to_be_confirmed(), **changes) == expected


def test_pools_of_two_groups() -> None:
    """A run of one group confirms nothing about a pool of another."""
    workers = tuple(
        replace(run, group_id=GROUP if run.pool == FAST else "Fqm6GL_zRPurCmd1rRuTRQ")
        for run in divided_reports.to_be_confirmed().workers
    )
    found = screen(replace(divided_reports.to_be_confirmed(), workers=workers))
    assert not any("To confirm" in line for line in found)


def test_trials_that_were_left_out() -> None:
    """The answer says what was not tried and why, and offers the run that tries it."""
    measured = measure(POOLS, 1, retrieves=divided_reports.TRIED_RETRIEVES, trials=True)
    for run in (run for runs in measured.values() for run in runs):
        run.document["workloads"][0]["trials"] |= {
            "ceilings": [],
            "blocks": [],
            "state": "not-run",
            "reason": "they need 9 s",
        }
    assert offer(divided_reports.of_measured(measured, FAST)) == (
        "measure again with `trials: always` in the kind; not tried: lookup, unlink, memory "
        "(they need 9 s)."
    )


@pytest.mark.parametrize("state", State)
def test_by_the_state_of_the_cause(state: State) -> None:
    """Only what a trial could still change is offered one."""
    (diagnosis,) = divided_reports.to_be_confirmed().diagnoses
    causes = tuple(
        replace(each, state=state) for each in diagnosis.causes if each.name == "device-count"
    )
    made = replace(
        divided_reports.to_be_confirmed(), diagnoses=(replace(diagnosis, causes=causes),)
    )
    assert bool(offer(made)) is (state in (State.SUPPORTED, State.NOT_SEPARABLE))
