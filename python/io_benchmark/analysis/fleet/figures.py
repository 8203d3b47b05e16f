# SPDX-License-Identifier: MPL-2.0
"""The figures of a fleet: what a pool can do, and from which measurements of a result each is.

All figures of disks are of the first place that a task names and measures. A figure with several
sources takes the first one that a result has. The source is a part of the reading's work, so that
only equal ones are compared. A figure that a result does not have is absent.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import truediv
from statistics import median
from typing import NamedTuple

from io_benchmark.analysis.fleet.fleet_model import FleetFigure
from io_benchmark.analysis.history.bounds import conditions_of
from io_benchmark.analysis.model.run import Run, Worker
from io_benchmark.analysis.model.statements import MIB
from io_benchmark.analysis.reading.capacity import fixed_work_rate
from io_benchmark.analysis.reading.disk_rates import (
    busy_read_rate,
    busy_write_rate,
    idle_write_rate,
)
from io_benchmark.analysis.validity.rules import COLD_SHARE, PLACE_KIND_RULE
from io_benchmark.results.parts import NS_PER_S

_S_PER_HOUR = 3600.0
_TIB_PER_HOUR = _S_PER_HOUR / MIB  # at 1 MiB/s
_BILLION, _MILLION, _THOUSAND = 1e9, 1e6, 1e3
# What is unpacked, the nearest to a task's set-up first: an archive that was just downloaded.
_UNPACKING = ("warm", "warm-sync", "cold", "cold-sync")
# First reads show how fast the disks read, where they read for this part of the time. Chosen: a
# hundred retrieves that vary by 30 % then show it to 15 %.
_READING_SHARE = 0.2
_DIGEST = 8

FIGURES = (
    FleetFigure(
        name="retrieve",
        label="Retrieve",
        unit="ms",
        higher_is_better=False,
        basis="cache-retrieve: the mean time of a lookup and a copy to the same file",
        work="thousand retrieves",
        work_per_hour=_S_PER_HOUR * NS_PER_S / 1e6 / _THOUSAND,
    ),
    FleetFigure(
        name="write",
        label="Write",
        unit="MiB/s",
        higher_is_better=True,
        basis=(
            "a file that idle disks wrote and synced; without trials, what the disks wrote while "
            "copies waited"
        ),
        work="TiB written",
        work_per_hour=_TIB_PER_HOUR,
    ),
    FleetFigure(
        name="read",
        label="Read",
        unit="MiB/s",
        higher_is_better=True,
        basis=(
            "cache-retrieve: how much longer the first read of a file takes than the next; else "
            "what the disks read while copies waited"
        ),
        work="TiB read",
        work_per_hour=_TIB_PER_HOUR,
    ),
    FleetFigure(
        name="random-read",
        label="Random reads",
        unit="IOPS",
        higher_is_better=True,
        basis="random-io: reads of 4 KiB past the page cache, 32 in flight",
        work="billion reads",
        work_per_hour=_S_PER_HOUR / _BILLION,
    ),
    FleetFigure(
        name="random-write",
        label="Random writes",
        unit="IOPS",
        higher_is_better=True,
        basis="random-io: writes of 4 KiB past the page cache, 32 in flight",
        work="billion writes",
        work_per_hour=_S_PER_HOUR / _BILLION,
    ),
    FleetFigure(
        name="flush",
        label="Flush",
        unit="µs",
        higher_is_better=False,
        basis="sync-write: the median time of a write of 512 bytes and its fsync",
    ),
    FleetFigure(
        name="copy",
        label="Copy in memory",
        unit="MiB/s",
        higher_is_better=True,
        basis="fixed work: one CPU copies between files in memory",
    ),
    FleetFigure(
        name="user",
        label="User work",
        unit="ops/s",
        higher_is_better=True,
        basis="fixed work: one CPU compresses a text of 9,000 bytes",
    ),
    FleetFigure(
        name="kernel",
        label="Kernel work",
        unit="calls/s",
        higher_is_better=True,
        basis="fixed work: one CPU does the cheapest system call",
    ),
    FleetFigure(
        name="cpus",
        label="CPUs",
        unit="CPUs",
        higher_is_better=True,
        basis="the CPUs that a task may use, or its quota",
        work="CPU hour",
        work_per_hour=1.0,
        is_counted=True,
    ),
    FleetFigure(
        name="spawn",
        label="Process starts",
        unit="starts/s",
        higher_is_better=True,
        basis="spawn: one process after another is started and waited for",
    ),
    FleetFigure(
        name="unpack",
        label="Unpack",
        unit="files/s",
        higher_is_better=True,
        basis=(
            "unpack: all files of an archive, small and large; in memory, where that was measured"
        ),
        work="million files",
        work_per_hour=_S_PER_HOUR / _MILLION,
    ),
)
BY_NAME = {figure.name: figure for figure in FIGURES}


class Measured(NamedTuple):
    """A figure of one result."""

    value: float
    work: str  # what was measured, and a digest of all that must be equal to be compared


def measured_figures(worker: Worker, runs: Sequence[Run]) -> dict[str, Measured]:
    """Return a worker's figures by name; `runs` are those that no rule refuses."""
    place = place_of(worker, runs)
    here = [run for run in runs if run.subject.place == place]
    values = dict(_of_host(worker, runs))
    for name, sources in _SOURCES.items():
        measured = next(filter(None, (source(here) for source in sources)), None)
        if measured is not None and measured.value > 0:
            values[name] = measured
    return {figure.name: values[figure.name] for figure in FIGURES if figure.name in values}


