# SPDX-License-Identifier: MPL-2.0
"""What decides a cause: facts of both sides in, the state out, just below and just above each threshold.

All facts are those of seed 000's case, whose slower side takes 69.7 ms longer per retrieve, with the
changes of a row. A state stands for itself; a sentence is the beginning of the explanation.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from operator import attrgetter
from typing import Any

import pytest
import sample_report
import seed_case
from msgspec.structs import replace
from seed_workers import SUBJECT, causes_of, explanation_text, workers_of

from io_benchmark.analysis.diagnosis.case import OtherMeasurement
from io_benchmark.analysis.model import Cause, Detail, State, Subject, Verdict
from io_benchmark.analysis.observed.side_views import SideViews
from io_benchmark.results.workloads.exec import OVER_HARDLINKED
from io_benchmark.results.workloads.metadata import SCALING

SUPPORTED, RULED_OUT, NOT_OBSERVABLE = State.SUPPORTED, State.RULED_OUT, State.NOT_OBSERVABLE
NOT_SEPARABLE, NOT_JUDGED = State.NOT_SEPARABLE, State.NOT_JUDGED
MS, MIB = 1_000_000, 1024 * 1024
ENTRY = "workloads.0"
COLUMNS = "timeline.columns"
COPIED_BYTES = sum(seed_case.SIZES_MIB[index] for index in seed_case.sequence()) * MIB
RETRIEVES = seed_case.RETRIEVES
# What the slower side's disk writes per second in the seed's case.
RATE = 388 * MIB
Facts = dict[str, Any]
Expected = State | str  # the beginning of the explanation
Case = tuple[Any, Expected]


def counting(name: str, per_s: float) -> Facts:
    """A counter of the timeline, which has a sample per second."""
    return {f"{COLUMNS}.{name}": lambda column: [round(per_s * row) for row in range(len(column))]}


def spent(**times_ms: float) -> Facts:
    """What processes did in each retrieve, in ms; the rest of it was blocked."""
    names = [
        f"{phase}_{kind}" for phase in ("lookup", "copy") for kind in ("user", "kernel", "waiting")
    ]
    return {
        f"{ENTRY}.samples.{name}_ns": [round(times_ms.get(name, 0.0) * MS)] * RETRIEVES
        for name in names
    }


def slower_lookups(more_ms: float) -> Facts:
    return {
        f"{ENTRY}.samples.lookup_ns": lambda column: [ns + round(more_ms * MS) for ns in column]
    }


def waiting_for_io(share: float) -> Facts:
    return counting("psi_io_some_us", share * 1e6)


def written(share: float) -> Facts:
    """The disk wrote this part of the bytes copied, and read nothing."""
    moved = {"nvme1n1": {"read": 0, "written": round(share * COPIED_BYTES)}}
    return {f"{ENTRY}.device_bytes": moved}


def disk_rate(bytes_per_s: float) -> Facts:
    return {"timeline.devices.nvme1n1.written_bytes": counting("", bytes_per_s)[f"{COLUMNS}."]}


def both_disks(factor: float) -> Facts:
    return {
        f"timeline.devices.{disk}.written_bytes": lambda column: [round(factor * n) for n in column]
        for disk in ("nvme1n1", "nvme2n1")
    }


def limit(value: float, kind: str = "write_bytes_per_s") -> Facts:
    place = {"group": "/sys/fs/cgroup", "device": "259:0", "device_name": "nvme1n1"}
    return {"limits.io": [{**place, "kind": kind, "value": round(value)}]}


def operations_limit(value: float) -> Facts:
    return limit(value, "write_operations_per_s")


def memory_limit(value: int) -> Facts:
    return {
        "limits.memory": [{"group": "/sys/fs/cgroup", "file": "memory.max", "bytes": value * MIB}]
    }


def cpu_limit(cpus: float) -> Facts:
    quota = {"group": "/sys/fs/cgroup", "quota_us": round(cpus * 100_000), "period_us": 100_000}
    return {"limits.cpu": [quota]}


def touching(us_per_mib: int) -> Facts:
    return {"host.first_touch_ns_per_mib": [us_per_mib * 1000] * 8}


def free_memory(mib: int) -> Facts:
    return {"host.memory_available_bytes": mib * MIB}


def pressed(share: float) -> Facts:
    return counting("psi_memory_some_us", share * 1e6)


def more_cpu_time(factor: float) -> Facts:
    return {
        f"{COLUMNS}.own_{name}_ms": lambda column: [round(factor * ms) for ms in column]
        for name in ("user", "system")
    }


def cp(version: str) -> Facts:
    return {
        "host.tools.cp.version": f"cp (GNU coreutils) {version}",
        f"{ENTRY}.fidelity": "real",
    }


def last_third(factor: float) -> Facts:
    def slow_down(column: list[int]) -> list[int]:
        return [
            round(ns * (factor if row >= 2 * len(column) / 3 else 1))
            for row, ns in enumerate(column)
        ]

    return {f"{ENTRY}.samples.copy_ns": slow_down}


def first(count: int) -> Facts:
    return {
        f"{ENTRY}.samples": lambda samples: {
            name: column[:count] for name, column in samples.items()
        }
    }


def held_for(seconds: int) -> Facts:
    """The disk writes 200 MiB/s for so long after the first retrieve, and then half of it."""

    def column(before: list[int]) -> list[int]:
        rates = [200 * MIB // (1 if row < 16 + seconds else 2) for row in range(len(before))]
        return list(accumulate(rates))

    return {"timeline.devices.nvme1n1.written_bytes": column, **limit(200 * MIB)}


def resident(share: float) -> Facts:
    return {f"{ENTRY}.cache_state.resident_bytes": round(share * sum(seed_case.SIZES_MIB) * MIB)}


FRESH = {f"{ENTRY}.destination": "fresh"}
WORK = {"copy_user": 2.0, "copy_kernel": 18.0}
TOO_SMALL = "The sides differ in this, but"
EQUAL_COSTS = "The sides differ in nothing that costs time here."
SLOWED_DOWN = "The slower side slowed down during the run, but without that"


def slower_work(factor: float, **factors: float) -> Facts:
    return spent(
        **{name: ms * factors.get(name, factor) for name, ms in WORK.items()}
    ) | more_cpu_time(2)


def slower(name: str, facts: Callable[[Any], Facts], *edge: Case, **more: Any) -> Any:
    """A row: the cause, its threshold, facts of the slower side, and what two values lead to."""
    return pytest.param(name.partition(":")[0], facts, edge, more, id=name)


def near_cap(share: float) -> Facts:
    return {"timeline": None, f"{ENTRY}.device_bytes": lambda moved: times_written(moved, share)}


def times_written(moved: Any, factor: float) -> Any:
    return {
        name: {"read": 0, "written": round(factor * disk["written"])}
        for name, disk in moved.items()
    }


def few_cpus_work(lookup_user_ms: float) -> Facts:
    return slower_work(2) | spent(copy_user=4, copy_kernel=36, lookup_user=lookup_user_ms)


SAME_CPU = {"host.cpu_model": "same"}
HALF_RATE, HALF_BYTES = disk_rate(RATE / 2), {"timeline": None, **written(0.5)}
AMD_30 = {"candidate": "amd-30"}
EDGES = [
    slower("lookup-cost: a fifth", slower_lookups, (16.5, RULED_OUT), (18.5, NOT_SEPARABLE)),
    slower(
        *("lookup-cost: disks write", lambda share: slower_lookups(40) | written(share)),
        *((0.19, SUPPORTED), (0.21, NOT_SEPARABLE)),
    ),
    slower(
        *("lookup-cost: disks limit", lambda share: slower_lookups(40) | waiting_for_io(share)),
        *((0.19, SUPPORTED), (0.21, NOT_SEPARABLE)),
    ),
    slower("device-count: waits", waiting_for_io, (0.19, RULED_OUT), (0.21, SUPPORTED)),
    slower("device-count: hardly moved", written, (0.19, RULED_OUT), (0.21, SUPPORTED)),
    slower(
        *("device-count: parts", lambda ms: spent(copy_kernel=ms), (62, TOO_SMALL)),
        *((59.5, SUPPORTED),),
        faster=spent(copy_kernel=5),
    ),
    slower(
        "disk-speed: near its cap", near_cap, (0.465, NOT_OBSERVABLE), (0.485, SUPPORTED), **AMD_30
    ),
    slower(
        *("disk-speed: as fast", both_disks, (0.90, TOO_SMALL)),
        *((0.925, "Each disk of the slower side wrote as fast."),),
        **AMD_30,
    ),
    slower(
        *("cgroup-io-limit: reached", lambda mib: limit(mib * MIB) | HALF_RATE),
        *((229, RULED_OUT), (227, SUPPORTED)),
    ),
    slower(
        *("cgroup-io-limit: enforced", lambda mib: limit(mib * MIB) | HALF_RATE),
        *((154, RULED_OUT), (157, SUPPORTED)),
    ),
    slower(
        *("cgroup-io-limit: on average", lambda mib: limit(mib * MIB) | HALF_BYTES),
        *((280, RULED_OUT), (272, SUPPORTED)),
    ),
    slower("cgroup-io-limit: held", held_for, (15, RULED_OUT), (17, SUPPORTED)),
    slower(
        *("cgroup-io-limit: requests", lambda number: operations_limit(number) | HALF_RATE),
        *((6300, RULED_OUT), (6100, NOT_SEPARABLE)),
    ),
    slower(
        *("cgroup-io-limit: as fast", lambda mib: limit(335 * MIB) | disk_rate(mib * MIB)),
        *((340, "A cgroup limits the slower side's I/O, but each of its disks"), (330, TOO_SMALL)),
    ),
    slower(
        *("cgroup-memory-limit: holds it twice", memory_limit, (11_401, EQUAL_COSTS)),
        *((11_399, "The slower side's memory is limited more tightly, but"),),
    ),
    slower(
        *("cgroup-cpu-limit: enough CPUs", cpu_limit, (2.01, EQUAL_COSTS)),
        *((1.99, "The slower side has a smaller quota, but"),),
    ),
    slower("cgroup-cpu-limit: a fifth", cpu_limit, (0.62, RULED_OUT), (0.58, SUPPORTED)),
    slower(
        *("memory-first-touch: more", touching, (198, "New memory costs the slower side no more.")),
        *((202, "New memory costs the slower side more, but"),),
        faster=touching(160),
    ),
    slower(
        *("memory-first-touch: a fifth", touching, (390, RULED_OUT), (420, SUPPORTED)),
        faster=touching(160),
    ),
    slower(
        *("dirty-limit: as much room", lambda percent: FRESH | {"host.vm.dirty_ratio": percent}),
        *((14, RULED_OUT), (13, NOT_SEPARABLE)),
        faster=FRESH,
        subject=replace(SUBJECT, destination="fresh"),
    ),
    slower("dirty-limit: two files", free_memory, (1075, RULED_OUT), (1060, NOT_SEPARABLE)),
    slower(
        *("cpu: stolen", lambda per_s: counting("cpu_steal_ms", per_s) | SAME_CPU),
        *((9.5, RULED_OUT), (11, SUPPORTED)),
        faster=SAME_CPU,
    ),
    slower("cpu: a fifth", more_cpu_time, (1.6, RULED_OUT), (1.75, SUPPORTED)),
    slower(
        *(
            "cpu: slower",
            slower_work,
            (1.09, "The CPUs differ, but the slower side's CPU time is not"),
        ),
        *((1.11, TOO_SMALL),),
        faster=spent(**WORK),
    ),
    slower(
        *("cpu: one factor", lambda factor: slower_work(2, copy_user=factor)),
        *((1.55, RULED_OUT), (1.65, SUPPORTED)),
        faster=spent(**WORK),
    ),
    slower(
        *("cpu: too short to count", few_cpus_work, (0.43, RULED_OUT), (0.39, SUPPORTED)),
        faster=spent(**WORK, lookup_user=0.43),
    ),
    slower(
        *("other-load: the same work", lambda ms: spent(copy_kernel=ms, copy_waiting=30)),
        *((15.5, RULED_OUT), (14.5, SUPPORTED)),
        faster=spent(copy_kernel=5),
    ),
    slower("other-load: pressed", pressed, (0.09, RULED_OUT), (0.11, SUPPORTED)),
    slower("other-load: more written", written, (1.24, RULED_OUT), (1.26, SUPPORTED)),
    slower(
        *("drift-over-time: slower", last_third),
        *((1.05, "The slower side was no slower at its end."), (1.15, SLOWED_DOWN)),
    ),
    slower("drift-over-time: samples", first, (59, NOT_OBSERVABLE), (60, RULED_OUT)),
    slower(
        *("image-and-tools: coreutils 9", cp, ("9.0", NOT_OBSERVABLE), ("8.32", SUPPORTED)),
        faster=cp("9.4"),
        subject=replace(SUBJECT, fidelity="real"),
    ),
]


@pytest.mark.parametrize(("cause", "facts", "edge", "more"), EDGES)
def test_thresholds(
    cause: str, facts: Callable[[Any], Facts], edge: Sequence[Case], more: Mapping[str, Any]
) -> None:
    """Each decides between two states, or between two reasons."""
    options = {"candidate": "amd-16", "faster": {}, **more}
    change = {"intel": options.pop("faster")}
    for value, expected in edge:
        changed = {**change, options["candidate"]: facts(value)}
        assert_judged(causes_of(changed, **options)[cause], expected)


def assert_judged(cause: Cause, expected: Expected) -> None:
    beginning = explanation_text(cause)[: len(expected)]
    assert expected in (cause.state, beginning)


def measurement(
    workload: str,
    variant: str,
    slower_ms: float,
    name: str = "",
    value: float = 0,
    threads: int = 0,
) -> OtherMeasurement:
    """The faster side takes 1 ms; each has a figure of this name, 4 on the faster side."""
    faster, slower = (
        sample_report.figures(ms, 1, 1, 1, 1, details=(Detail(name, "", figure, "", True),))
        for ms, figure in ((1, 4.0), (slower_ms, value))
    )
    subject = Subject(workload, SUBJECT.place, variant=variant, threads=threads)
    compared = sample_report.comparison("amd-16", slower_ms, 1.0, 2.0, Verdict.SLOWER)
    return OtherMeasurement(replace(compared, subject=subject), faster, slower)


def writes(appending_ms: float, in_place_ms: float = 1) -> list[OtherMeasurement]:
    times = {"dsync-overwrite": in_place_ms, "dsync-append": appending_ms}
    return [measurement("sync-write", name, ms) for name, ms in times.items()]


def timed(
    name: str,
    measure: Callable[[float], list[OtherMeasurement]],
    *edge: Case,
    subject: Subject = SUBJECT,
    **facts: Any,
) -> Any:
    """A row: the cause, its threshold, what else was measured, and what two times lead to."""
    return pytest.param(name.partition(":")[0], measure, edge, subject, facts, id=name)


def scheduled(name: str, **settings: int) -> Facts:
    disk = "storage.places.0.devices.1.scheduler"
    return {disk: name, f"{disk}_settings": settings}


def appending(time_ms: float) -> list[OtherMeasurement]:
    return writes(time_ms)[1:]


IDLES = scheduled("bfq", slice_idle=8)
SYNC, STAT, COPIES = (
    Subject(workload, SUBJECT.place, variant=variant, threads=threads)
    for workload, variant, threads in (
        *(("sync-write", "dsync-append", 0), ("metadata", "stat", 4), ("exec", "copies", 0)),
    )
)
MEASURED = [
    timed(
        *("spawn-cost: a fifth", lambda ms: [measurement("spawn", "", ms)]),
        *((22.5, RULED_OUT), (23.5, NOT_SEPARABLE)),
        **slower_lookups(40),
    ),
    timed(
        *("random-io: slower", lambda ms: [measurement("random-io", "write-depth-32", ms)]),
        *((1.09, RULED_OUT), (1.11, NOT_SEPARABLE)),
    ),
    timed(
        *("scheduler: as fast", appending, (1.09, RULED_OUT), (1.11, NOT_OBSERVABLE)),
        **scheduled("kyber"),
    ),
    timed("scheduler-idling: as fast", appending, (1.09, RULED_OUT), (1.11, SUPPORTED), **IDLES),
    timed(
        *("scheduler-starvation: starves", appending, (9.9, RULED_OUT), (10.1, SUPPORTED)),
        **scheduled("bfq", strict_guarantees=1, slice_idle=0),
    ),
    timed(
        *("slow-flush: slower", lambda ms: writes(ms, ms), (1.24, RULED_OUT), (1.26, SUPPORTED)),
        subject=SYNC,
    ),
    timed("slow-journal: slower", writes, (1.24, RULED_OUT), (1.26, SUPPORTED), subject=SYNC),
    timed(
        *(
            "metadata-lock: scales",
            lambda gain: [measurement("metadata", "stat", 4, SCALING, gain, 4)],
        ),
        *((3.01, RULED_OUT), (2.99, SUPPORTED)),
        subject=STAT,
    ),
    timed(
        *(
            "per-builder-copies: cost",
            lambda ms: [measurement("exec", "copies", 2, OVER_HARDLINKED, ms)],
        ),
        *((4.39, RULED_OUT), (4.41, SUPPORTED)),
        subject=COPIES,
    ),
]


@pytest.mark.parametrize(("cause", "measure", "edge", "subject", "facts"), MEASURED)
def test_thresholds_of_other_measurements(
    cause: str,
    measure: Callable[[float], list[OtherMeasurement]],
    edge: Sequence[Case],
    subject: Subject,
    facts: Facts,
) -> None:
    """What another workload took decides between two states."""
    for value, expected in edge:
        causes = causes_of({"amd-16": facts}, subject=subject, measurements=measure(value))
        assert_judged(causes[cause], expected)


@pytest.mark.parametrize(
    ("cause", "ratios", "states"),
    [
        pytest.param("device-count", (1.019, 1.021), (NOT_JUDGED, SUPPORTED), id="two percent"),
        pytest.param("device-count", (1 / 1.019, 1 / 1.021), (NOT_JUDGED, RULED_OUT), id="faster"),
        pytest.param("device-count", (33, 31), (RULED_OUT, SUPPORTED), id="a fifth is predicted"),
    ],
)
def test_ratios(cause: str, ratios: tuple[float, float], states: tuple[State, State]) -> None:
    """The difference that is to be explained decides, too."""
    assert tuple(causes_of(ratio=ratio)[cause].state for ratio in ratios) == states


def taking(time_ms: float) -> Facts:
    """A worker of the slower side whose retrieves take this long on average."""
    factor = (time_ms - 1.35) / (145.7 - 1.35)
    return {f"{ENTRY}.samples.copy_ns": lambda column: [round(factor * ns) for ns in column]}


@pytest.mark.parametrize(
    ("with_fact_ms", "without_ms", "expected"),
    [
        pytest.param([145.7] * 3, [121], NOT_SEPARABLE, id="one may be slow by chance"),
        pytest.param([145.7] * 3, [122], "As slow without this: 1 of 4", id="one is slow"),
        pytest.param([145.7] * 2, [118] * 2, NOT_SEPARABLE, id="two may be slow by chance"),
        pytest.param([145.7] * 2, [119] * 2, "As slow without this: 2 of 4", id="two are slow"),
        pytest.param([145.7] * 3 + [95], [], NOT_SEPARABLE, id="one may be fast by chance"),
        pytest.param(
            [145.7] * 3 + [92],
            [],
            "As fast as the faster side in spite of this: 1 of 4",
            id="one is fast",
        ),
        pytest.param(
            [145.7],
            [100] * 3,
            "Only 1 of 4 workers of the slower side has this",
            id="only one has it",
        ),
        pytest.param([145.7] * 2, [100] * 2, NOT_SEPARABLE, id="two have it"),
    ],
)
def test_workers_that_contradict(
    with_fact_ms: list[float], without_ms: list[float], expected: State | str
) -> None:
    """A worker counts where it is clearly slow or fast; the mean of several is known better by √n."""
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
    mean_ns = SideViews.of_workers(machines, SUBJECT).mean(attrgetter("lookup_mean_ns"))
    assert mean_ns == pytest.approx(31.35 * MS, rel=0.01)


def test_a_counter_that_stays_at_zero() -> None:
    """It shows that nothing waited; a missing one shows nothing."""
    missing = {"timeline": None, "task.instance_type": None}
    for facts, state in ((waiting_for_io(0), RULED_OUT), (missing, SUPPORTED)):
        assert causes_of({"amd-16": facts})["device-count"].state is state
