# SPDX-License-Identifier: MPL-2.0
"""Resource profiles as demand, by hand figures: what they show, and what they lack."""

import json
import math
from typing import Any

import pytest
from predicted_tasks import DISK, pool_workers, sync_ns
from published_profiles import MIB, Sample, resource_document, resource_profile
from seed_facts import operations_limit

from io_benchmark.analysis.model.statements import Statement
from io_benchmark.analysis.prediction.demand import Demand
from io_benchmark.analysis.prediction.machine_demand import machine_demand
from io_benchmark.analysis.prediction.pool_storage import PoolFigure, PoolStorage
from io_benchmark.analysis.prediction.predict import predict
from io_benchmark.analysis.prediction.profiled_run import ProfiledRun
from io_benchmark.report.content import text_of
from io_benchmark.results.resource_profile import ResourceProfile, parse_any_profile
from io_benchmark.sources.run_results import RunProfile

S = 10**9
IDLE = Sample(user=0.5)
# The results' place is a volume on disks: each byte is counted twice, and 50 MiB are the disks'
# ceiling.
FULL = Sample(written_mib=100, waiting=0.5)
COMPUTING = FULL._replace(waiting=0, user=0.5)
SECOND = IDLE._replace(span_ms=1000)
CACHED = COMPUTING._replace(cached_mib=400)
LIMITED = operations_limit(250, name=DISK) | {"storage.places.0.devices.0.number": "259:0"}


def made_of(*samples: Sample) -> ResourceProfile:
    profile = parse_any_profile(resource_profile(samples), "profile")
    assert isinstance(profile, ResourceProfile)
    return profile


def test_the_demand() -> None:
    """Shares of two CPUs are CPU time, iowait is waiting, and bytes are those of each window."""
    samples = (
        Sample(8, 0.25, 0.125, 0.05, writes=10, cached_mib=100),
        Sample(2, 0.75, 0.5, 0.25, writes=5, cached_mib=130, read_mib=4),
        # Less than 0.18 s is no window of its own.
        Sample(span_ms=100, cached_mib=130, user=0.5),
        Sample(6, None, 0, 0.5, cached_mib=90, span_ms=400),
    )
    profile = made_of(*samples)
    demand = machine_demand(profile, 5 * S, "data", (2.0, 2.0))
    assert isinstance(demand, Demand)
    (place,) = demand.places
    assert demand.spans_ns.tolist() == [5e8, 5e8, 5e8]
    assert demand.busy_ns is not None
    assert demand.busy_ns.tolist() == pytest.approx([1.75e8, 7.5e8, 5e8])
    assert demand.cpus == 2.0
    assert demand.cpus_used == pytest.approx(14.25 / 15)
    assert demand.kernel_share == pytest.approx((0.05 + 0.25 + 0.4) / 1.5)
    assert place.written_bytes.tolist() == [8 * MIB, 2 * MIB, 6 * MIB]
    assert place.writes.tolist() == [10, 5, 0]
    assert (place.name, place.syncs) == ("data", None)
    assert place.read_bytes / MIB == pytest.approx([0.001, 4, 0.002], abs=1e-3)
    # Cached and not moved: 30 − (4 + 2) ÷ 2 MiB; the removal of a file leaves nothing.
    assert demand.unwritten_bytes / MIB == pytest.approx([0, 27, 0], abs=0.01)
    assert (demand.waiting_share, demand.unseen_ns, demand.wall_ns) == (None, 3.5e9, 5 * S)
    likely = demand.as_counted()
    assert likely.places[0].written_bytes.tolist() == [4 * MIB, 1 * MIB, 3 * MIB]
    # Each request may be a sync.
    assert (likely.places[0].syncs, likely.counting) == ((0.0, 7.5), None)
    assert demand.as_counted(0, 1).unwritten_bytes / MIB == pytest.approx([0, 54, 0], abs=0.01)


def test_waiting() -> None:
    """A share of two CPUs is twice that of one, and no more than all of the time."""
    demand = machine_demand(made_of(FULL, Sample(1, 0.9), Sample(1, 0.2)), S, "data", (1, 1))
    assert isinstance(demand, Demand)
    assert demand.waiting_share is not None
    assert demand.waiting_share.tolist() == pytest.approx([1.0, 1.0, 0.4])


