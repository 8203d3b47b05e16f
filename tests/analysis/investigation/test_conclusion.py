# SPDX-License-Identifier: MPL-2.0
"""What is concluded from findings: each gate from both sides, and no change unless all agree."""

from typing import Any

import pytest
from msgspec.structs import replace
from sample_investigation import EXPLAINED, FORECAST, MACHINES, ONE_DISK, SLOWER, slowness

from io_benchmark.analysis.investigation.conclusion import conclude
from io_benchmark.analysis.investigation.investigation_model import (
    BothPools,
    Conclusion,
    Explanation,
    Findings,
    Forecast,
    Outcome,
    Reason,
    Slowness,
)
from io_benchmark.analysis.model.cause import (
    DiskChange,
    Remedy,
    Resource,
    Target,
)
from io_benchmark.analysis.model.comparison import Advice, Interval, Verdict
from io_benchmark.analysis.model.pool_machine import NetworkDisk
from io_benchmark.analysis.model.statements import statement
from io_benchmark.report.content import text_of


def concluded(
    times: Slowness = SLOWER,
    explanation: Explanation | None = EXPLAINED,
    forecast: Forecast | None = FORECAST,
) -> Conclusion:
    conclusion = conclude(Findings(times, MACHINES, explanation, forecast))
    assert conclusion is not None
    return conclusion


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
    explanation = replace(EXPLAINED, machine_types=BothPools(own_type, "c2-standard-16"))
    conclusion = concluded(SLOWER, explanation)
    assert conclusion.fix is not None
    assert (conclusion.outcome, conclusion.fix.target) == (Outcome.CHANGE, Target.POOL)
    assert fix(explanation) == expected
    assert "supported by facts and times, without a trial" in text_of(conclusion.certainty)


@pytest.mark.parametrize("name", ["disk-size", "network-disk"])
def test_a_larger_network_disk(name: str) -> None:
    """The disk of the definition is replaced; without one, no change is proposed."""
    disk, new_disk = NetworkDisk("pd-standard", 75), NetworkDisk("pd-ssd", 75)
    assert ONE_DISK.remedy is not None
    remedy = replace(ONE_DISK.remedy, disk_change=DiskChange(disk, new_disk))
    made = concluded(SLOWER, caused(name, remedy)).fix
    assert made is not None
    assert (made.target, made.network_disk, made.new_network_disk) == (Target.POOL, disk, new_disk)
    assert (made.new_machine_type, made.local_ssds_to_add) == ("", 0)
    assert concluded(SLOWER, caused(name)).outcome is Outcome.OPEN


EQUAL, OPEN_TIMES = slowness(verdict=Verdict.EQUIVALENT), slowness(verdict=Verdict.INCONCLUSIVE)
SET_UP, SMALL = {"set_up_s": 300.0}, slowness(1.06)
GREW: dict[str, Any] = {"since": "2026-03-01", "growth": 1.5, "grew_everywhere": True}
BY_CPU = replace(FORECAST, added_s={Resource.DISKS: 10.0, Resource.CPU: 400.0})
SLOW_CPU = caused("cpu", None)
CHANGE, NOT_IO, NOTHING, OPEN = Outcome.CHANGE, Outcome.NOT_IO, Outcome.NOTHING, Outcome.OPEN


def equal(**details: Any) -> list[Slowness]:
    return [slowness(verdict=Verdict.EQUIVALENT, **details)]


def pending(time_s: float) -> list[Slowness]:
    return equal(parts_s={"pending_s": time_s, "work_s": 0.0})


def predicted(ratio: float | None, times: Slowness = SLOWER) -> list[Any]:
    return [times, EXPLAINED, replace(FORECAST, ratio=ratio)]


