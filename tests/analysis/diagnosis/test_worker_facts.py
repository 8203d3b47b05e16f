# SPDX-License-Identifier: MPL-2.0
"""Facts on some workers of a side: a cause must hold for those that are slow, and only for those."""

from collections.abc import Mapping

import divided_reports
import pytest
from msgspec.structs import replace
from seed_workers import SUBJECT, explanation_text, workers
from simulated_cases import BASE, TRUTHS, disks
from simulated_machine import Machine
from simulated_push import Pool

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.effects import NOT_MEASURED, Effect, Size
from io_benchmark.analysis.diagnosis.rules import CauseRule, _has_fact
from io_benchmark.analysis.diagnosis_model import Cause, State
from io_benchmark.analysis.model import DIFFERENT
from io_benchmark.analysis.observed.runs import Run
from io_benchmark.analysis.observed.sides import Side

WORKERS = 5
SUPPORTED, RULED_OUT = State.SUPPORTED, State.RULED_OUT
ONE_DISK = TRUTHS["one disk"].change(BASE)
ONE_FAST_DISK = disks(1, write_mib_per_s=800.0)(BASE)


def causes(
    slow: Machine,
    slow_exceptions: Mapping[int, Machine],
    fast_exceptions: Mapping[int, Machine] | None = None,
) -> dict[str, Cause]:
    """The causes by name; the numbered workers have other machines than the rest of their pool."""
    report = divided_reports.of_pools(
        Pool("amd-16", slow, WORKERS, slow_exceptions),
        Pool("intel", BASE, WORKERS, fast_exceptions),
    )
    assert report.subjects[0].comparisons[0].verdict in DIFFERENT
    return {cause.name: cause for cause in report.diagnoses[0].causes}


def test_workers_of_the_faster_side_have_it_too() -> None:
    """Two of them are as fast with one disk."""
    cause = causes(ONE_DISK, {}, {1: ONE_FAST_DISK, 3: ONE_FAST_DISK})["device-count"]
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
