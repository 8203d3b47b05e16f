# SPDX-License-Identifier: MPL-2.0
"""How many workers each pool had, how many of them count, and how many a verdict still needs."""

import pytest
import sample_report
from msgspec.structs import replace
from written import lines, rows, section, tables

from io_benchmark.analysis.model import Verdict
from io_benchmark.analysis.report_model import Replication, Standing
from io_benchmark.analysis.summary.replication import count_workers
from io_benchmark.report.formats.output import rendered


def report(*workers, **changes):
    """The seed's case, where amd-16 is decided and amd-30 needs 12 more workers."""
    made = sample_report.seed_case(5)
    return sample_report.counted(replace(made, workers=workers or made.workers, **changes))


def cells(made):
    """What the table has of each side: runs, workers, workers needed."""
    (table,) = tables(section(sample_report.counted(made), "Workers per pool"))
    return {str(row.label): row.cells for row in table.rows}


def counts(made):
    return count_workers(made.subjects, made.workers)


def cautions(made):
    found = lines(section(made, "Workers per pool"))
    return tuple(line.removeprefix("! ") for line in found if line.startswith("! "))


def three(side, **changes):
    number = {"intel": 10, "amd-30": 20, "amd-16": 30}[side]
    return [sample_report.worker(side, number + at, None, **changes) for at in range(3)]


def with_figures(made, **workers):
    """Its first subject with so many workers compared, pool by pool."""
    part = made.subjects[0]
    figures = {
        side: replace(one, workers=workers.get(side.replace("-", "_"), one.workers))
        for side, one in part.figures.items()
    }
    return sample_report.counted(replace(made, subjects=(replace(part, figures=figures),)))


def test_one_worker_a_pool():
    """The baseline needs as many as the candidate that needs most."""
    assert counts(report()) == (
        Replication("intel", 1, 1, 1, Standing.OPEN, 13, 12),
        Replication("amd-16", 1, 1, 1, Standing.DECIDED, None, None),
        Replication("amd-30", 1, 1, 1, Standing.OPEN, 13, 12),
    )


def test_a_pool_that_has_more_needs_fewer():
    """The advice counts from the pool with fewest; each pool's own number is told."""
    made = with_figures(report(*three("intel"), *three("amd-30")[:1]), intel=3)
    assert [(row.side, row.workers_to_add) for row in counts(made)] == [
        ("intel", 10),
        ("amd-30", 12),
    ]


def test_what_is_enough_in_one_pool_may_lack_in_another():
    """Said of both."""
    made = with_figures(report(*three("intel"), *three("amd-30")[:1]), intel=20)
    assert {side: row[2] for side, row in cells(made).items()} == {
        "intel": "enough here, too few in another pool",
        "amd-30": "12 more, 13 in total",
    }


def test_not_by_repetition():
    """No number is given where none would do."""
    made = report()
    part = made.subjects[0]
    comparisons = tuple(
        replace(one, advice=replace(one.advice, workers_to_add=None)) if one.advice else one
        for one in part.comparisons
    )
    made = replace(made, subjects=(replace(part, comparisons=comparisons),))
    assert [row.standing.value for row in counts(made)] == [
        "not by repetition",
        "decided",
        "not by repetition",
    ]


def test_everything_is_refused():
    """Without a comparison there is no number to give."""
    rows = counts(sample_report.refused(5))
    assert {(row.standing, row.workers_needed) for row in rows} == {(Standing.NO_VERDICT, None)}


def test_one_side_alone():
    """A side that is only there is counted, too."""
    made = report(*three("intel"), subjects=())
    assert counts(made) == (Replication("intel", 3, 3, 0, Standing.NO_VERDICT, None, None),)


def test_machines_and_runs():
    """Two runs on one machine are one worker; a machine that nobody knows is one for each run."""
    shared = three("amd-16", worker_id="us-central1-a/1")
    unknown = three("intel", worker_id="unknown")
    made = with_figures(report(*unknown, *shared), intel=3)
    assert [(row.side, row.runs, row.workers) for row in counts(made)] == [
        ("intel", 3, 3),
        ("amd-16", 3, 1),
    ]
    assert cautions(made) == (
        (
            "Worker us-central1-a/1 ran 3 of these tasks, so they are not independent; "
            "amd-16's count as one worker."
        ),
    )


def test_runs_at_the_same_time():
    """What slows both of two runs is said next to the answer."""
    shared = three("amd-16", worker_id="us-central1-a/1", at_once=True)
    made = with_figures(report(*three("intel"), *shared), intel=3)
    assert cautions(made) == (
        (
            "Worker us-central1-a/1 ran 3 of these tasks, so they are not independent; "
            "some at the same time, which slows each of them; amd-16's count as one worker."
        ),
    )


def test_a_preempted_run_stands_in():
    """It is named beside the table and on its worker's line, and so is what is not compared."""
    preempted = sample_report.worker(
        "amd-16",
        40,
        None,
        state="exception",
        reason="worker-shutdown",
        completed=False,
        incomplete_reason="still running",
    )
    made = with_figures(report(*three("amd-16"), preempted), amd_16=3)
    assert cells(made) == {"amd-16": ("4", "3 of 4", "enough")}
    assert cautions(made) == (
        (
            "amd-16: 1 of its 4 workers is not compared, because a validity rule refuses their "
            "measurements."
        ),
        (
            f"amd-16: task {preempted.task_id} run 0 was preempted (worker-shutdown); what it "
            "measured until then is used."
        ),
    )
    (runs,) = tables(section(made, "Workers")[2:])
    assert rows(runs)["amd-16"][3] == "was preempted (worker-shutdown), incomplete: still running"


def test_all_candidates_decided():
    """Then the baseline has enough."""
    made = report()
    part = made.subjects[0]
    comparisons = tuple(
        replace(one, verdict=Verdict.EQUIVALENT, advice=None) for one in part.comparisons
    )
    made = replace(made, subjects=(replace(part, comparisons=comparisons),))
    assert {row[2] for row in cells(made).values()} == {"enough"}


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
    report = sample_report.seed_case(10)
    url = "https://ci.example/o/r/runs/7?job=2#log_a"
    jobs = tuple(replace(line, url=url) for line in report.workers[:1])
    shown = rendered(replace(report, workers=(*jobs, *report.workers[1:])), form, details=True)
    assert " ".join(shown.split()).count(link.replace("{url}", url)) == 1