@pytest.mark.parametrize(
    ("samples", "text"),
    [
        ([IDLE._replace(span_ms=499)] * 2, "the profile is shorter than 1.00 s"),
        ([IDLE] * 2, ""),
        ([IDLE._replace(read_mib=0)] * 2, "the profile has no counters of disks"),
        ([SECOND] * 20 + [IDLE._replace(span_ms=3001)], "samples of the profile are missing, or"),
        ([SECOND] * 20 + [IDLE._replace(span_ms=3000)], ""),
        ([SECOND] * 28 + [IDLE._replace(span_ms=3001)], ""),
    ],
)
def test_samples_that_do_not_show_when_it_wrote(samples: list[Sample], text: str) -> None:
    """Nothing is predicted where more than a tenth of the time is in samples of over 3 s."""
    demand = machine_demand(made_of(*samples), S, "data", (1, 1))
    reason = text_of(demand) if isinstance(demand, Statement) else ""
    assert reason.startswith(text) if text else reason == ""


def test_more_cpus() -> None:
    """A machine's busy CPUs give a range: most of it may be saved with twice of them, or nothing.

    Time before and after the profile stays as it is.
    """
    run = RunProfile(made_of(*[Sample(user=1.0)] * 4), "profile", "build", None, task_ns=4 * S)
    (task,) = predict([run], [], cpus=[4])
    (pool,) = task.pools
    assert pool.time_ns is not None
    assert pool.at_least_ns is not None
    assert pool.at_most_ns is not None
    assert pool.time_ns == pytest.approx(3.5 * S)
    assert pool.at_least_ns * pool.at_most_ns == pytest.approx(3 * S * 4 * S)


def test_missing_samples() -> None:
    """A tenth of the time may be missing: too short samples are left out."""
    for missing_ms, is_usable in ((222, True), (223, False)):
        document = resource_document([IDLE] * 4)
        markers = document["threads"][0]["markers"]
        for column in ("startTime", "endTime"):
            markers[column][7:] = [time_ms + missing_ms for time_ms in markers[column][7:]]
        profile = parse_any_profile(json.dumps(document).encode(), "profile")
        assert isinstance(profile, ResourceProfile)
        demand = machine_demand(profile, S, "data", (1, 1))
        assert isinstance(demand, Demand) is is_usable


def predicted(*samples: Sample, task_s: float | None = None, **target: Any) -> Any:
    """Return the prediction on a pool that writes 50 MiB/s, from one that writes 100."""
    workers = [*pool_workers("intel", (100,) * 3), *pool_workers("amd-16", (50,) * 3, **target)]
    task_ns = None if task_s is None else round(task_s * S)
    runs = [RunProfile(made_of(*samples), "address", "test-1", "intel", task_ns)]
    (task,) = predict(runs, workers)
    assert (task.program, task.sha256, task.pool) == ("test-1", None, "intel")
    return task, task.pools[0]


@pytest.mark.parametrize(
    ("samples", "target", "time_s"),
    [
        # Two half seconds at the ceiling take twice as long.
        ([IDLE, FULL, FULL, IDLE], {}, 3),
        ([IDLE] * 4, {}, 2),
        # At the ceiling and with nothing to do, a task waits for a journal, which is no iowait.
        ([IDLE, FULL._replace(waiting=0), IDLE, IDLE], {}, 2.5),
        # While it computes, memory takes the bytes; a window that syncs waits for those as well.
        ([IDLE, COMPUTING, IDLE, IDLE], {}, 2),
        ([IDLE, COMPUTING, FULL, IDLE], {}, 3),
        # Memory has room, but what holds the task back at the ceiling comes after all that is in
        # it.
        ([IDLE, CACHED, CACHED._replace(waiting=0.05, user=0.41), IDLE], {}, 2.09),
        ([IDLE, CACHED, CACHED._replace(waiting=0.05, user=0.39), IDLE], {}, 3),
        # A limit of requests counts them after merging, as far as is known.
        ([IDLE, Sample(4, 0.5, writes=50), IDLE, IDLE], {"change": LIMITED}, 2.08),
        # On half of the CPUs, what kept two busy takes twice as long.
        ([IDLE, IDLE._replace(user=1.0), IDLE, IDLE], {"change": {"host.cpu_count": 1}}, 2.5),
    ],
)  # fmt: skip
def test_times(samples: list[Sample], target: dict[str, Any], time_s: float) -> None:
    """What changes a window on the other pool."""
    _, pool = predicted(*samples, **target)
    assert pool.reason is None
    assert pool.time_ns / S == pytest.approx(time_s, rel=0.03)


