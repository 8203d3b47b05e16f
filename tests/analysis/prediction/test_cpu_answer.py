# SPDX-License-Identifier: MPL-2.0
"""Whether more CPUs pay, in a sentence: of simulated jobs, with and without prices."""

from collections.abc import Sequence
from typing import Any

import pytest
from predicted_tasks import both_pools, half_width, pool_workers, profile, run_of
from simulated_jobs import FOLLOWS, Section, profile_of, workers_with

from io_benchmark.analysis.prediction.predict import predict
from io_benchmark.analysis.prediction.prediction_model import TaskPrediction
from io_benchmark.costs.worker_time import Price
from io_benchmark.report.content import text_of

BUILD = (
    Section(1, 3, 0.3, spread=0),
    Section(8, 160, 0.25, spread=0),
    Section(1, 3, 0.3, spread=0),
)
SERIAL = (Section(1, 20, 0.3, spread=0),)
FULL = (Section(1, 2, 0.3, spread=0), Section(FOLLOWS, 80, 0.25, spread=0))


def task_of(
    job: Sequence[Section],
    cpus: Sequence[int],
    *,
    pools: Sequence[int] = (),
    has_threads: bool = True,
    prices: Any = None,
) -> TaskPrediction:
    """Predict a job that was profiled with 4 CPUs."""
    workers = [worker for size in pools for worker in workers_with(size)]
    run = profile_of(job, 4, has_threads=has_threads)
    (task,) = predict([run], workers, prices or {}, cpus)
    return task


def answer(*arguments: Any, **keywords: Any) -> str:
    more_cpus = task_of(*arguments, **keywords).more_cpus
    return "" if more_cpus is None else text_of(more_cpus)


def test_yes() -> None:
    """From which size on; the reasons are of the profile."""
    assert answer(BUILD, [16, 8]) == (
        "More CPUs pay from 8 on (cpus-4 with 8 CPUs): their number saves 36 to 42 % of the time; "
        "every CPU was busy for 83 % of the time, threads waited for one for 84 %, and at most "
        "one thread ran for 16 %"
    )


def test_no() -> None:
    """One thread runs all the time; the largest machine is named."""
    assert answer(SERIAL, [8, 16]) == (
        "More CPUs do not pay: 16 of them (cpus-4 with 16 CPUs) save 0 % of the time; every CPU "
        "was busy for 0 % of the time, threads waited for one for 0 %, and at most one thread ran "
        "for 100 %"
    )


def test_not_known() -> None:
    """As many threads as CPUs; without counts of threads there are two reasons."""
    unknown = "Whether more CPUs pay is not known: 16 of them (cpus-4 with 16 CPUs) save 0 to "
    assert answer(FULL, [8, 16]).startswith(unknown)
    text = answer(FULL, [8, 16], has_threads=False)
    assert text.startswith(unknown)
    assert text.endswith("every CPU was busy for 89 % of the time, and at most one for 11 %")


def test_pools_of_other_sizes() -> None:
    """Measured pools answer as well; the smaller ones and those of the same size do not."""
    assert answer(BUILD, [], pools=[2, 4, 8]).startswith("More CPUs pay from 8 on (cpus-8): ")
    assert answer(BUILD, [], pools=[2, 4]) == ""
    assert answer(BUILD, [2, 4]) == ""


def test_prices() -> None:
    """Twice the CPUs cost twice as much per hour; two currencies are not compared."""
    task = task_of(BUILD, [8], prices={"cpus-4": Price(0.2, "USD")})
    assert task.more_cpus is not None
    (pool,) = task.pools
    assert pool.price == Price(0.4, "USD")
    assert pool.time_ns is not None
    ratio = 2 * pool.time_ns / task.measured_ns[0]
    assert f"; a task costs {ratio:.2f}× as much there; " in text_of(task.more_cpus)
    prices = {"cpus-4": Price(0.2, "USD"), "cpus-8": Price(0.4, "EUR")}
    assert "a task costs" not in answer(BUILD, [], pools=[4, 8], prices=prices)


@pytest.mark.parametrize(("cpu_s", "is_answered"), [(1.02, True), (0.98, False)])
def test_a_task_that_hardly_computes(cpu_s: float, is_answered: bool) -> None:
    """Half a CPU on average, unless more CPUs are asked for."""
    made = run_of(profile((0,) * 4, waiting=0, cpu_s=cpu_s, busy_cpus=(cpu_s / 2,) * 4))
    larger = {"change": {"host.cpu_online_count": 32, "host.cpu_count": 32}}
    workers = [*pool_workers("intel"), *pool_workers("amd-16", **larger)]
    (task,) = predict([made], workers)
    assert (task.more_cpus is not None) is is_answered
    (task,) = predict([made], workers, cpus=[32])
    assert task.more_cpus is not None


def test_without_results() -> None:
    """A number of CPUs needs neither results nor the name of a pool; what is assumed is said."""
    written = run_of(profile((0, 50), pool=None, waiting=0, busy_cpus=(16, 16), cpu_s=16))
    (task,) = predict([written], [], cpus=[32])
    (pool,) = task.pools
    assert (pool.pool, pool.cpus, pool.workers) == ("32 CPUs", 32.0, 0)
    assert pool.at_least_ns is not None
    assumed = (
        "With another number of CPUs, the machine has the same CPUs, disks, memory and price per "
        "CPU"
    )
    keeps_up = (
        f"{assumed}; its disks are taken to keep up, because --on has no write ceiling of the "
        "profiled pool"
    )
    assert text_of(task.notes[-1]) == keeps_up
    (task,) = predict([written], both_pools())
    assert all(pool.time_ns is None for pool in task.pools)
    assert text_of(task_of(BUILD, [8], pools=[4]).notes[-1]) == assumed


def test_the_same_machine() -> None:
    """What a pool's results do not show, or one worker shows, is the same with other CPUs."""
    made = [run_of(profile((0, 50, 50, 0), waiting=1, merged=9, cpu_s=1, busy_cpus=(1,) * 4))]
    spreads = []
    for workers in ([], pool_workers("intel", (100,))):
        (task,) = predict(made, workers, cpus=[32])
        (pool,) = task.pools
        assert pool.time_ns == pytest.approx(2e9)
        spreads.append(half_width(pool))
    assert spreads[0] == pytest.approx(spreads[1])
    assert spreads[0] < 0.25


def test_the_disks_of_a_larger_machine() -> None:
    """Work that waits for the same disk does not get shorter with more CPUs."""
    busy: Any = {"waiting": 0, "busy_cpus": (16,) * 8, "cpu_s": 64}
    syncs = {"flushes": 99, "commits": 9}
    idle, writing = (
        predict([run_of(profile((mib,) * 8, **busy, syncs=syncs))], both_pools(), cpus=[64])[0]
        for mib in (0, 45)
    )
    least_ns = [task.pools[-1].at_least_ns or 0.0 for task in (idle, writing)]
    assert least_ns[1] > 1.5 * least_ns[0] > 0
