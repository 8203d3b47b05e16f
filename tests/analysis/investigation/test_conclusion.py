# SPDX-License-Identifier: MPL-2.0
"""What is concluded from findings: each gate from both sides, and no change unless all agree."""

from typing import Any

import pytest
from msgspec.structs import replace
from sample_investigation import EXPLAINED, FORECAST, MACHINES, ONE_DISK, SLOWER, slowness

from io_benchmark.analysis.diagnosis_model import Remedy
from io_benchmark.analysis.investigation.conclusion import conclude
from io_benchmark.analysis.investigation.investigation_model import (
    Conclusion,
    Explanation,
    Findings,
    Forecast,
    Outcome,
    Reason,
    Resource,
    Slowness,
    Target,
)
from io_benchmark.analysis.model import Advice, Interval, Verdict
from io_benchmark.analysis.statements import statement
from io_benchmark.report.content import text_of


def concluded(
    times: Slowness = SLOWER,
    explanation: Explanation | None = EXPLAINED,
    forecast: Forecast | None = FORECAST,
) -> Conclusion:
    conclusion = conclude(Findings(times, MACHINES, explanation, forecast))
    assert conclusion is not None
    return conclusion


def outcome(times: Slowness, *findings: Any) -> Outcome | None:
    conclusion = conclude(Findings(times, MACHINES, *findings))
    return None if conclusion is None else conclusion.outcome


def fix(explanation: Explanation, forecast: Forecast = FORECAST) -> tuple[str, str, int] | None:
    """Return the machine types and disks of the change; None where nothing is changed."""
    made = concluded(SLOWER, explanation, forecast).fix
    if made is None:
        return None
    return made.machine_type, made.new_machine_type, made.local_ssds_to_add


def caused(name: str, remedy: Remedy | None = ONE_DISK.remedy) -> Explanation:
    reason = Reason(replace(ONE_DISK.cause, name=name), remedy)
    return replace(EXPLAINED, reasons=(reason,))


def compared(explanation: Explanation = EXPLAINED, **changes: Any) -> Explanation:
    assert explanation.comparison is not None
    return replace(explanation, comparison=replace(explanation.comparison, **changes))


@pytest.mark.parametrize(
    ("own_type", "expected"),
    [
        ("c3d-standard-16-lssd", ("c3d-standard-16-lssd", "c3d-standard-30-lssd", 0)),
        # Where the number of local SSDs is free, one is added.
        ("n2-standard-16", ("n2-standard-16", "", 1)),
    ],
)
def test_change(own_type, expected):
    """Times, cause and demand agree: the next larger machine type, or a disk more."""
    explanation = replace(EXPLAINED, machine_types=(own_type, "c2-standard-16"))
    conclusion = concluded(SLOWER, explanation)
    assert conclusion.fix is not None
    assert (conclusion.outcome, conclusion.fix.target) == (Outcome.CHANGE, Target.POOL)
    assert fix(explanation) == expected
    assert "supported by facts and times, without a trial" in text_of(conclusion.certainty)


def test_each_step_is_needed() -> None:
    """A slower task needs all steps; one that is not slower needs none."""
    assert conclude(Findings()) is None
    assert outcome(SLOWER) is None
    assert outcome(SLOWER, EXPLAINED) is None
    for verdict in (Verdict.EQUIVALENT, Verdict.FASTER):
        assert outcome(slowness(verdict=verdict)) is Outcome.NOTHING
    assert outcome(slowness(verdict=Verdict.INCONCLUSIVE)) is Outcome.OPEN
    assert outcome(replace(SLOWER, comparison=None)) is Outcome.OPEN


def test_half_of_the_difference_is_own_work() -> None:
    """With less, the set-up is slow and no disk; where the parts are not known, it may be own work."""
    for parts_s in ({"work_s": 221.0}, {}):
        assert outcome(slowness(parts_s={"set_up_s": 300.0} | parts_s)) is None
    conclusion = conclude(Findings(slowness(parts_s={"set_up_s": 300.0, "work_s": 219.0})))
    assert conclusion is not None
    assert conclusion.outcome is Outcome.NOT_IO
    assert "by its set-up" in text_of(conclusion.answer)


