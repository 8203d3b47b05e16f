# SPDX-License-Identifier: MPL-2.0
"""What is concluded from findings: each gate from both sides, and no change unless all agree."""

from typing import Any

import pytest
from msgspec.structs import replace
from sample_investigation import EXPLAINED, FORECAST, MACHINES, ONE_DISK, SLOWER

from io_benchmark.analysis.investigation.conclusion import conclude
from io_benchmark.analysis.investigation.investigation_model import (
    Change,
    Explanation,
    Findings,
    Forecast,
    Outcome,
    Reason,
    Resource,
    Slowness,
    Target,
)
from io_benchmark.analysis.model import Verdict
from io_benchmark.report.content import text_of


def concluded(
    slowness: Slowness = SLOWER,
    explanation: Explanation | None = EXPLAINED,
    forecast: Forecast | None = FORECAST,
) -> Any:
    """Return the conclusion, or None while a step is missing."""
    return conclude(
        Findings(slowness=slowness, machines=MACHINES, explanation=explanation, forecast=forecast)
    )


def outcome(*findings: Any) -> Any:
    conclusion = concluded(*findings)
    return conclusion and conclusion.outcome


def test_change() -> None:
    """Times, cause and demand agree: the next larger machine type."""
    conclusion = concluded()
    remedy = conclusion.remedy
    assert (conclusion.outcome, remedy.target) == (Outcome.CHANGE, Target.POOL)
    assert (remedy.machine_type, remedy.new_machine_type, remedy.local_ssds_to_add) == (
        "c3d-standard-16-lssd",
        "c3d-standard-30-lssd",
        0,
    )
    assert "supported by facts and times, without a trial" in text_of(conclusion.certainty)


def test_each_step_is_needed() -> None:
    """A slower task needs all steps; one that is not slower needs none."""
    assert conclude(Findings()) is None
    assert outcome(SLOWER, None, None) is None
    assert outcome(SLOWER, EXPLAINED, None) is None
    assert outcome(replace(SLOWER, verdict=Verdict.EQUIVALENT), None, None) is Outcome.NOTHING
    assert outcome(replace(SLOWER, verdict=Verdict.FASTER), None, None) is Outcome.NOTHING
    assert outcome(replace(SLOWER, verdict=Verdict.INCONCLUSIVE), None, None) is Outcome.OPEN
    assert outcome(replace(SLOWER, reference=None), None, None) is Outcome.OPEN


@pytest.mark.parametrize(
    ("work_s", "is_set_up"), [(219.0, True), (221.0, False), (None, False)]
)  # fmt: skip
def test_half_of_the_difference_is_own_work(work_s: float | None, is_set_up: bool) -> None:
    """With less, the set-up is slow and no disk; where the parts are not known, it may be own work."""
    parts_s = {"set-up": 300.0} | ({} if work_s is None else {"own work": work_s})
    conclusion = concluded(replace(SLOWER, parts_s=parts_s), None, None)
    assert (conclusion is not None) is is_set_up
    if conclusion is not None:
        assert conclusion.outcome is Outcome.NOT_IO
        assert "by its set-up" in text_of(conclusion.answer)


@pytest.mark.parametrize(
    ("pending_s", "expected"), [(145.0, Outcome.NOT_IO), (143.0, Outcome.NOTHING)]
)
def test_a_tenth_of_the_time_is_pending(pending_s: float, expected: Outcome) -> None:
    """Then the pool's capacity is what to look at."""
    parts_s = {"pending": pending_s, "own work": 0.0}
    assert (
        outcome(replace(SLOWER, verdict=Verdict.EQUIVALENT, parts_s=parts_s), None, None)
        is expected
    )


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (Change(date="2026-03-01", ratio=1.5, is_everywhere=True), Outcome.NOT_IO),
        (Change(date="2026-03-01", ratio=1.5, is_everywhere=False), Outcome.NOTHING),
        (Change(date="2026-03-01", ratio=0.7, is_everywhere=True), Outcome.NOTHING),
    ],
)
def test_more_work_since_a_day(change: Change, expected: Outcome) -> None:
    """On all pools, and more: the task's own. It does not hide that one pool is slower."""
    equal = replace(SLOWER, verdict=Verdict.EQUIVALENT, change=change)
    assert outcome(equal, None, None) is expected
    assert outcome(replace(SLOWER, change=change), None, None) is None


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [
        # Half of ln 1.44 is ln 1.2, twice of it ln 2.07.
        (1.199, Outcome.NOT_IO),
        (1.201, Outcome.CHANGE),
        (2.07, Outcome.CHANGE),
        (2.08, Outcome.OPEN),
        (None, Outcome.OPEN),
    ],
)
def test_prediction_explains_the_difference(ratio: float | None, expected: Outcome) -> None:
    """Between half and twice of it; otherwise nothing is changed."""
    forecast = replace(FORECAST, ratio=ratio, reason="no ceiling")
    assert outcome(SLOWER, EXPLAINED, forecast) is expected


