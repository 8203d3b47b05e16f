# SPDX-License-Identifier: MPL-2.0
"""Workers that do not belong to their pool."""

import divided_reports
import pytest
from msgspec.structs import replace
from written import lines, screen, section

from io_benchmark.analysis.model import Subject, Verdict
from io_benchmark.analysis.report_model import Report, SingleWorker


def worker() -> SingleWorker:
    (only,) = divided_reports.one_bad_worker().single_workers
    return only


def report(*workers: SingleWorker) -> Report:
    return replace(divided_reports.one_bad_worker(), single_workers=workers)


def answer(whole: Report) -> str:
    """The answer about the only worker, without what to try."""
    found = lines(section(whole, "Answer"))
    return found[found.index("Workers that do not belong to their pool") + 1]


@pytest.mark.parametrize(
    ("count", "counted"), [(2, []), (3, ["- and 1 more worker that does not belong to their pool"])]
)
def test_a_screen_names_two(count: int, counted: list[str]) -> None:
    """Further workers are counted there."""
    others = (replace(worker(), machine=f"machine-{number}") for number in range(count))
    found = [line for line in screen(report(*others)) if "pool" in line and "worker" in line]
    alone = [line for line in found if " alone takes " in line]
    assert (len(alone), [line for line in found if "belong" in line]) == (2, counted)


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
    found = answer(several)
    assert "its pool on cache-retrieve, overwrite in workspace (4 other workers; " in found
    assert "Also 1.50× on cache-retrieve, fresh in workspace; 1.40× on spawn" in found


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        pytest.param(
            Verdict.EQUIVALENT,
            "The verdict stays equivalent: it counts all workers, and does not blame the pool",
            id="not different",
        ),
        pytest.param(
            Verdict.SLOWER,
            "The verdict stays slower: it counts all workers. A cause that only this worker has does",
            id="different",
        ),
    ],
)
def test_the_verdict_stays(verdict: Verdict, expected: str) -> None:
    """Whatever the verdict is, it counts all workers; without a comparison nothing is said of one."""
    whole = report(worker())
    (subject,) = whole.subjects
    comparisons = tuple(replace(each, verdict=verdict) for each in subject.comparisons)
    decided = replace(whole, subjects=(replace(subject, comparisons=comparisons),))
    assert expected in answer(decided)
    alone = replace(whole, subjects=(replace(subject, comparisons=()),))
    assert "The verdict stays" not in answer(alone)
