# SPDX-License-Identifier: MPL-2.0
"""What copies and batches waited for: storage where something shows it, else another thing."""

from array import array
from collections.abc import Sequence
from typing import Any

import pytest
import seed_workers
from checkout import ROOT
from msgspec.structs import replace
from seed_facts import ENTRY, Facts, changing, spent, waiting_for_io

from io_benchmark import results
from io_benchmark.analysis.model.run import Run, Worker
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.model.time_parts import Kind, Part, Phase
from io_benchmark.analysis.reading.disk_rates import waits_for_disks
from io_benchmark.analysis.reading.intake import _with_other_waits
from io_benchmark.analysis.reading.windows import BUSY_COLUMNS, _waited
from io_benchmark.results.format import RecordedTimeline
from io_benchmark.results.parts import BatchEntry, ProcessTimes

FILE = ROOT / "tests/fixtures/result-v2-all.json"
SECOND_NS, KIB = 10**9, 1024
SECONDS = 20
BLOCKED = 0.9  # of each batch of a second


def worker(
    *,
    pressed: float = 0.0,
    writing_kib: Sequence[int] = (0,),
    synced: float = 0.0,
    workload: str = "unpack",
    timed: bool = True,
    busy_cpus: int = 0,
    idle_waiting: float = 0.0,
    divided: bool = True,
) -> Worker:
    """Batches of a second, of which processes are blocked for 0.9.

    `writing_kib` repeats each second.
    """
    times_ns = range(SECOND_NS, (SECONDS + 2) * SECOND_NS, SECOND_NS)
    zeros = [0] * len(times_ns)
    columns: dict[str, Sequence[Any]] = {
        **dict.fromkeys(BUSY_COLUMNS, zeros),
        "time_ns": times_ns,
        "psi_io_some_us": [round(pressed * at / 1000) for at in times_ns],
        "psi_memory_some_us": zeros,
        BUSY_COLUMNS[0]: [busy_cpus * at // 1_000_000 for at in times_ns],
        "cpu_iowait_ms": [round(idle_waiting * at / 1e6) for at in times_ns],
        "writeback_bytes": [writing_kib[at % len(writing_kib)] * KIB for at in range(-1, SECONDS)],
    }
    entry = Run(
        Subject(workload, "workspace", variant="warm"),
        start_ns=array("q", times_ns[:-1]),
        total_ns=array("q", [SECOND_NS] * SECONDS),
        operations=array("q", [1] * SECONDS),
        size_bytes=array("q", [0] * SECONDS),
        parts_ns={Part(Phase.OPERATION, Kind.BLOCKED): BLOCKED * SECOND_NS},
    )
    recorded = results.parse(FILE.read_bytes(), FILE.name)
    (facts, *_) = (each for each in recorded.workloads if isinstance(each, BatchEntry))
    observed = replace(facts.observed, sync_ns=round(synced * 1000), unpacked_bytes=0)
    facts = replace(facts, observed=observed, process_times=ProcessTimes(1000, 0, 0, None))
    (one,) = seed_workers.workers(pools=["amd-16"])
    timeline = RecordedTimeline(columns, {}) if timed else None
    entry = replace(entry, facts=facts)
    entries = (_with_other_waits(entry, timeline) if divided else entry,)
    return replace(one, runs=entries, result=replace(one.result, timeline=timeline))


def elsewhere(entry: Run, phase: Phase = Phase.OPERATION) -> float | None:
    """The seconds of an operation; None where the blocked time is not divided."""
    elsewhere_ns = entry.parts_ns.get(Part(phase, Kind.ELSEWHERE))
    return None if elsewhere_ns is None else elsewhere_ns / SECOND_NS


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        pytest.param({}, 0.9, id="nothing"),
        pytest.param({"writing_kib": (300, 0)}, 0.4, id="pages written half of the time"),
        pytest.param({"writing_kib": (256,)}, 0.0, id="always as much as shows writing"),
        pytest.param({"writing_kib": (255,)}, 0.9, id="always less than that"),
        pytest.param({"writing_kib": (300, 0), "pressed": 0.3}, 0.4, id="the larger of both"),
        pytest.param({"writing_kib": (300, 0), "pressed": 0.7}, 0.2, id="pressure"),
        pytest.param({"idle_waiting": 0.56, "pressed": 0.3}, 0.2, id="idle CPUs wait for longer"),
        pytest.param({"synced": 0.3}, 0.6, id="a final sync"),
        pytest.param({"synced": 0.3, "writing_kib": (300, 0)}, 0.1, id="a sync besides"),
        pytest.param({"workload": "sync-write"}, 0.0, id="each write is synced"),
    ],
)
def test_blocked_elsewhere(facts: dict[str, Any], expected: float) -> None:
    """A file system's journal and its space count nowhere, but pages are being written then."""
    (entry,) = worker(**facts).runs
    assert elsewhere(entry) == pytest.approx(expected, abs=0.02)


