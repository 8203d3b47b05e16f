# SPDX-License-Identifier: MPL-2.0
"""Comparisons of places: known ratios are found, and each worker is compared with itself."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
import several_places
import simulation
import workload_entries
from seed_case import outcome
from seed_workers import workers
from several_places import in_places, retrieved, shortened, skipped

from io_benchmark.analysis.compare import Options, compare
from io_benchmark.analysis.inference.estimates import Estimate
from io_benchmark.analysis.model import Verdict, Worker
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.report_model import AtPlace, Places
from io_benchmark.analysis.statements import Statement, statement
from io_benchmark.report.content.statement_text import text_of

Document = dict[str, Any]
PLAN = Plan("amd-16 against intel", "intel", "for the test", (("amd-16", "intel"),))
RETRIEVES = 400


def places_of(found: Sequence[Worker]) -> tuple[Places, ...]:
    return compare(PLAN, found, Options()).places


def intel(
    entries: Callable[[Document], list[Document]],
    names: Sequence[str] = ("container",),
    count: int = 1,
) -> list[Worker]:
    """Tasks of one pool, which measure other places besides a workspace of 400 retrieves."""
    change = in_places(
        names, lambda found: [shortened(found[0], RETRIEVES), *entries(_first(found))]
    )
    return workers(count, pools=("intel",), change={"intel": change})


def _first(found: Sequence[Document]) -> Document:
    return shortened(found[0], RETRIEVES)


def shown(text: Statement | None) -> str:
    return "" if text is None else text_of(text)


def only(found: Sequence[Worker]) -> Mapping[str, AtPlace]:
    """The cells of one pool at each place."""
    (table,) = places_of(found)
    return {row.place: row.sides[0] for row in table.rows}


def test_five_configurations() -> None:
    """The seed's table: each place's ratio to the first, and the pools' ratio where one is slower."""
    (table,) = several_places.five().places
    assert table.subject.place == "workspace"
    assert [row.place for row in table.rows] == ["workspace", *several_places.FIVE]
    for row in table.rows:
        on_intel, on_amd = row.sides
        assert (on_intel.side, on_amd.side) == ("intel", "amd-16")
        if row.place == "workspace":
            assert (on_intel.ratio, on_amd.ratio, on_intel.interval) == (None, None, None)
            (compared,) = row.comparisons
            assert (round(compared.ratio, 2), compared.verdict) == (1.96, Verdict.SLOWER)
            continue
        truth = several_places.FACTORS[row.place]
        assert on_intel.ratio == pytest.approx(truth, rel=0.02)
        assert on_intel.interval is not None
        assert not on_intel.interval.excludes(truth)
        if row.place != "memory":
            assert on_amd.interval is not None
            assert not on_amd.interval.excludes(truth / several_places.VOLUME_RATIO)
            assert [one.verdict for one in row.comparisons] == [Verdict.INCONCLUSIVE]


def test_what_each_place_is() -> None:
    """A row says the kind of place and its file system."""
    (table,) = several_places.five().places
    assert {row.place: row.sides[0].kind for row in table.rows} == {
        "workspace": "volume, ext4",
        "container": "container overlay",
        "boot-disk": "volume, ext4",
        "bind-mount": "volume, xfs",
        "memory": "memory, tmpfs",
    }


def test_without_noise_the_ratio_is_exact() -> None:
    """Twice the time for each retrieve is 2.00, known exactly, by one worker with nothing assumed."""
    found = only(intel(lambda first: [retrieved(first, "container", 2.0, noise=0.0)]))["container"]
    assert found.ratio == pytest.approx(2.0, abs=1e-6)
    assert found.interval is not None
    assert (found.interval.low_ratio, found.interval.high_ratio) == pytest.approx(
        (2.0, 2.0), abs=1e-5
    )
    assert (found.workers, found.method, found.differences) == (1, "paired retrieves", ())