def test_syncs() -> None:
    """Where it waited below the ceiling, half of its requests are taken to be syncs."""
    samples = [IDLE, Sample(0.1, 0.5, writes=400), IDLE, IDLE]
    _, pool = predicted(*samples, slower={"sync-write/append-fsync": 3})
    assert pool.added_by_syncs_ns == pytest.approx(2 * 100 * sync_ns(), rel=0.03)
    only: dict[str, Any] = {"only": ("spawn", "random-io")}
    _, pool = predicted(*samples, **only)
    assert text_of(pool.reason).startswith("amd-16 has no append-fsync at workspace; measure all")
    _, pool = predicted(*(sample._replace(waiting=0) for sample in samples), **only)
    assert pool.reason is None


@pytest.mark.parametrize(("per_s", "is_known"), [(20_400, True), (20_600, False)])
def test_requests_where_bytes_are_the_limit(per_s: int, is_known: bool) -> None:
    """Requests of 4 KiB that make 0.8 of the write ceiling show no limit of requests."""
    figures = {
        (PoolFigure.WRITE_RATE, "data"): [math.log(100 * MIB)],
        (PoolFigure.WRITES, "data"): [math.log(per_s)],
    }
    pool = PoolStorage("amd-16", 1, figures, None, None, None)
    assert pool.writes_per_s("data") == (pytest.approx(per_s) if is_known else math.inf)
    assert pool.least_writes_per_s("data") == pytest.approx(per_s)


def test_places() -> None:
    """The usual one, else the first that was measured."""
    run = RunProfile(made_of(IDLE, IDLE), "a", "b", "amd-16")
    for names, place in ((("a", "workspace"), "workspace"), (("b", "a"), "a"), ((), "workspace")):
        figures = {(PoolFigure.WRITE_RATE, name): [1.0] for name in names}
        pool = PoolStorage("amd-16", 1, figures, None, None, None)
        assert ProfiledRun.of(run, pool).places == (place,)


def test_the_time_outside_the_profile() -> None:
    """A quarter of it is taken to be writing, the interval has more; a note says how long it is."""
    task, pool = predicted(IDLE, FULL, FULL, IDLE, task_s=4)
    assert task.measured_ns == (4 * S,)
    # 2 s become 3, and half a second of the other 2 becomes 1.
    assert pool.time_ns / S == pytest.approx(5.5, rel=0.03)
    _, whole = predicted(IDLE, FULL, FULL, IDLE)
    assert math.log(pool.high_ns / pool.low_ns) > 1.2 * math.log(whole.high_ns / whole.low_ns)
    assert [text_of(note).partition(",")[0] for note in task.notes] == [
        "A resource profile is of a whole machine and has no syncs",
        "2.00 s of the task are before or after its profile",
    ]
    task, _ = predicted(IDLE, FULL, FULL, IDLE, task_s=2.2)
    assert len(task.notes) == 1


def test_how_often_bytes_are_counted() -> None:
    """Twice for a volume on disks; once to three times where no result shows the devices."""
    counting = PoolStorage.of("intel", pool_workers("intel"), {}).counting
    assert counting == {"workspace": (2.0, 2.0)}
    unknown: dict[str, Any] = {"storage.places.0.devices": []}
    source = pool_workers("intel", (100,) * 3, change=unknown)
    workers = [*source, *pool_workers("amd-16", (50,) * 3)]
    samples = [Sample(written_mib=86.6, waiting=0.5)] * 4
    (task,) = predict([RunProfile(made_of(*samples), "a", "b", "intel")], workers)
    pool: Any = task.pools[0]
    assert task.written_bytes == pytest.approx(4 * 50 * MIB, rel=0.01)
    assert pool.time_ns / S == pytest.approx(4, rel=0.03)
    _, known = predicted(*samples)
    assert pool.high_ns / pool.low_ns > 1.1 * known.high_ns / known.low_ns


def test_runs_of_a_label() -> None:
    """They are one task, of which those on another pool are measured times."""
    workers = [*pool_workers("intel", (100,) * 3), *pool_workers("amd-16", (50,) * 3)]
    runs = [
        RunProfile(made_of(IDLE, FULL, FULL, IDLE), f"a{number}", label, pool, task_ns)
        for number, (label, pool, task_ns) in enumerate(
            [
                ("x", "intel", 3 * S),
                ("x", "intel", 4 * S),
                ("x", "amd-16", 6 * S),
                ("y", "intel", None),
            ]
        )
    ]
    tasks = predict(runs, workers)
    measured = [(task.program, task.measured_ns) for task in tasks]
    assert measured == [("x", (3 * S, 4 * S)), ("y", (2 * S,))]
    assert tasks[0].pools[0].measured_ns == (6 * S,)
