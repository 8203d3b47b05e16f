# SPDX-License-Identifier: MPL-2.0
"""Whether single workers follow the fact that makes their side slower."""

import math
from operator import attrgetter

import pytest
import seed_case
from cause_thresholds import around, assert_judged
from msgspec.structs import replace
from seed_facts import (
    MS,
    scheduler,
    slower_lookups,
    taking,
)
from seed_workers import SUBJECT, causes_of, explanation_text, workers, workers_of

from io_benchmark.analysis.explaining import judging
from io_benchmark.analysis.explaining.case import Case
from io_benchmark.analysis.explaining.effects import NOT_MEASURED, Effect, Size
from io_benchmark.analysis.explaining.rules import CauseRule
from io_benchmark.analysis.model.cause import NoChange, State
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.statistics.levels import DEFAULT_WORKER_VARIATION

SUPPORTED, RULED_OUT, NOT_SEPARABLE = State.SUPPORTED, State.RULED_OUT, State.NOT_SEPARABLE
IDLES = scheduler("bfq", slice_idle=8, low_latency=1)
BOTH_IDLE = IDLES | scheduler("bfq", 2, slice_idle=8)  # the faster side has two disks
# A worker is clearly slow or fast if it differs by this share of the mean of all.
CLEARLY = judging._CLEARLY * DEFAULT_WORKER_VARIATION
SLOW_MS, FAST_MS = seed_case.AMD_16.average, seed_case.INTEL.average
SIDE_TIMES, MOST_OF_IT = 16.0, judging._MOST_OF_IT_SHARE


def below(value: float) -> float:
    return around(value)[0]


def above(value: float) -> float:
    return around(value)[1]


def slow_from(count: int) -> float:
    """Return what so many workers without the fact have to take to be clearly slow.

    That is the middle of both sides and CLEARLY times the mean of all eight workers, over √count.
    """
    others_ms = (4 - count) * SLOW_MS + 4 * FAST_MS
    share = CLEARLY / math.sqrt(count) / 8
    return ((FAST_MS + SLOW_MS) / 2 + share * others_ms) / (1 - share * count)


# One of four workers with the fact is clearly fast below this. It moves the middle itself:
# (FAST_MS + (3 × SLOW_MS + time) / 4) / 2 - time = CLEARLY × (3 × SLOW_MS + time + 4 × FAST_MS) / 8
FAST_UNTIL = (3 * SLOW_MS + 4 * FAST_MS) * (1 - CLEARLY) / (7 + CLEARLY)


@pytest.mark.parametrize(
    ("with_fact_ms", "without_ms", "expected"),
    [
        pytest.param([SLOW_MS] * 3, [below(slow_from(1))], NOT_SEPARABLE, id="one, by chance"),
        pytest.param(
            [SLOW_MS] * 3, [above(slow_from(1))], "As slow without this: 1 of 4", id="one is slow"
        ),
        pytest.param([SLOW_MS] * 2, [below(slow_from(2))] * 2, NOT_SEPARABLE, id="two, by chance"),
        pytest.param(
            [SLOW_MS] * 2,
            [above(slow_from(2))] * 2,
            "As slow without this: 2 of 4",
            id="two are slow",
        ),
        pytest.param([SLOW_MS] * 3 + [above(FAST_UNTIL)], [], NOT_SEPARABLE, id="fast, by chance"),
        pytest.param(
            [SLOW_MS] * 3 + [below(FAST_UNTIL)],
            [],
            "As fast as the faster side in spite of this: 1 of 4",
            id="one is fast",
        ),
        pytest.param(
            [SLOW_MS],
            [100] * 3,
            "Only 1 of 4 workers of the slower side has this",
            id="only one has it",
        ),
        pytest.param([SLOW_MS] * 2, [100] * 2, NOT_SEPARABLE, id="two have it"),
    ],
)
def test_workers_that_contradict(with_fact_ms, without_ms, expected):
    """A worker counts where it is clearly slow or fast; a mean of several is known better by √n."""
    facts = [IDLES | taking(ms) for ms in with_fact_ms]
    facts += [taking(ms) for ms in without_ms]
    change = {f"amd-16/{number}": each for number, each in enumerate(facts)}
    cause = causes_of(change, workers=len(facts))["scheduler-idling"]
    assert_judged(cause, expected)


def test_a_worker_counts_once() -> None:
    """The runs of one worker are averaged before workers are."""
    change = {"amd-16/2": slower_lookups(60)}
    (side,) = workers_of(seed_case.documents(3, pools=["amd-16"], change=change)).values()
    machines = [replace(run, machine=name) for run, name in zip(side, "aab", strict=True)]
    mean_ns = Side.of_workers(machines, SUBJECT).mean(attrgetter("lookup_mean_ns"))
    assert mean_ns == pytest.approx(31.35 * MS, rel=0.01)


def test_workers_that_follow_the_fact() -> None:
    """The explanation says how many have it."""
    change = {f"amd-16/{number}": IDLES for number in (0, 1)}
    change |= {f"amd-16/{number}": taking(100) for number in (2, 3)}
    cause = causes_of(change, workers=4)["scheduler-idling"]
    remark = "On 2 of 4 workers of the slower side; the others are faster."
    assert remark in explanation_text(cause)


def test_workers_of_the_faster_side_have_it_too() -> None:
    """Two of them are as fast with it."""
    change = {"amd-16": IDLES} | {f"intel/{number}": BOTH_IDLE for number in (1, 3)}
    cause = causes_of(change, workers=5)["scheduler-idling"]
    assert (cause.state, explanation_text(cause)) == (
        RULED_OUT,
        "Fast in spite of this: 2 of 5 workers of the faster side.",
    )


@pytest.mark.parametrize(
    ("times", "has_fact"),
    [
        pytest.param(above(SIDE_TIMES**MOST_OF_IT), True, id="most"),
        pytest.param(below(SIDE_TIMES**MOST_OF_IT), None, id="less than most"),
        pytest.param(above(SIDE_TIMES ** (1 - MOST_OF_IT)), None, id="more than the rest"),
        pytest.param(below(SIDE_TIMES ** (1 - MOST_OF_IT)), False, id="less than the rest"),
        pytest.param(1.0, False, id="nothing"),
    ],
)
def test_a_fact_of_some_size(times: float, has_fact: bool | None) -> None:
    """A worker has it with most of its side's size, and lacks it with the rest of that."""

    def judge(case: Case) -> Effect:
        size = case.slower.mean(lambda view: float(view.worker.machine))
        return NOT_MEASURED.supports("So it is.", Size(size or 0.0))

    (one,) = workers(pools=["amd-16"])
    view = replace(one, machine=str(times)).run_of(SUBJECT)
    rule, nobody = (
        CauseRule(name="", hypothesis="", fact=judge, change=NoChange("for the test")),
        Side.of([]),
    )
    of_side = NOT_MEASURED.supports("So it is.", Size(SIDE_TIMES))
    case = Case.of(SUBJECT, 2.0, nobody, Side.of([view]))
    assert judging.has_fact(rule, of_side, case, [view], nobody) is has_fact


def test_any_lower_rate_counts_of_a_single_worker() -> None:
    """Whole sides that differ by a tenth do as much; a worker of a side that differs does not."""
    nobody = Side.of([])
    sides = Case.of(SUBJECT, 2.0, nobody, nobody)
    worker = sides.of_worker(nobody, nobody)
    assert [case.is_as_fast(1.05) for case in (sides, worker)] == [True, False]