@pytest.mark.parametrize("shape", simulation.SHAPES.values(), ids=simulation.SHAPES)
def test_the_interval_of_one_worker_covers_the_truth(shape: simulation.Shape) -> None:
    """One machine in two places, 1.3 the truth: 93 of 100 intervals or more hold it."""
    generator = np.random.default_rng(1)
    covered, repetitions = 0, 100
    for _ in range(repetitions):
        files = simulation.sequence(RETRIEVES, generator)
        slow, quick = (
            simulation.worker(simulation.Pool(ratio, 0.0, shape, RETRIEVES), files, generator)
            for ratio in (1.3, 1.0)
        )
        found = Estimate.within_workers([[(slow, quick)]]).interval(0.95)
        covered += not found.excludes(1.3)
    assert covered >= 93


def test_several_workers_are_each_compared_with_themselves() -> None:
    """Machines that differ by 20 %, their ratios hardly: Student's t over the ratios' logarithms."""
    from scipy.stats import ttest_1samp

    generator = np.random.default_rng(2)
    files = simulation.sequence(RETRIEVES, generator)
    machines = []
    for _ in range(5):
        speed = math.exp(generator.normal(0, 0.2))
        slow, quick = (
            simulation.worker(
                simulation.Pool(ratio * speed, 0.0, retrieves=RETRIEVES), files, generator
            )
            for ratio in (1.3, 1.0)
        )
        machines.append([(slow, quick)])
    estimate = Estimate.within_workers(machines)
    logs = [math.log(slow.mean_ns / quick.mean_ns) for ((slow, quick),) in machines]
    oracle = ttest_1samp(logs, 0.0).confidence_interval(0.95)
    found = estimate.interval(0.95)
    assert (found.low_ratio, found.high_ratio) == pytest.approx(
        (math.exp(oracle.low), math.exp(oracle.high))
    )
    assert estimate.method == "workers"
    assert not found.excludes(1.3)
    assert found.high_ratio / found.low_ratio < 1.1


def test_two_tasks_of_one_machine_are_one_worker() -> None:
    """They halve that machine's own noise, and do not show other machines."""
    generator = np.random.default_rng(3)
    files = simulation.sequence(RETRIEVES, generator)
    slow, quick = (
        simulation.worker(simulation.Pool(ratio, 0.0, retrieves=RETRIEVES), files, generator)
        for ratio in (1.3, 1.0)
    )
    pair = slow, quick
    once = Estimate.within_workers([[pair]])
    twice = Estimate.within_workers([[pair] * 2])
    assert twice.log_ratio == pytest.approx(once.log_ratio)
    assert twice.variance == pytest.approx(once.variance / 2)
    assert twice.method == "paired retrieves"


def test_a_place_that_was_skipped_has_a_row() -> None:
    """It has the reason, and is not compared."""
    (table,) = several_places.five().places
    memory = table.rows[-1]
    assert memory.sides[1] == AtPlace(
        side="amd-16",
        kind="memory, tmpfs",
        mean_ns=None,
        missing=statement(
            "not measured: {reason}", reason="no space: needs 7100 MiB, 4100 MiB are free"
        ),
        ratio=None,
        interval=None,
        method="",
        workers=0,
        not_compared=None,
        differences=(),
    )
    assert memory.comparisons == ()


def test_a_place_that_was_cut_off_has_a_row() -> None:
    """An incomplete run has no figure, but the reason that the task gave."""

    def entries(first: Document) -> list[Document]:
        cut = shortened(retrieved(first, "container"), 30)
        cut |= {"retrieves_planned": RETRIEVES, "outcome": outcome("failed", "SIGTERM")}
        return [cut]

    found = only(intel(entries))["container"]
    assert (found.mean_ns, shown(found.missing)) == (None, "30 of 400 retrieves: SIGTERM")


def test_without_the_first_place_there_is_no_ratio() -> None:
    """No other place silently replaces the first."""

    def change(found: list[Document]) -> list[Document]:
        first = _first(found)
        others = [retrieved(first, name) for name in ("container", "memory")]
        return [skipped(first, "no space"), *others]

    names = ("container", "memory")
    made = workers(pools=("intel",), change={"intel": in_places(names, change)})
    found = only(made)
    assert shown(found["workspace"].missing) == "not measured: no space"
    for name in names:
        assert found[name].mean_ns is not None
        assert (found[name].ratio, shown(found[name].not_compared)) == (
            None,
            "nothing was measured at workspace",
        )