OUTCOMES = {
    # A slower task needs all steps; one that is not slower needs none.
    "only times": ([SLOWER], None),
    "no prediction": ([SLOWER, EXPLAINED], None),
    "equivalent": ([EQUAL], NOTHING),
    "faster": ([slowness(verdict=Verdict.FASTER)], NOTHING),
    "inconclusive": ([OPEN_TIMES], OPEN),
    "not compared": ([replace(SLOWER, comparison=None)], OPEN),
    # Half of the difference is to be own work; where the parts are not known, it may be.
    "own work is half": ([slowness(parts_s=SET_UP | {"work_s": 221.0})], None),
    "own work is less": ([slowness(parts_s=SET_UP | {"work_s": 219.0})], NOT_IO),
    "own work is not known": ([slowness(parts_s=SET_UP)], None),
    # From a tenth of the time on, the pool's capacity is what to look at.
    "a tenth is pending": (pending(145.0), NOT_IO),
    "less is pending": (pending(143.0), NOTHING),
    # More work since a day on all pools is the task's own. It does not hide that one pool is
    # slower.
    "more work": (equal(**GREW), NOT_IO),
    "more work on one pool": (equal(**GREW | {"grew_everywhere": False}), NOTHING),
    "less work": (equal(**GREW | {"growth": 0.7}), NOTHING),
    "more work, and slower": ([slowness(**GREW)], None),
    # A prediction explains between half of the difference and twice of it: ln 1.44.
    "predicted less than half": (predicted(1.199), NOT_IO),
    "predicted half": (predicted(1.201), CHANGE),
    "predicted twice": (predicted(2.07), CHANGE),
    "predicted more than twice": (predicted(2.08), OPEN),
    "not predicted": (predicted(None), OPEN),
    # However small the difference is.
    "predicted less than 5 %": (predicted(1.049, SMALL), NOT_IO),
    "predicted 5 %": (predicted(1.051, SMALL), CHANGE),
    # A task that waits for CPUs gets no disks, and the other way round.
    "fewer disks, but it waits for CPUs": ([SLOWER, EXPLAINED, BY_CPU], OPEN),
    "a slow CPU, but it waits for disks": ([SLOWER, SLOW_CPU, FORECAST], OPEN),
}


@pytest.mark.parametrize(("findings", "outcome"), OUTCOMES.values(), ids=OUTCOMES)
def test_outcomes(findings: list[Any], outcome: Outcome | None) -> None:
    """None: a step is missing."""
    times, *others = findings
    conclusion = conclude(Findings(times, MACHINES, *others))
    assert (conclusion and conclusion.outcome) == outcome


def test_a_slow_set_up() -> None:
    """The answer names it; without any finding there is no answer."""
    conclusion = conclude(Findings(slowness(parts_s=SET_UP | {"work_s": 219.0})))
    assert conclusion is not None
    assert "by its set-up" in text_of(conclusion.answer)
    assert conclude(Findings()) is None


def test_a_slow_cpu() -> None:
    """The pool gets the other machine type, unless it has it."""
    assert fix(SLOW_CPU, BY_CPU) == ("c3d-standard-16-lssd", "c2-standard-16", 0)
    same_type = replace(SLOW_CPU, machine_types=BothPools("c2-standard-16", "c2-standard-16"))
    assert fix(same_type, BY_CPU) is None


@pytest.mark.parametrize("explanation", [caused("other-load"), caused("scheduler", None)])
def test_no_known_change(explanation: Explanation) -> None:
    """A cause that no change is known for, or has no remedy, is named."""
    conclusion = concluded(SLOWER, explanation)
    assert conclusion.outcome is Outcome.OPEN
    assert f"{explanation.reasons[0].cause.name} (supported)" in text_of(conclusion.answer)


@pytest.mark.parametrize(("workers", "noun"), [(1, "worker"), (2, "workers")])
def test_more_runs(workers: int, noun: str) -> None:
    """So many more workers are asked for as settle it; the machines' as well."""
    advice = Advice(Verdict.SLOWER, workers, 0.1, statement(""))
    assert OPEN_TIMES.comparison is not None
    times = replace(OPEN_TIMES, comparison=replace(OPEN_TIMES.comparison, advice=advice))
    (step,) = concluded(times).next_steps
    expected = (
        f"run the task on {workers} more {noun} per pool, or give a table of more runs by --runs"
    )
    assert text_of(step) == expected
    machines = compared(
        replace(EXPLAINED, reasons=()),
        verdict=Verdict.INCONCLUSIVE,
        interval=Interval(0.9, 1.9, 0.95),
        advice=advice,
    )
    (step,) = concluded(SLOWER, machines).next_steps
    assert text_of(step) == f"measure {workers} more {noun} per pool"


@pytest.mark.parametrize(("high_ratio", "expected"), [(1.19, Outcome.NOT_IO), (1.21, Outcome.OPEN)])
def test_undecided_machines(high_ratio: float, expected: Outcome) -> None:
    """They are measured again, unless they are too alike to explain half of the difference."""
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
