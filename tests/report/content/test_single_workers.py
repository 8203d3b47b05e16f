# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Workers that do not belong to their pool: their answers, in every format that people read."""

import divided_reports
import pytest
from msgspec.structs import replace

from io_benchmark.analysis.model import UNKNOWN, Subject, Verdict
from io_benchmark.analysis.report_model import Report, SingleWorker
from io_benchmark.report.content import single_workers
from io_benchmark.report.formats.output import rendered


def worker() -> SingleWorker:
    (only,) = divided_reports.one_bad_worker().single_workers
    return only


def report(*workers: SingleWorker) -> Report:
    return replace(divided_reports.one_bad_worker(), single_workers=workers)


def answer(*workers: SingleWorker) -> str:
    """The answer about one worker, without what to try."""
    (only,) = single_workers.answers_of(report(*workers))
    return f"{only.lead} {only.rest}"


@pytest.mark.parametrize("name", ["text", "markdown", "html"])
def test_every_format_names_it(name: str) -> None:
    """In the answer, with its part, its causes and what to try; the pool has no supported cause."""
    text = rendered(report(worker()), name, details=True)
    for expected in (
        "Workers that do not belong to their pool",
        "alone is 1.95× its pool",
        "replace this worker, or set it up as the rest of its pool",
        "per retrieve against the rest of amd-16",
        "is slower than the rest of amd-16",
    ):
        assert expected in " ".join(text.split())


def test_the_sentence() -> None:
    """Why, what the verdict is, and what it would be without the worker."""
    assert answer(worker()) == (
        "worker us-central1-f/141834572747825 of amd-16 (task wRy5QqWwjMF5-yzYYTLgz5.0) alone is "
        "1.95× its pool (4 other workers; equal ones stay within 0.75 to 1.33): 1 disk against 2 "
        "disks, striped explains 99 %. The verdict stays inconclusive: it counts all workers, and "
        "does not blame the pool for this one. Without it, amd-16 compared with intel is at 1.02× "
        "(95 % interval 0.987 to 1.064). That is information and not a verdict, because the worker "
        "is chosen by its time."
    )


def test_a_machine_type_and_several_tasks() -> None:
    """Both are named; of a machine without a name, the tasks are."""
    named = replace(worker(), instance_type="c2-standard-16", tasks=("A.0", "B.1"))
    assert "amd-16 (task A.0, B.1, machine c2-standard-16) alone" in answer(named)
    unknown = replace(worker(), machine=UNKNOWN, tasks=("A.0",))
    assert answer(unknown).startswith("a worker of amd-16 (task A.0) alone is 1.95× its pool (4")


def test_further_measurements() -> None:
    """One answer per worker: the measurement that is explained leads."""
    fresh, spawn = (
        replace(worker(), diagnosis=None, subject=subject, ratio=ratio)
        for subject, ratio in (
            (replace(worker().subject, destination="fresh"), 1.5),
            (Subject("spawn", "workspace", variant="posix-spawn"), 1.4),
        )
    )
    first = divided_reports.one_bad_worker().subjects[0]
    several = replace(
        report(fresh, worker(), spawn),
        subjects=tuple(replace(first, subject=each.subject) for each in (worker(), fresh, spawn)),
    )
    (only,) = single_workers.answers_of(several)
    assert only.rest.startswith("on cache-retrieve, overwrite in workspace (4 other workers; ")
    assert "Also 1.50× on cache-retrieve, fresh in workspace; 1.40× on spawn" in only.rest


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        pytest.param(
            Verdict.EQUIVALENT,
            "The verdict stays equivalent: it counts all workers, and does not blame the pool for "
            "this one.",
            id="not different",
        ),
        pytest.param(
            Verdict.SLOWER,
            "The verdict stays slower: it counts all workers. A cause that only this worker has does "
            "not count for its pool.",
            id="different",
        ),
    ],
)
def test_the_verdict_stays(verdict: Verdict, expected: str) -> None:
    """Whatever the verdict is, it counts all workers."""
    whole = report(worker())
    (subject,) = whole.subjects
    comparisons = tuple(replace(each, verdict=verdict) for each in subject.comparisons)
    decided = replace(whole, subjects=(replace(subject, comparisons=comparisons),))
    (only,) = single_workers.answers_of(decided)
    assert expected in only.rest


def test_a_pool_that_is_not_compared() -> None:
    """A worker is named, too, where its pool is the only one."""
    whole = report(replace(worker(), without=()))
    (subject,) = whole.subjects
    alone = replace(whole, subjects=(replace(subject, comparisons=()),))
    (only,) = single_workers.answers_of(alone)
    assert only.rest.endswith("striped explains 99 %.")


def test_a_faster_worker() -> None:
    """It is as little of its pool as a slower one."""
    (only,) = single_workers.answers_of(report(replace(worker(), ratio=0.5)))
    assert only.verdict == "faster"
    assert only.lead.endswith("alone is 0.50× its pool")
