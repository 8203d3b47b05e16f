# SPDX-License-Identifier: MPL-2.0
"""Facts on some workers of a side: a cause must hold for those that are slow, and only for those."""

import dataclasses

import divided_reports
import pytest
from msgspec.structs import replace
from seed_workers import SUBJECT, explanation_text, workers
from simulated_machine import Disk
from simulated_results import Pool
from situations import BASE, ONE_DISK

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.effects import NOT_MEASURED, Effect, Size
from io_benchmark.analysis.diagnosis.rules import CauseRule, _has_fact
from io_benchmark.analysis.diagnosis_model import State
from io_benchmark.analysis.observed.runs import Run
from io_benchmark.analysis.observed.sides import Side

WORKERS = 5
RULED_OUT = State.RULED_OUT
ONE_FAST_DISK = dataclasses.replace(BASE, disks=(Disk(800.0, 680.0),))


def test_workers_of_the_faster_side_have_it_too() -> None:
    """Two of them are as fast with one disk."""
    report = divided_reports.of_pools(
        Pool("amd-16", ONE_DISK, WORKERS),
        Pool("intel", BASE, WORKERS, dict.fromkeys((1, 3), ONE_FAST_DISK)),
    )
    (diagnosis,) = report.diagnoses
    (cause,) = (cause for cause in diagnosis.causes if cause.name == "device-count")
    assert (cause.state, explanation_text(cause)) == (
        RULED_OUT,
        "Fast in spite of this: 2 of 5 workers of the faster side.",
    )


@pytest.mark.parametrize(
    ("times", "has_fact"),
    [(8.1, True), (7.9, None), (2.1, None), (1.9, False), (1.0, False)],
)
def test_a_fact_of_some_size(times: float, has_fact: bool | None) -> None:
    """A worker has it with three quarters of its side's size, and lacks it with a quarter: 16-fold."""

    def judge(case: Case) -> Effect:
        size = case.slower.mean(lambda view: float(view.worker.machine))
        return NOT_MEASURED.supports("So it is.", Size(size or 0.0))

    (measured,) = workers(pools=["amd-16"])
    view = Run.of(replace(measured, machine=str(times)), SUBJECT)
    rule, nobody = CauseRule("", "", judge), Side.of([])
    of_side = NOT_MEASURED.supports("So it is.", Size(16.0))
    case = Case(SUBJECT, 2.0, nobody, Side.of([view]))
    assert _has_fact(rule, case, of_side, [view], nobody) is has_fact
