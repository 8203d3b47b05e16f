# SPDX-License-Identifier: MPL-2.0
"""Comparisons of places: known ratios are found, and each worker is compared with itself."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
import simulation
from many_measurements import in_places, retrieved
from msgspec.structs import replace
from seed_case import outcome, shortened
from seed_workers import workers

from io_benchmark.analysis.compare import compare
from io_benchmark.analysis.comparing.pairs import Options
from io_benchmark.analysis.comparing.places import _within_workers
from io_benchmark.analysis.model.plan import Plan
from io_benchmark.analysis.model.report import AtPlace
from io_benchmark.analysis.model.run import Run
from io_benchmark.report.content import text_of

Document = dict[str, Any]
PLAN = Plan("amd-16 against intel", "intel", "for the test", (("amd-16", "intel"),))
RETRIEVES = 400
WAVES = simulation.RUN_NOISES["waves"]


def intel(entries: Callable[[Document], list[Document]], *names: str) -> Mapping[str, AtPlace]:
    """One task in a workspace and other places.

    `entries` are all, by 400 retrieves in the first.
    """
    names = names or ("container",)
    change = in_places(names, lambda recorded: entries(shortened(recorded[0], RETRIEVES)))
    measured = workers(pools=("intel",), change={"intel": change})
    (table,) = compare(PLAN, measured, Options()).places
    return {row.place: row.sides[0] for row in table.rows}


def pair(files: np.ndarray, generator: np.random.Generator, speed: float) -> tuple[Run, Run]:
    """One machine in two places, whose true ratio is 1.3."""
    slow, quick = (
        simulation.run_of(WAVES, files, generator, ratio * speed) for ratio in (1.3, 1.0)
    )
    return slow, quick


def test_several_workers_are_each_compared_with_themselves() -> None:
    """Machines that differ by 20 %, ratios hardly: Student's t over the ratios' logarithms."""
    from scipy.stats import ttest_1samp

    generator = np.random.default_rng(2)
    files = simulation.sequence(RETRIEVES, RETRIEVES, generator)
    machines = [[pair(files, generator, math.exp(generator.normal(0, 0.2)))] for _ in range(5)]
    estimate = _within_workers(machines)
    logs = [math.log(slow.mean_ns / quick.mean_ns) for ((slow, quick),) in machines]
    oracle = ttest_1samp(logs, 0.0).confidence_interval(0.95)
    interval = estimate.interval(0.95)
    assert (math.log(interval.low_ratio), math.log(interval.high_ratio)) == pytest.approx(
        (oracle.low, oracle.high)
    )
    assert estimate.method == "workers"
    # Two tasks of one machine halve its own noise, and do not show other machines.
    once, twice = (_within_workers([machines[0] * tasks]) for tasks in (1, 2))
    assert twice.log_ratio == pytest.approx(once.log_ratio)
    assert twice.error.variance == pytest.approx(once.error.variance / 2)
    assert twice.method == "paired retrieves"


def test_turns_are_compared_with_each_other() -> None:
    """Batches that took turns: the error is that of the turns' differences.

    With few turns, as without.
    """
    from scipy.stats import sem

    generator = np.random.default_rng(5)
    drift = np.repeat(np.linspace(1.0, 2.0, 6), 4)
    times = [drift * ratio * generator.lognormal(0, 0.01, 24) for ratio in (1.3, 1.0)]
    ends = tuple(range(4, 25, 4))
    slow, quick = (replace(simulation.entry(1e6 * side), turn_ends=ends) for side in times)
    estimate = _within_workers([[(slow, quick)]])
    shares = [
        np.array(side.total_ns).reshape(6, 4).mean(1) / side.mean_ns for side in (slow, quick)
    ]
    assert estimate.method == "turns"
    assert estimate.log_ratio == pytest.approx(math.log(slow.mean_ns / quick.mean_ns))
    assert math.sqrt(estimate.error.variance) == pytest.approx(sem(shares[0] - shares[1]))
    assert estimate.error.degrees == 5
    # One was ended in its sixth turn: what both have is compared.
    cut = replace(slow, turn_ends=ends[:5])
    base = quick.first(20).mean_ns
    shorter = _within_workers([[(cut, quick)]])
    assert shorter.log_ratio == pytest.approx(math.log(slow.first(20).mean_ns / base))
    few = replace(slow, turn_ends=ends[:4])
    assert _within_workers([[(few, quick)]]).method == "paired retrieves"


def exact(first: Document) -> Document:
    """Twice the time for each retrieve, without noise."""
    return retrieved(first, "container", 2.0, noise=0.0)


def cut(entry: Document, retrieves: int, state: str, reason: str) -> Document:
    ended = {"retrieves_planned": RETRIEVES, "outcome": outcome(state, reason)}
    return shortened(entry, retrieves) | ended


def out_of_time(first: Document) -> Document:
    return cut(exact(first), 300, "time-budget", "the time is used up")


def killed(first: Document) -> Document:
    return cut(exact(first), 30, "failed", "SIGTERM")


EXTENTS = "copies share extents here, copies move bytes at workspace"
FICLONE = {"copy_method": "FICLONE", "shares_extents": True}


@pytest.mark.parametrize(
    ("entry", "ratio", "reason"),
    [
        (exact, 2.0, ""),
        (
            lambda first: exact(first) | FICLONE,
            2.0,
            f"copied by FICLONE here, copied by sendfile at workspace; {EXTENTS}",
        ),
        (out_of_time, 2.0, "300 of 400 retrieves: the time is used up"),
        (killed, None, "30 of 400 retrieves: SIGTERM"),
        (
            lambda first: shortened(exact(first), 200),
            None,
            "different work: 200 retrieves planned here, 400 retrieves planned at workspace",
        ),
    ],
    ids=["exact", "another-method", "out-of-time", "cut-off", "different-work"],
)
def test_one_worker(entry, ratio, reason):
    """Its ratio to the first place is exact without noise; a different method is named."""
    # The order of the task's settings decides which place is first, whatever was measured first.
    cells = intel(lambda first: [entry(first), first])
    assert list(cells) == ["workspace", "container"]
    cell = cells["container"]
    reasons = filter(None, (cell.missing, cell.not_compared, *cell.differences))
    assert "; ".join(map(text_of, reasons)) == reason
    assert (cell.mean_ns is None) == (cell.missing is not None)
    if ratio is None:
        assert (cell.ratio, cell.interval, cell.workers) == (None, None, 0)
    else:
        assert cell.interval is not None
        numbers = (cell.ratio, cell.interval.low_ratio, cell.interval.high_ratio)
        assert numbers == pytest.approx((ratio,) * 3, abs=1e-5)
        assert (cell.workers, cell.method) == (1, "paired retrieves")
