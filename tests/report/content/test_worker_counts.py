# SPDX-License-Identifier: MPL-2.0
"""How many workers each pool had, how many of them count, and how many a verdict still needs."""

import pytest
import sample_report
from msgspec.structs import replace
from written import lines, rows, section, tables

from io_benchmark.analysis.model import Advice, Verdict, WorkerLine
from io_benchmark.analysis.report_model import Report, SampledReport
from io_benchmark.analysis.statements import statement
from io_benchmark.report.formats import Layout, rendered


def report(*workers: WorkerLine, compared: dict[str, int] | None = None) -> SampledReport:
    """The seed's case, where amd-16 is decided and amd-30 needs 53 more; so many are compared."""
    made = sample_report.seed_case()
    (part,) = made.subjects
    figures = {
        side: replace(one, workers=(compared or {}).get(side, one.workers))
        for side, one in part.figures.items()
    }
    return sample_report.counted(
        replace(
            made,
            workers=workers or made.workers,
            subjects=(replace(part, figures=figures),),
        )
    )


def never_settled() -> SampledReport:
    """The seed's case, where more workers would not settle what is not decided."""
    made = report()
    (part,) = made.subjects
    slower, undecided = part.comparisons
    advice = Advice(Verdict.EQUIVALENT, None, 0.05, statement("never"))
    part = replace(part, comparisons=(slower, replace(undecided, advice=advice)))
    return sample_report.counted(replace(made, subjects=(part,)))


def cells(made: Report) -> dict[str, tuple[str, ...]]:
    """What the table has of each side: runs, workers, workers needed."""
    return rows(tables(section(made, "Workers per pool"))[0])


def three(side: str) -> list[WorkerLine]:
    number = {"intel": 10, "amd-30": 20, "amd-16": 30}[side]
    return [sample_report.worker(side, number + at) for at in range(3)]


MORE = "53 more, 54 in total"


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        pytest.param(
            report(*three("intel"), *three("amd-30")[:1], compared={"intel": 60}),
            {"intel": "enough here, too few in another pool", "amd-30": MORE},
            id="what is enough in one pool may be too few in another",
        ),
        pytest.param(
            never_settled(),
            {**dict.fromkeys(("intel", "amd-30"), "more would not settle it"), "amd-16": "enough"},
            id="not by repetition",
        ),
        pytest.param(
            sample_report.refused(),
            dict.fromkeys(("intel", "amd-16"), "no verdict"),
            id="everything is refused",
        ),
    ],
)
def test_workers_needed(made: Report, expected: dict[str, str]) -> None:
    """Each pool's own number, counted from the pool with fewest; none where none would do."""
    assert {side: needed for side, (_, _, needed) in cells(made).items()} == expected


def test_a_preempted_run_stands_in() -> None:
    """It is named beside the table, which counts it, and on its worker's line."""
    ended = {"state": "exception", "reason": "worker-shutdown", "completed": False}
    preempted = sample_report.worker("amd-16", 40, incomplete_reason="still running", **ended)
    made = report(*three("amd-16"), preempted, compared={"amd-16": 3})
    assert cells(made) == {"amd-16": ("4", "3 of 4", "enough")}
    ended_text = "was preempted (worker-shutdown); what it measured until then is used."
    found = lines(section(made, "Workers per pool"))
    assert f"! amd-16: task {preempted.task_id} run 0 {ended_text}" in found
    (runs,) = tables(section(made, "Workers")[2:])
    assert rows(runs)["amd-16"][3] == "was preempted (worker-shutdown), incomplete: still running"


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
    made = report()
    url = "https://ci.example/o/r/runs/7?job=2#log_a"
    jobs = tuple(replace(line, url=url) for line in made.workers[:1])
    shown = rendered(replace(made, workers=(*jobs, *made.workers[1:])), form, Layout(details=True))
    assert " ".join(shown.split()).count(link.replace("{url}", url)) == 1
