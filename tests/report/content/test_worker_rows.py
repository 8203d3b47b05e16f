# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""How many workers each pool had, how many of them count, and how many a verdict still needs."""

import pytest
import sample_report
from msgspec.structs import replace

from io_benchmark.analysis.model import Severity, Verdict
from io_benchmark.analysis.report_model import Replication, Standing
from io_benchmark.report.content import document
from io_benchmark.report.formats.output import rendered


def report(*workers, **changes):
    """The seed's case, where amd-16 is decided and amd-30 needs 12 more workers."""
    made = sample_report.seed_case(5)
    return sample_report.counted(replace(made, workers=workers or made.workers, **changes))


def counts(made):
    return made.replication


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
    rows = document.build(made).workers.replication
    assert [(row.side, row.cells[2]) for row in rows] == [
        ("intel", "enough here, too few in another pool"),
        ("amd-30", "12 more, 13 in total"),
    ]


def test_not_by_repetition():
    """No number is given where none would do."""
    made = report()
    part = made.subjects[0]
    comparisons = tuple(
        replace(one, advice=replace(one.advice, workers_to_add=None)) if one.advice else one
        for one in part.comparisons
    )
    made = sample_report.counted(replace(made, subjects=(replace(part, comparisons=comparisons),)))
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
    assert document.build(made).workers.cautions == (
        (
            "Worker us-central1-a/1 ran 3 of these tasks, so they are not independent; "
            "amd-16's count as one worker."
        ),
    )


@pytest.mark.parametrize(
    ("ids", "machine", "who"),
    [
        pytest.param(["a/1"] * 3, "a/1", "Worker a/1", id="one worker"),
        pytest.param(
            ["a/1", "a/2", "a/3"],
            "a/1",
            "One machine, with the workers a/1, a/2, a/3,",
            id="several workers with one boot id",
        ),
        pytest.param(
            ["unknown"] * 3,
            "with boot id 0c7e2f4a",
            "The machine with boot id 0c7e2f4a",
            id="bare files",
        ),
    ],
)
def test_who_ran_several_tasks(ids, machine, who):
    """Only a worker that ran them all is named as the one that did."""
    lines = [
        replace(line, worker_id=worker_id, machine=machine)
        for line, worker_id in zip(three("amd-16"), ids, strict=True)
    ]
    (caution,) = document.build(report(*three("intel"), *lines, subjects=())).workers.cautions
    assert caution.startswith(f"{who} ran 3 of these tasks, so they are not independent")


def test_runs_at_the_same_time():
    """What slows both of two runs is said next to the answer."""
    shared = three("amd-16", worker_id="us-central1-a/1", at_once=True)
    made = with_figures(report(*three("intel"), *shared), intel=3)
    assert document.build(made).workers.cautions == (
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
    built = document.build(made)
    assert [(row.side, row.cells) for row in built.workers.replication] == [
        ("amd-16", ("4", "3 of 4", "enough"))
    ]
    assert built.workers.cautions == (
        (
            "amd-16: 1 of its 4 workers is not compared, because a validity rule refuses their "
            "measurements."
        ),
        (
            f"amd-16: task {preempted.task_id} run 0 was preempted (worker-shutdown); what it "
            "measured until then is used."
        ),
    )
    assert (
        built.workers.rows[3].state == "was preempted (worker-shutdown), incomplete: still running"
    )


@pytest.mark.parametrize(
    ("sides", "consequence"),
    [
        pytest.param(("amd-16",), "This run is left out.", id="others of its side count"),
        pytest.param(("intel", "amd-16"), "No verdict is given.", id="both sides"),
        pytest.param(("amd-64",), "No verdict is given.", id="nothing of its side counts"),
    ],
)
def test_a_refused_run_leaves_the_others(sides, consequence):
    """No verdict is denied that is given two lines above."""
    made = report()
    problem = replace(made.problems[0], severity=Severity.REFUSED, sides=sides)
    built = document.build(replace(made, problems=(problem,)))
    assert [refusal.consequence for refusal in built.notes.refusals] == [consequence]


@pytest.mark.parametrize("width", [40, 60, 80])
def test_on_a_terminal_nothing_is_wider(width):
    """As a table where it fits, else as sentences."""
    names = {"amd-16": "a" * 60, "amd-30": "b" * 60}
    made = report(*three("intel"), *three("amd-16"), *three("amd-30"))
    for old, new in names.items():
        made = sample_report.renamed(made, old, new)
    text = sample_report.on_terminal(made, width)
    lines = text.partition("Workers per pool\n")[2].partition("cache-retrieve")[0].splitlines()
    assert max(map(len, lines)) <= width
    assert ("Pool" in lines[1].split()) is (width > 40)


@pytest.mark.parametrize("name", ["text", "markdown", "html", "json"])
def test_in_every_format(name):
    """The number that is needed stands in each."""
    text = rendered(report(), name, details=True)
    wanted = '"workers_to_add": 12' if name == "json" else "12 more, 13 in total"
    assert wanted in text


def test_all_candidates_decided():
    """Then the baseline has enough."""
    made = report()
    part = made.subjects[0]
    comparisons = tuple(
        replace(one, verdict=Verdict.EQUIVALENT, advice=None) for one in part.comparisons
    )
    made = sample_report.counted(replace(made, subjects=(replace(part, comparisons=comparisons),)))
    assert {row.cells[2] for row in document.build(made).workers.replication} == {"enough"}


@pytest.mark.parametrize(
    ("form", "link"),
    [
        ("html", '(<a href="{url}" rel="external nofollow noreferrer">job on ci.example</a>)'),
        ("markdown", "([job on ci.example]({url}))"),
        ("text", "; job {url}"),
    ],
)
def test_the_job_on_another_ci_system(form: str, link: str) -> None:
    """Its link names the host, since anyone may have written it."""
    report = sample_report.seed_case(10)
    url = "https://ci.example/o/r/runs/7?job=2#log_a"
    jobs = tuple(replace(line, url=url) for line in report.workers[:1])
    shown = rendered(replace(report, workers=(*jobs, *report.workers[1:])), form, details=True)
    assert " ".join(shown.split()).count(link.replace("{url}", url)) == 1