def place_of(worker: Worker, runs: Sequence[Run]) -> str | None:
    """Return the first place that the task named and measured."""
    measured = {run.subject.place for run in runs}
    named = (place.name for place in worker.result.config.places)
    return next((name for name in named if name in measured), min(measured, default=None))


_Source = Callable[[Sequence[Run]], Measured | None]


def _of(workload: str, variant: str, value: Callable[[Run], float]) -> _Source:
    """Return what reads a figure from the measurement of a workload."""

    def read(runs: Iterable[Run]) -> Measured | None:
        for run in runs:
            if (run.subject.workload, run.subject.variant) == (workload, variant):
                return Measured(value(run), _work(variant, run))
        return None

    return read


def _of_retrieves(name: str, value: Callable[[Run], float | None]) -> _Source:
    """Return what reads a figure from retrieves to the same file."""

    def read(runs: Iterable[Run]) -> Measured | None:
        for run in runs:
            if run.are_retrieves and run.subject.destination == "overwrite":
                number = value(run)
                if number is not None:
                    return Measured(number, _work(name, run))
        return None

    return read


def _write_ceiling(runs: Sequence[Run]) -> Measured | None:
    """Return how fast idle disks wrote the files of trials; their sizes make no difference."""
    rate = idle_write_rate(runs[0]) if runs else None
    if rate is None:
        return None
    kind = dict(conditions_of(runs[0])).get(PLACE_KIND_RULE)
    return Measured(rate / MIB, _named("ceiling", runs[0].subject.place, repr(kind)))


def _first_read_mib_per_s(run: Run) -> float | None:
    # A file that was in memory before does not show how fast the disks read.
    resident = run.retrieves.resident_share if run.retrieves is not None else None
    if resident is None or resident >= COLD_SHARE:
        return None
    rate = run.first_read_bytes_per_s
    if rate is None:
        return None
    # Otherwise it is by chance that they took longer.
    first_reads_s = sum(run.total_ns[sample] for sample in run.first_reads) / NS_PER_S
    reading_s = sum(run.size_bytes[sample] for sample in run.first_reads) / rate
    return _in_mib(rate) if reading_s >= _READING_SHARE * first_reads_s else None


def _busy_read_mib_per_s(run: Run) -> float | None:
    return _in_mib(busy_read_rate(run))


def _busy_write_mib_per_s(run: Run) -> float | None:
    return _in_mib(busy_write_rate(run))


def _in_mib(rate_bytes: float | None) -> float | None:
    return None if rate_bytes is None else rate_bytes / MIB


def _per_s(run: Run) -> float:
    return NS_PER_S / run.mean_ns


def _usual_us(run: Run) -> float:
    # A disk that limits bytes or requests delays single ones, which other figures show.
    times_ns: Iterable[float] = map(truediv, run.total_ns, run.operations)
    return median(times_ns) / 1e3


_SOURCES: Mapping[str, Sequence[_Source]] = {
    "retrieve": (_of_retrieves("overwrite", lambda run: run.mean_ns / 1e6),),
    "write": (_write_ceiling, _of_retrieves("while copies waited", _busy_write_mib_per_s)),
    "read": (
        _of_retrieves("first reads", _first_read_mib_per_s),
        _of_retrieves("while copies waited", _busy_read_mib_per_s),
    ),
    "random-read": (_of("random-io", "read-depth-32", _per_s),),
    "random-write": (_of("random-io", "write-depth-32", _per_s),),
    "flush": (_of("sync-write", "append-fsync", _usual_us),),
    "spawn": tuple(_of("spawn", variant, _per_s) for variant in ("posix-spawn", "create-process")),
    "unpack": tuple(_of("unpack", variant, _per_s) for variant in _UNPACKING),
}
_FIXED_WORK = {"copy": "kernel-copy", "user": "user", "kernel": "kernel-calls"}


def _of_host(worker: Worker, runs: Sequence[Run]) -> Iterator[tuple[str, Measured]]:
    """Yield the figures of CPUs, which no choice of a task changes."""
    host = worker.result.host
    if host is None:
        return
    if host.cpu_count:
        yield "cpus", Measured(host.usable_cpus(worker.result.limits), "")
    for name, work in _FIXED_WORK.items():
        rate = fixed_work_rate(runs[0], work) if runs else None
        if rate is not None:
            yield name, Measured(rate, work)


def _work(name: str, run: Run) -> str:
    """Name what was measured, with a digest of what validity rules compare."""
    fidelity = run.subject.fidelity
    return _named(name, run.subject.place, repr((fidelity, conditions_of(run))))


def _named(name: str, place: str, compared: str) -> str:
    digest = hashlib.sha256(compared.encode(errors="surrogatepass")).hexdigest()[:_DIGEST]
    return f"{name}, {place}, {digest}"
