# SPDX-License-Identifier: MPL-2.0
"""Times on more and on fewer CPUs: of given windows, and of simulated jobs whose truth is known."""

import json
import math
import random
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from predicted_tasks import pool_workers, profile, profile_document, run_of
from simulated_jobs import (
    FOLLOWS,
    Section,
    predicted_with,
    profile_of,
    run_job,
    seconds_of,
    some_job,
)

from io_benchmark.analysis.prediction.cpu_scaling import saved_shares
from io_benchmark.analysis.prediction.demand import Demand, ThreadCounts
from io_benchmark.analysis.prediction.predict import predict
from io_benchmark.analysis.prediction.prediction_model import PoolPrediction
from io_benchmark.results.reader import parse_profile


def demand_of(cpus: float, busy: float, threads: tuple[float, ...] | None) -> Demand:
    """A command with one window of a second; threads were counted at some moments of it."""
    counts = None
    if threads is not None:
        counts = ThreadCounts(np.array(threads), np.zeros(len(threads), dtype=np.intp))
    return Demand(
        wall_ns=10**9,
        spans_ns=np.array([1e9]),
        places=(),
        cpus_used=busy,
        cpus=cpus,
        kernel_share=0.0,
        unwritten_bytes=np.zeros(1),
        waiting_share=None,
        busy_ns=np.array([busy * 1e9]),
        threads=counts,
    )


@pytest.mark.parametrize(
    ("here", "there", "busy", "threads", "shares"),
    [
        # No counts: which time all CPUs were busy at most, and half of it where most were.
        (4, 8, 4, None, (0, 0.25, 0.5)),
        (4, 8, 3.59, None, (0, 0, 0.5)),
        (4, 8, 2, None, (0, 0, 0.25)),
        (4, 8, 1, None, (0, 0, 0)),
        (1, 2, 0.75, None, (0, 0, 0.5)),
        (1, 2, 0.3, None, (0, 0, 0.2)),
        # Fewer threads than CPUs.
        (4, 8, 2, (2, 2), (0, 0, 0)),
        # Just as many as CPUs, or two more: on a machine with more there may be more.
        (4, 8, 4, (3, 3), (0, 0, 0.5)),
        (4, 16, 4, (6, 6), (1 - 4 / 5.5, 1 / 3, 0.75)),
        # A number of its own.
        (4, 16, 4, (7, 7), (1 - 4 / 6.25, 3 / 7, 3 / 7)),
        (4, 6, 4, (8, 8), (1 - 4 / 5.5, 1 / 3, 1 / 3)),
        # Half of the moments.
        (2, 4, 1.5, (8, 1), (1 - 2 / 3.5 - 0.214286, 0.25, 0.25)),
        # Jobs as many as CPUs, of which some wait at any moment.
        (4, 8, 2, (1, 3, 1, 3), (0, 0, 0.5)),
        (4, 8, 1, (1, 2, 1, 2), (0, 0, 0)),
        # On one CPU, moments with two threads show that one thread is one.
        (1, 2, 1, (1, 1), (0, 0, 0.5)),
        (1, 2, 1, (2, 1), (0.5 * (1 - 1 / 1.75), 0.25, 0.25)),
    ],
)
def test_shares(
    here: float, there: float, busy: float, threads: Any, shares: tuple[float, ...]
) -> None:
    """What is saved at least, likely and at most."""
    saved = saved_shares(demand_of(here, busy, threads), there)
    assert saved is not None
    assert [part.item() for part in saved] == pytest.approx(shares, abs=1e-6)
    assert saved.between(0.25).item() == pytest.approx((shares[0] + shares[1]) / 2, abs=1e-6)
    assert saved.between(0.75).item() == pytest.approx((shares[1] + shares[2]) / 2, abs=1e-6)


def test_other_processes() -> None:
    """What they kept busy is not the task's: half of 4 CPUs, so that a third may be full."""
    demand = replace(demand_of(4, 4, None), cpus_used=2.0)
    saved = saved_shares(demand, 8)
    assert saved is not None
    assert [part.item() for part in saved] == pytest.approx((0, 0, 0.25))


@pytest.mark.parametrize("there", [2, 4])
def test_no_more_cpus(there: float) -> None:
    """As many or fewer save nothing."""
    assert saved_shares(demand_of(4, 4, (8, 8)), there) is None


def threads_of(counts: list[int | None] | None, *, cpu_s: float) -> list[float] | None:
    """The command's threads by a profile of 2 s with 2 busy CPUs."""
    document = profile_document((0,) * 4, busy_cpus=(2,) * 4, waiting=0, cpu_s=cpu_s)
    if counts is not None:
        document["timeline"]["columns"]["runnable_threads"] = counts
    made = Demand.of_command(parse_profile(json.dumps(document).encode(), "profile"))
    assert isinstance(made, Demand)
    assert made.threads is None or list(made.threads.windows) == [0, 1, 2, 3]
    return None if made.threads is None else [*map(float, made.threads.counts)]