def test_small_gain() -> None:
    """A prediction of less than 5 % is no reason to change, however small the difference is."""
    small = replace(SLOWER, ratio=1.06)
    assert outcome(small, EXPLAINED, replace(FORECAST, ratio=1.049)) is Outcome.NOT_IO
    assert outcome(small, EXPLAINED, replace(FORECAST, ratio=1.051)) is Outcome.CHANGE


def test_cause_of_another_resource() -> None:
    """A task that waits for CPUs gets no disks, and the other way round."""
    cpu = {Resource.DISKS: 10.0, Resource.CPU: 400.0}
    assert outcome(SLOWER, EXPLAINED, replace(FORECAST, added_s=cpu)) is Outcome.OPEN
    slow_cpu = replace(EXPLAINED, reasons=(replace(ONE_DISK, cause="cpu", action=""),))
    assert outcome(SLOWER, slow_cpu, FORECAST) is Outcome.OPEN
    conclusion = concluded(SLOWER, slow_cpu, replace(FORECAST, added_s=cpu))
    assert conclusion.remedy.new_machine_type == "c2-standard-16"
    alike = replace(slow_cpu, machine_types=("c2-standard-16", "c2-standard-16"))
    assert outcome(SLOWER, alike, replace(FORECAST, added_s=cpu)) is Outcome.OPEN


@pytest.mark.parametrize(
    "reason",
    [
        pytest.param(
            replace(ONE_DISK, cause="other-load"), id="a cause that no change is known for"
        ),
        pytest.param(replace(ONE_DISK, action=""), id="a cause without a remedy"),
    ],
)
def test_no_known_change(reason: Reason) -> None:
    """It is named, and nothing is changed."""
    conclusion = concluded(SLOWER, replace(EXPLAINED, reasons=(reason,)), FORECAST)
    assert conclusion.outcome is Outcome.OPEN
    assert f"{reason.cause} (supported)" in text_of(conclusion.answer)


@pytest.mark.parametrize(("high_ratio", "expected"), [(1.19, Outcome.NOT_IO), (1.21, Outcome.OPEN)])
def test_undecided_machines(high_ratio: float, expected: Outcome) -> None:
    """They are measured again, unless they differ by too little to explain half of the difference."""
    undecided = replace(
        EXPLAINED, verdict=Verdict.INCONCLUSIVE, high_ratio=high_ratio, workers_to_add=6, reasons=()
    )
    conclusion = concluded(SLOWER, undecided, replace(FORECAST, ratio=1.01))
    assert conclusion.outcome is expected
    steps = [text_of(step) for step in conclusion.next_steps]
    assert steps == (["measure 6 more workers per pool"] if expected is Outcome.OPEN else [])


def test_mixed_pool() -> None:
    """Its definition is changed although the whole pool is undecided; the slower type goes."""
    mixed = replace(
        EXPLAINED,
        verdict=Verdict.INCONCLUSIVE,
        reasons=(replace(ONE_DISK, cause="mixed-pool"),),
        slower_machine_type="n2-standard-16",
    )
    conclusion = concluded(SLOWER, mixed, FORECAST)
    assert (conclusion.remedy.machine_type, conclusion.remedy.new_machine_type) == (
        "n2-standard-16",
        "",
    )


def test_refused_comparison() -> None:
    """What the results lack is what decides it."""
    refused = Explanation(verdict=None, open_questions=("measure it again",))
    conclusion = concluded(SLOWER, refused, None)
    assert [text_of(step) for step in conclusion.next_steps] == ["measure it again"]


def test_other_machines_get_a_disk_more() -> None:
    """Where the number of local SSDs is free, one is added."""
    types = ("n2-standard-16", "c2-standard-16")
    conclusion = concluded(SLOWER, replace(EXPLAINED, machine_types=types), FORECAST)
    assert (conclusion.remedy.new_machine_type, conclusion.remedy.local_ssds_to_add) == ("", 1)
