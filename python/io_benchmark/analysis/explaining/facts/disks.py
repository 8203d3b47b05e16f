# SPDX-License-Identifier: MPL-2.0
"""What the disks of a run did in each of the two ways: reading and writing.

A side keeps what a function reads of its runs, so these are functions that are made once.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.reading import disk_rates
from io_benchmark.analysis.reading.disks import stack_of

Read = Callable[[Run], float | None]
_READ, _WRITTEN = 0, 1  # the positions in what was recorded


def _moved_bytes(way: int, run: Run) -> float | None:
    moved = disk_rates.moved_bytes(run)
    return None if moved is None else float(moved[way])


def _moved_per_sample(way: int, run: Run) -> float | None:
    moved = disk_rates.moved_bytes(run)
    return None if moved is None else moved[way] / len(run.total_ns)


def _rate_kept_up(way: int, run: Run) -> float | None:
    peaks, averages = disk_rates.peak_bytes_per_s(run), disk_rates.moved_bytes_per_s(run)
    return None if peaks is None or averages is None else peaks[way] or averages[way]


def _moving_share(way: int, run: Run) -> float | None:
    rates, peaks = disk_rates.moved_bytes_per_s(run), disk_rates.peak_bytes_per_s(run)
    if rates is None or peaks is None:
        return None
    return rates[way] / peaks[way] if peaks[way] else 0.0


def _rate_of_all_disks(way: int, run: Run) -> float | None:
    stack, rates = stack_of(run), disk_rates.peak_bytes_per_s(run)
    if stack is None or rates is None:
        return None
    # A mirror writes each byte of a file several times.
    return rates[way] / stack.copies if way == _WRITTEN else rates[way]


def _rate_per_disk(way: int, run: Run) -> float | None:
    stack, rates = stack_of(run), disk_rates.peak_bytes_per_s(run)
    if stack is None or rates is None:
        return None
    return rates[way] / (stack.writing if way == _WRITTEN else stack.width)


def _rate_of_busy_disks(way: int, run: Run) -> float | None:
    if run.retrieves is None and not disk_rates.windows_of(run):
        return None
    return _rate_of_all_disks(way, run)


class DiskWay(NamedTuple):
    """What is read of a run about one way in which its disks move bytes."""

    verb: str
    past: str
    moved_bytes: Read
    moved_per_sample: Read
    rate_kept_up: Read  # else the run's average
    moving_share: Read  # of the run, at the rate that the disks kept up
    rate_of_all_disks: Read  # at which files were read or written while copies waited
    rate_per_disk: Read  # that each disk kept up while copies waited
    rate_of_busy_disks: Read  # as of all; without windows, small operations keep no disk busy
    # What the disks can do at least: what idle ones wrote counts as well as what busy ones kept up.
    known_rates: tuple[Read, ...]

    @classmethod
    def of(cls, number: int, verb: str, past: str, known_rates: tuple[Read, ...]) -> "DiskWay":
        return cls(
            verb,
            past,
            partial(_moved_bytes, number),
            partial(_moved_per_sample, number),
            partial(_rate_kept_up, number),
            partial(_moving_share, number),
            partial(_rate_of_all_disks, number),
            partial(_rate_per_disk, number),
            partial(_rate_of_busy_disks, number),
            known_rates,
        )


READS = DiskWay.of(_READ, "read", "read", (disk_rates.busy_read_rate,))
WRITES = DiskWay.of(
    _WRITTEN, "write", "wrote", (disk_rates.idle_write_rate, disk_rates.busy_write_rate)
)