def test_a_tenth_of_the_time_is_pending() -> None:
    """Then the pool's capacity is what to look at."""
    for pending_s, expected in ((145.0, Outcome.NOT_IO), (143.0, Outcome.NOTHING)):
        parts_s = {"pending_s": pending_s, "work_s": 0.0}
        assert outcome(slowness(verdict=Verdict.EQUIVALENT, parts_s=parts_s)) is expected


@pytest.mark.parametrize(
    ("growth", "grew_everywhere", "expected"),
    [(1.5, True, Outcome.NOT_IO), (1.5, False, Outcome.NOTHING), (0.7, True, Outcome.NOTHING)],
)
def test_more_work_since_a_day(growth: float, grew_everywhere: bool, expected: Outcome) -> None:
    """On all pools, and more: the task's own. It does not hide that one pool is slower."""
    change: Any = {"since": "2026-03-01", "growth": growth, "grew_everywhere": grew_everywhere}
    assert outcome(slowness(verdict=Verdict.EQUIVALENT, **change)) is expected
    assert outcome(slowness(**change)) is None


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
    assert outcome(SLOWER, EXPLAINED, replace(FORECAST, ratio=ratio)) is expected


def test_small_gain() -> None:
    """A prediction of less than 5 % is no reason to change, however small the difference is."""
    small = slowness(1.06)
    assert outcome(small, EXPLAINED, replace(FORECAST, ratio=1.049)) is Outcome.NOT_IO
    assert outcome(small, EXPLAINED, replace(FORECAST, ratio=1.051)) is Outcome.CHANGE


def test_cause_of_another_resource() -> None:
    """A task that waits for CPUs gets no disks, and the other way round."""
    cpu = replace(FORECAST, added_s={Resource.DISKS: 10.0, Resource.CPU: 400.0})
    assert outcome(SLOWER, EXPLAINED, cpu) is Outcome.OPEN
    slow_cpu = caused("cpu", None)
    assert outcome(SLOWER, slow_cpu, FORECAST) is Outcome.OPEN
    assert fix(slow_cpu, cpu) == ("c3d-standard-16-lssd", "c2-standard-16", 0)
    assert fix(replace(slow_cpu, machine_types=("c2-standard-16",) * 2), cpu) is None


@pytest.mark.parametrize("explanation", [caused("other-load"), caused("scheduler", None)])
def test_no_known_change(explanation: Explanation) -> None:
    """A cause that no change is known for, or has no remedy, is named."""
    conclusion = concluded(SLOWER, explanation)
    assert conclusion.outcome is Outcome.OPEN
    assert f"{explanation.reasons[0].cause.name} (supported)" in text_of(conclusion.answer)


@pytest.mark.parametrize(("high_ratio", "expected"), [(1.19, Outcome.NOT_IO), (1.21, Outcome.OPEN)])
def test_undecided_machines(high_ratio: float, expected: Outcome) -> None:
    """They are measured again, unless they differ by too little to explain half of the difference."""
    undecided = compared(
        replace(EXPLAINED, reasons=()),
        verdict=Verdict.INCONCLUSIVE,
        interval=Interval(0.9, high_ratio, 0.95),
        advice=Advice(Verdict.SLOWER, 6, 0.1, statement("")),
    )
    conclusion = concluded(SLOWER, undecided, replace(FORECAST, ratio=1.01))
    assert conclusion.outcome is expected
    steps = [text_of(step) for step in conclusion.next_steps]
    assert steps == (["measure 6 more workers per pool"] if expected is Outcome.OPEN else [])


def test_mixed_pool() -> None:
    """Its definition is changed although the whole pool is undecided; the slower type goes."""
    mixed = replace(caused("mixed-pool"), slower_machine_type="n2-standard-16")
    assert fix(compared(mixed, verdict=Verdict.INCONCLUSIVE)) == ("n2-standard-16", "", 0)


def test_refused_comparison() -> None:
    """What the results lack is what decides it."""
    steps = (statement("measure it again"),)
    assert concluded(SLOWER, Explanation(None, open_questions=steps), None).next_steps == steps