def test_different_work_is_not_compared() -> None:
    """Half as many retrieves read more from the disk: the row has their mean, but not a ratio."""
    found = only(intel(lambda first: [shortened(retrieved(first, "container"), 200)]))["container"]
    assert found.mean_ns is not None
    assert (found.ratio, found.interval) == (None, None)
    assert shown(found.not_compared) == (
        "different work: 200 retrieves planned here, 400 retrieves planned at workspace"
    )


def test_a_different_method_is_named() -> None:
    """Copies by reflink have a ratio, because the place makes them possible, and the row names them."""

    def entries(first: Document) -> list[Document]:
        other = retrieved(first, "bind-mount", 0.1)
        return [other | {"copy_method": "FICLONE", "shares_extents": True}]

    found = only(intel(entries, ("bind-mount",)))["bind-mount"]
    assert found.ratio == pytest.approx(0.1, rel=0.05)
    assert tuple(map(shown, found.differences)) == (
        "copied by FICLONE here, copied by sendfile at workspace",
        "copies share extents here, copies move bytes at workspace",
    )


def test_one_that_ran_out_of_time_is_named() -> None:
    """There is a ratio of the samples that both have; the row has their number."""

    def entries(first: Document) -> list[Document]:
        cut = shortened(retrieved(first, "container", 2.0, noise=0.0), 300)
        ended = outcome("time-budget", "the time budget of 60 s is used up")
        return [cut | {"retrieves_planned": RETRIEVES, "outcome": ended}]

    found = only(intel(entries))["container"]
    assert found.ratio == pytest.approx(2.0, abs=1e-6)
    assert tuple(map(shown, found.differences)) == (
        "300 of 400 retrieves: the time budget of 60 s is used up",
    )


def test_one_place_is_no_comparison_of_places() -> None:
    """A task that measures in one place has nothing to compare it with."""
    assert places_of(workers(pools=("intel", "amd-16"))) == ()


def test_the_tasks_own_order_decides_which_is_first() -> None:
    """The order of the task's settings decides, whichever was measured first."""

    def change(found: list[Document]) -> list[Document]:
        first = _first(found)
        return [retrieved(first, "container", 2.0), first]

    made = workers(pools=("intel",), change={"intel": in_places(("container",), change)})
    assert [row.place for row in places_of(made)[0].rows] == ["workspace", "container"]


def test_a_pool_without_that_place_says_so() -> None:
    """Its cell has the reason."""
    change = {
        "intel": in_places(
            ("container",), lambda found: [found[0], retrieved(found[0], "container", 2.0)]
        )
    }
    (table,) = places_of(workers(pools=("intel", "amd-16"), change=change))
    assert [(side.kind, shown(side.missing)) for side in table.rows[1].sides] == [
        ("container overlay", ""),
        ("", "no task of it measures this there"),
    ]


def test_every_measurement_of_a_workload_is_held_by_itself() -> None:
    """Windows of other lengths are not paired: each place's own error counts."""

    def change(found: list[Document]) -> list[Document]:
        slower = {"random-io/read-depth-1": 3.0}
        kept = ("random-io/read-depth-1", "sync-write/dsync-append")
        made = workload_entries.entries(only=kept, seed=1)
        other = workload_entries.entries(slower, only=kept, seed=2, place="container")
        return [found[0], *made, *other]

    made = workers(pools=("intel",), change={"intel": in_places(("container",), change)})
    found = {table.subject.variant: table.rows[1].sides[0] for table in places_of(made)}
    assert list(found) == ["read-depth-1", "dsync-append"]
    random_io, sync_write = found.values()
    assert random_io.ratio == pytest.approx(3.0, rel=0.01)
    assert sync_write.ratio == pytest.approx(1.0, rel=0.01)
    assert (random_io.method, sync_write.method) == ("batches in blocks", "paired batches")


def test_the_same_input_gives_the_same_places() -> None:
    """Nothing random, nothing of the order of a set."""
    made = several_places.five_workers()
    assert places_of(made) == places_of(list(made)) == several_places.five().places
