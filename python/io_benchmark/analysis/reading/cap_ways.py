# SPDX-License-Identifier: MPL-2.0
"""The rates that a cap may be about: which figures of tables and of runs are of each."""

from collections.abc import Callable, Sequence
from math import fsum
from operator import mul
from statistics import fmean, median, pstdev

from msgspec import Struct

from io_benchmark.analysis.model.once import once
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.statements import Unit
from io_benchmark.analysis.reading.caps.limits import Rates
from io_benchmark.analysis.reading.disk_rates import (
    busy_read_rate,
    busy_write_rate,
    idle_write_rate,
    waits_for_disks,
    windows_of,
)
from io_benchmark.analysis.reading.windows import Window
from io_benchmark.results.machine import WINDOWS
from io_benchmark.results.parts import NS_PER_S

# A window counts where copies are blocked for this share of it. Fewer show no rate.
_BLOCKED_SHARE, _FEWEST_WINDOWS = 0.2, 4
# Of two rates, one is flat where it varies by less than this part of what the other does. Where
# a disk works only while copies wait, that is a tenth, and where it always works, about as much.
_FLATTER_SHARE = 0.5


class CapWay(Struct, frozen=True):
    """What a cap is about: which figures of tables and of runs are of it."""

    name: str
    unit: Unit
    published: Callable[[Rates], float | None]
    measured: Callable[[Run], float | None]  # what the disks are known to reach


@once
def _kept_up(run: Run) -> float | None:
    """Return the highest rate of writing that the disk is known to reach."""
    blocked = [window for window in windows_of(run) if window.blocked_share >= _BLOCKED_SHARE]
    writing = [window for window in blocked if window.hardly_reads and window.written_bytes_per_s]
    rates = [idle_write_rate(run)]
    if waits_for_disks(run) and len(blocked) >= _FEWEST_WINDOWS:
        windows = writing if len(writing) >= _FEWEST_WINDOWS else blocked
        usual = median(window.written_bytes_per_s for window in windows)
        rates.append(_rate_while_blocked(blocked) or _rate_while_blocked(windows) or usual)
    if run.system == WINDOWS:
        rates.append(busy_write_rate(run))
    return max((rate for rate in rates if rate), default=None)


def _rate_while_blocked(windows: Sequence[Window]) -> float | None:
    """Return the rate of a disk that writes only while copies are blocked; None if it always does.

    A cap is flat. Where copies are also blocked by reads, blocked = written ÷ rate + read ÷ another
    rate, of which the least squares are taken.
    """
    written = [window.written_bytes_per_s for window in windows]
    read = [window.read_bytes_per_s for window in windows]
    blocked = [window.blocked_share for window in windows]
    by_writes, by_reads = _least_squares(written, read, blocked)
    if by_writes <= 0:
        return None
    rest = [
        share - by_writes * write - by_reads * read_rate
        for share, write, read_rate in zip(blocked, written, read, strict=True)
    ]
    varies, varies_by_itself = pstdev(rest) / fmean(blocked), pstdev(written) / fmean(written)
    return 1 / by_writes if varies < _FLATTER_SHARE * varies_by_itself else None


def _least_squares(
    first: Sequence[float], second: Sequence[float], sums: Sequence[float]
) -> tuple[float, float]:
    """Return by which factors the two make these sums; 0 for the second if it would be less."""

    def product(column: Sequence[float], factors: Sequence[float]) -> float:
        return fsum(map(mul, column, factors))

    squares, mixed = (product(first, first), product(second, second)), product(first, second)
    of_first, of_second = product(first, sums), product(second, sums)
    determinant = squares[0] * squares[1] - mixed**2
    if determinant > 0:
        by_second = (of_second * squares[0] - of_first * mixed) / determinant
        if by_second > 0:
            return (of_first * squares[1] - of_second * mixed) / determinant, by_second
    return (of_first / squares[0] if squares[0] else 0.0), 0.0


def _operations_per_s(run: Run) -> float | None:
    return NS_PER_S / run.mean_ns if run.is_measured else None


READING = CapWay(
    "read", Unit.BYTES_PER_SECOND, lambda rates: rates.read_bytes_per_s, busy_read_rate
)
WRITING = CapWay("write", Unit.BYTES_PER_SECOND, lambda rates: rates.write_bytes_per_s, _kept_up)
# Of small operations that do not wait for each other.
OPERATIONS = {
    "read": CapWay("read-operations", Unit.IOPS, lambda rates: rates.read_iops, _operations_per_s),
    "write": CapWay(
        "write-operations", Unit.IOPS, lambda rates: rates.write_iops, _operations_per_s
    ),
}
WAYS = (WRITING, READING, *OPERATIONS.values())