def test_both_sides_are_divided_or_none() -> None:
    """The parts of two workers are compared with each other."""
    known, unknown = worker(), worker(timed=False)
    (entry,) = unknown.runs
    empty = replace(unknown, runs=(Run(entry.subject),))
    for other, expected in ((unknown, None), (empty, 0.9)):
        side, second = (Side.of([one.runs[0]]) for one in (known, other))
        ((run,), _) = side.divided_like(second)
        assert elsewhere(run) == expected


@pytest.mark.parametrize(
    ("facts", "waits"),
    [
        pytest.param({"writing_kib": (300, 0)}, True, id="pages written half of the time"),
        pytest.param({"writing_kib": (300, 0, 0)}, False, id="less"),
        pytest.param({"pressed": 0.5}, True, id="pressure"),
        pytest.param({"pressed": 0.49}, False, id="less pressure"),
        pytest.param({"pressed": 0.06, "busy_cpus": 4}, True, id="pressure beside busy CPUs"),
        pytest.param({"pressed": 0.05, "busy_cpus": 4}, False, id="less pressure beside them"),
        pytest.param({"idle_waiting": 0.41}, True, id="idle CPUs wait"),
        pytest.param({"idle_waiting": 0.39}, False, id="they wait for less"),
        pytest.param({"synced": 0.5}, True, id="a sync for half of the time"),
        pytest.param({"synced": 0.49}, False, id="a shorter sync"),
        pytest.param({"timed": False}, True, id="nothing shows it"),
    ],
)
def test_disks_that_hardly_work(facts: dict[str, Any], waits: bool) -> None:
    """Nobody waits for them, so that their rate is not what they can do."""
    one = worker(**facts, divided=False)
    assert waits_for_disks(one.runs[0]) is waits


# Nothing else keeps a CPU busy.
IDLE = {
    f"timeline.columns.cpu_{name}_ms": changing(lambda _: 0)
    for name in ("user", "nice", "system", "irq", "softirq", "steal")
}


def starts(factor: float) -> Facts:
    return {f"{ENTRY}.samples.start_ns": changing(lambda ns: ns * factor)}


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        pytest.param(waiting_for_io(0), 0.144, id="no pressure"),
        pytest.param(waiting_for_io(0.5), 0.072, id="pressure for half of the time"),
        pytest.param(waiting_for_io(0.93), 0.009, id="more than clocks differ"),
        pytest.param(waiting_for_io(0.95), 0, id="as much as clocks differ"),
        pytest.param(waiting_for_io(1), 0, id="pressure all the time"),
        pytest.param(waiting_for_io(0) | starts(1.08), 0.144, id="short gaps between samples"),
        pytest.param(waiting_for_io(0) | starts(1.15), None, id="other samples in between"),
        pytest.param({"timeline": None}, None, id="no pressure recorded"),
    ],
)
def test_copies_blocked_elsewhere(facts: Facts, expected: float | None) -> None:
    """What pressure does not account for is the time for something else, of 0.145 s."""
    change = {"amd-16": IDLE | spent() | facts}
    (one,) = seed_workers.workers(pools=["amd-16"], change=change)
    assert elsewhere(one.runs[0], Phase.COPY) == pytest.approx(expected, abs=0.001)


@pytest.mark.parametrize("waited", [0.0, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("others", [0.0, 1.0, 15.0])
def test_pressure_is_averaged_over_busy_cpus(waited: float, others: float) -> None:
    """A wait on one CPU is a small pressure where other CPUs work; none of it is lost."""
    own = 0.1
    pressed = waited * (waited + own) / (waited + own + others)
    assert _waited(pressed, own, own + others) == pytest.approx(waited, abs=1e-9)
