# SPDX-License-Identifier: MPL-2.0
"""What is concluded from logs where set-up is slower."""

from typing import Any

import pytest
import sample_investigation
from msgspec import UNSET
from msgspec.structs import replace

from io_benchmark.analysis.investigation.conclusion import conclude
from io_benchmark.analysis.investigation.investigation_model import Findings, Outcome
from io_benchmark.analysis.investigation.set_up import needs_logs
from io_benchmark.analysis.phases.phase_model import PhaseName, Waits
from io_benchmark.analysis.tasks.both_sides import BothSides
from io_benchmark.analysis.tasks.difference_model import PhaseDifference, PhasesOfPair, Reason
from io_benchmark.report.content import text_of

LOAD = PhaseDifference(
    phase=PhaseName.IMAGE_LOAD,
    reason=Reason.PACE,
    difference_s=300.0,
    interval_s=(250.0, 350.0),
    ratio=3.0,
    p_value=0.001,
    is_decided=True,
    waits=Waits.DISKS,
)
# Of 440 s.
PARTS_S = {"set_up_s": 400.0, "work_s": 40.0}


def slowness(*rows: PhaseDifference, parts_s: dict[str, float] | None = None) -> Any:
    pair = PhasesOfPair(
        baseline="fast",
        candidate="slow",
        runs=BothSides(12, 12),
        workers=BothSides(6, 6),
        set_up_s=BothSides(90.0, 490.0),
        phases=(),
        differences=rows,
    )
    made = sample_investigation.slowness(parts_s=PARTS_S if parts_s is None else parts_s)
    assert made.comparison is not None
    return replace(made, comparison=replace(made.comparison, difference_s=440.0), phases=pair)


def concluded(*rows: PhaseDifference, **others: Any) -> Any:
    return conclude(Findings(slowness(*rows, **others)))


@pytest.mark.parametrize(
    ("changes", "why", "todo"),
    [
        (
            {"waits": Waits.NETWORK, "phase": PhaseName.DOWNLOAD},
            "download of fetches 5 min longer, which usually waits for the network",
            "measure the downloads of both pools by the workload download",
        ),
        (
            {"reason": Reason.SHARE, "waits": Waits.UNKNOWN},
            "image load 5 min longer, because it is done more often",
            "compare how long the workers of both pools keep their caches",
        ),
        (
            {"reason": Reason.SIZE, "waits": Waits.UNKNOWN},
            "image load 5 min longer, because it moves more bytes",
            "compare what the tasks fetch on both pools",
        ),
        (
            {"reason": Reason.TIME, "waits": Waits.UNKNOWN},
            "image load 5 min longer",
            "look at image load in the task's log",
        ),
    ],
)
def test_no_disk_is_the_reason(changes, why, todo) -> None:
    """Then no result of the benchmark is needed."""
    made = concluded(replace(LOAD, **changes))
    assert made.outcome is Outcome.NOT_IO
    assert text_of(made.answer) == f"It is slower on slow by its set-up: {why}, of 7.33 min"
    assert [text_of(step) for step in made.next_steps] == [todo]
    assert text_of(made.certainty) == ("by 24 logs; what a phase waits for is what it usually does")


def test_what_waits_for_disks_needs_results() -> None:
    """A phase that usually waits for disks is no proof: causes are named, and no change is made."""
    assert concluded(LOAD) is None
    explained = replace(
        sample_investigation.change().findings, slowness=slowness(LOAD), forecast=None
    )
    made = conclude(explained)
    assert made is not None
    assert (made.outcome, made.fix) == (Outcome.OPEN, None)
    assert "image load 5 min longer, which usually waits for disks" in text_of(made.answer)
    (first, *_) = map(text_of, made.next_steps)
    assert first == (
        "the benchmark supports device-count (supported) on slow: change that, and "
        "compare the phases again"
    )


@pytest.mark.parametrize(
    ("changes", "is_concluded"),
    [
        ({}, True),
        ({"difference_s": 219.0}, False),
        ({"is_decided": False}, False),
        ({"phase": PhaseName.ARTIFACTS}, False),
        ({"difference_s": -300.0}, False),
    ],
)
def test_what_explains_a_task(changes, is_concluded) -> None:
    """Phases of set-up that are proven, and are half of the difference."""
    row = replace(LOAD, waits=Waits.UNKNOWN, reason=Reason.SHARE)
    made = concluded(replace(row, **changes), parts_s={})
    assert (made is not None) is is_concluded
    assert concluded(replace(row, difference_s=221.0), parts_s={}) is not None


@pytest.mark.parametrize(("work_s", "is_needed"), [(219.0, True), (221.0, False)])
def test_when_logs_are_read(work_s, is_needed) -> None:
    """Where the task's own work is not most of the difference, or not known."""
    compared = slowness(parts_s={"work_s": work_s}).comparison
    assert needs_logs(compared) is is_needed
    assert needs_logs(slowness(parts_s={}).comparison)


def test_without_logs_it_is_as_before() -> None:
    """Set-up that the queue shows as slower is named, and its log is to be looked at."""
    made = conclude(Findings(replace(slowness(), phases=UNSET)))
    assert made is not None
    assert made.outcome is Outcome.NOT_IO
    assert text_of(made.answer).endswith("Look at what the worker does then in the task's log")
