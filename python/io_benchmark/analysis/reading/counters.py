# SPDX-License-Identifier: MPL-2.0
"""What the kernel counted while a run took its samples; None is what was not recorded."""

from io_benchmark.analysis.model.once import once
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.reading.windows import BUSY_COLUMNS, TimelineRows
from io_benchmark.results.format import RecordedTimeline
from io_benchmark.results.machine import WINDOWS
from io_benchmark.results.parts import NS_PER_S


@once
def rows_of(run: Run) -> TimelineRows:
    """Return the timeline's rows within the samples; none where nothing was recorded."""
    timeline = run.worker.result.timeline
    if timeline is None or not run.is_measured:
        return TimelineRows(RecordedTimeline({}, {}), ())
    return TimelineRows.of_samples(timeline, run)


def growth(run: Run, *columns: str) -> float | None:
    """Return how much counters of the timeline grew together per second, during the samples."""
    rows = rows_of(run)
    growths = [rows.growth(rows.timeline.columns.get(name)) for name in columns]
    complete = [each for each in growths if each is not None]
    return sum(complete) / rows.lasted_s if len(complete) == len(columns) else None


def per_operation_ms(run: Run, *columns: str) -> float | None:
    """Return the growth of counters in ms per retrieve or operation."""
    per_s = growth(run, *columns)
    if per_s is None:
        return None
    # Until the last sample's start.
    in_turns, starts_ns = bool(run.turn_ends), run.start_ns
    lasted_ns = sum(run.total_ns[:-1]) if in_turns else starts_ns[-1] - starts_ns[0]
    return per_s * lasted_ns / NS_PER_S / max(1, sum(run.operations[:-1]))


@once
def others_busy_share(run: Run) -> float | None:
    """Return the part of all CPUs' time in which they worked for other processes, on Windows.

    Linux records how long the process waited for them.
    """
    busy_ms = growth(run, "cpu_user_ms", "cpu_system_ms")
    own_ms = growth(run, "own_user_ms", "own_system_ms")
    if run.system != WINDOWS or busy_ms is None or own_ms is None or run.host is None:
        return None
    return max(0.0, busy_ms - own_ms) / 1000 / max(1, run.host.cpu_count)


def stolen_share(run: Run) -> float | None:
    """Return the part of the CPUs' busy time that other guests took."""
    stolen, total = growth(run, "cpu_steal_ms"), growth(run, *BUSY_COLUMNS)
    return None if stolen is None or not total else stolen / total


@once
def io_wait_share(run: Run) -> float | None:
    """Return the part of the time in which something waited for I/O: by pressure, or by idle CPUs.

    Not the pressure `full`: a neighbour that only computes would hide every wait of the copies.
    """
    pressed_us, idle_ms = growth(run, "psi_io_some_us"), growth(run, "cpu_iowait_ms") or 0.0
    return None if pressed_us is None else min(1.0, max(pressed_us / 1e6, idle_ms / 1e3))


def disk_growths(run: Run, column: str) -> list[float]:
    """Return how much a counter of each disk grew per second; nothing where unknown."""
    rows = rows_of(run)
    counters = (columns.get(column) for columns in rows.timeline.devices.values())
    growths = (grown for grown in map(rows.growth, counters) if grown is not None)
    return [grown / rows.lasted_s for grown in growths]


def busiest_share(run: Run) -> float | None:
    """Return the part of the time in which the busiest disk was busy."""
    return max((busy_ms / 1000 for busy_ms in disk_growths(run, "busy_ms")), default=None)
