# SPDX-License-Identifier: MPL-2.0
"""Causes of simulated machines: the right one is named, and no other; errors of earlier rules.

The machines are a physical model (`simulated_machine`), so that facts, times and counters belong
together. What is not observable by these facts may be missing; what is supported must be true.
"""

import divided_reports
import pytest
from simulated_cases import (
    BASE,
    CASES,
    FAST,
    ONE_BAD_WORKER,
    SLOW,
    Case,
    make,
)
from simulated_machine import PARTS
from simulated_push import Measured, Pool, measure

from io_benchmark.analysis.diagnosis_model import State
from io_benchmark.analysis.model import DIFFERENT
from io_benchmark.analysis.report_model import Report

RETRIEVES = 200
EQUAL_POOLS = 5
DECIDED = [case for case in CASES if case not in ONE_BAD_WORKER]


def report_of(case: Case, seed: int = 1) -> tuple[Report, dict[str, list[Measured]]]:
    sides = measure(case.pools(), seed, destination=case.destination, retrieves=RETRIEVES)
    return divided_reports.of_measured(sides, baseline=SLOW if case.swapped else FAST), sides


def names(report: Report, *states: State) -> list[str]:
    return [cause.name for cause in report.diagnoses[0].causes if cause.state in states]


def is_decided(report: Report) -> bool:
    return report.subjects[0].comparisons[0].verdict in DIFFERENT


@pytest.mark.parametrize("case", DECIDED, ids=lambda case: case.name)
def test_the_true_causes_and_no_other(case: Case) -> None:
    """Each truth is supported or not separable; the first remedy is for a truth, or for what both share.

    Each part of the time is within a tenth of the simulated truth, as a part of the whole difference.
    """
    report, sides = report_of(case)
    assert is_decided(report)
    assert set(names(report, State.SUPPORTED)) <= case.right
    known = set(names(report, State.SUPPORTED, State.NOT_SEPARABLE))
    # No fact shows what holds a copy without a disk: then no other cause is named either.
    assert known & case.right or known == case.right
    first_remedy = {remedy.cause for remedy in report.diagnoses[0].remedies[:1]}
    assert first_remedy <= case.right | {"ext4-flush"}
    (division,) = report.subjects[0].divisions
    mean = {
        side: {part: sum(each.run.mean_ns(part) for each in runs) / len(runs) for part in PARTS}
        for side, runs in sides.items()
    }
    for part in division.parts:
        name = f"{part.phase}_{part.kind}"
        truth_ns = mean[division.candidate][name] - mean[division.baseline][name]
        assert part.difference_ns == pytest.approx(
            truth_ns, abs=0.1 * abs(division.difference_ns)
        ), name


@pytest.mark.parametrize("case", ONE_BAD_WORKER, ids=lambda case: case.name)
def test_one_bad_worker_is_named_and_does_not_blame_its_pool(case: Case) -> None:
    """Four of its workers are as fast as the other pool's; the fifth has a cause of its own."""
    report, sides = report_of(case)
    assert names(report, State.SUPPORTED) == []
    (named,) = report.single_workers
    assert case.bad_worker is not None
    bad = sides[SLOW][case.bad_worker].document["task"]
    assert (named.side, named.tasks) == (SLOW, (f"{bad['task_id']}.{bad['run_id']}",))
    assert named.others == case.workers - 1
    assert named.diagnosis is not None
    supported = {each.name for each in named.diagnosis.causes if each.state is State.SUPPORTED}
    assert supported
    assert supported <= case.right
    assert named.diagnosis.remedies[0].cause in supported
    (without,) = named.without
    assert without.ratio == pytest.approx(1, abs=0.05)


def test_a_bad_worker_is_replaced_whatever_makes_it_slow() -> None:
    """A cap that nothing shows, and a scheduler that it alone has: one of the two, and still a bad worker."""
    case = make(("cap of the cloud",), ("bfq",), bad_worker=2, workers=5)
    (named,) = report_of(case)[0].single_workers
    assert named.diagnosis is not None
    states = {each.name: each.state for each in named.diagnosis.causes}
    assert {states["disk-speed"], states["scheduler"]} == {State.NOT_SEPARABLE}
    (remedy,) = named.diagnosis.remedies
    assert "replace this worker" in remedy.action.template


def test_equal_pools_have_neither_causes_nor_single_workers() -> None:
    """Five equal workers in each pool."""
    for seed in range(EQUAL_POOLS):
        pools = (Pool(SLOW, BASE, 5), Pool(FAST, BASE, 5))
        sides = measure(pools, seed, retrieves=RETRIEVES)
        report = divided_reports.of_measured(sides, baseline=FAST)
        assert report.single_workers == ()
        assert names(report, State.SUPPORTED) == []