def test_threads_of_a_command() -> None:
    """Each row after the first counts for its window; what others used is taken off."""
    assert threads_of([9, 1, 2, 3, 0], cpu_s=4) == [1, 2, 3, 0]
    assert threads_of([9, 1, 2, 3, 0], cpu_s=3.5) == [0.75, 1.75, 2.75, 0]
    # Other tasks have threads that wait as well.
    assert threads_of([9, 1, 2, 3, 0], cpu_s=3.3) is None
    assert threads_of([9, 1, None, 3, 0], cpu_s=4) is None
    assert threads_of(None, cpu_s=4) is None


def ends_of(pool: PoolPrediction) -> tuple[float, float]:
    """The interval in seconds, or the range."""
    low_ns, high_ns = pool.low_ns or pool.at_least_ns, pool.high_ns or pool.at_most_ns
    assert low_ns is not None
    assert high_ns is not None
    return low_ns / 1e9, high_ns / 1e9


WIDTHS = (1, 2, 3, 4, 8, 16, 32)


@pytest.mark.parametrize(
    ("here", "there"), [(1, 2), (2, 1), (2, 4), (4, 16), (8, 32), (16, 8)], ids=str
)
def test_simulated_jobs(here: int, there: int) -> None:
    """A mean error of 15 % at most where the task's number of jobs is its own.

    With one in four whose number is that of CPUs, nine of ten times are inside.
    """
    chance = random.Random(here)
    errors, inside = [], []
    for number in range(24):
        follows = number % 4 == 0
        widest = max(here, there)
        width = chance.choice([width for width in WIDTHS if width <= widest])
        job = some_job(chance, min(here, there), FOLLOWS if follows else width)
        truth_s = seconds_of(run_job(job, there, number)) * math.exp(chance.gauss(0, 0.03))
        pool = predicted_with(there, profile_of(job, here, seed=number))
        low_s, high_s = ends_of(pool)
        inside.append(low_s <= truth_s <= high_s)
        if pool.time_ns is not None and not follows:
            errors.append(abs(pool.time_ns / 1e9 / truth_s - 1))
    assert fmean(errors) <= 0.15
    assert fmean(inside) >= 0.9


FULL = (Section(1, 2, 0.3), Section(FOLLOWS, 80, 0.25, spread=0.1))


def test_without_a_likely_time() -> None:
    """Threads that just keep all CPUs busy: a range from both ends, and what would show it."""
    pool = predicted_with(16, profile_of(FULL, 4))
    assert (pool.time_ns, pool.low_ns, pool.high_ns) == (None, None, None)
    assert pool.reason is not None
    low_s, high_s = ends_of(pool)
    here_s, there_s = (seconds_of(run_job(FULL, cpus)) for cpus in (4, 16))
    assert low_s < there_s < here_s < high_s
    # The same of one thread on one CPU.
    assert predicted_with(2, profile_of(FULL, 1)).time_ns is None


def test_slower_cpus() -> None:
    """Twice the CPUs, of which each takes 1.5 times as long for the same work."""
    busy: Any = {"waiting": 0, "cpu_s": 32, "busy_cpus": (16,) * 4}
    machine = {"host.cpu_count": 32, "host.cpu_online_count": 32}
    workers = [
        *pool_workers("intel", (100,) * 3),
        *pool_workers("amd-16", (100,) * 3, slower={"spawn": 1.5}, change=machine),
    ]
    (task,) = predict([run_of(profile((0,) * 4, **busy))], workers)
    (pool,) = task.pools
    low_s, high_s = ends_of(pool)
    assert math.sqrt(low_s * high_s) == pytest.approx(math.sqrt(1 * 2) * 1.5, rel=0.01)


def test_profiles_without_counts() -> None:
    """Those of older versions have the wider range."""
    job = (Section(1, 2, 0.3), Section(2, 60, 0.25))
    counted, uncounted = (
        predicted_with(16, profile_of(job, 4, has_threads=has_threads))
        for has_threads in (True, False)
    )
    assert counted.time_ns == pytest.approx(1e9 * seconds_of(run_job(job, 16)), rel=0.1)
    (low_s, high_s), (least_s, most_s) = ends_of(counted), ends_of(uncounted)
    assert least_s < low_s < high_s <= most_s * 1.01


@pytest.mark.parametrize("width", [FOLLOWS, 8])
def test_profiles_on_another_size(width: int) -> None:
    """They show whether the task runs more threads on more CPUs, so that the time is likely."""
    job = (Section(1, 2, 0.3), Section(width, 160, 0.5, spread=0.1))
    truth_s = seconds_of(run_job(job, 32))
    alone = predicted_with(32, profile_of(job, 8))
    both = predicted_with(32, profile_of(job, 8), profile_of(job, 16))
    assert alone.time_ns is None
    assert both.time_ns == pytest.approx(1e9 * truth_s, rel=0.25)
    low_s, high_s = ends_of(both)
    assert low_s < truth_s < high_s
    least_s, most_s = ends_of(alone)
    assert high_s / low_s < 0.7 * most_s / least_s
