# SPDX-License-Identifier: MPL-2.0
"""The file of kept readings: what a fleet was computed from, so that no result is read twice.

The file may come from a task that anyone with the scope for its route can write, so everything in
it is checked.
"""

import math
from collections.abc import Hashable, Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.fleet.fleet_model import KeptReadings, WorkerReading
from io_benchmark.costs.worker_time import LEAST_AMOUNT, MOST_AMOUNT
from io_benchmark.errors import IoBenchmarkError, ResultError
from io_benchmark.files import FileTooLargeError, read_file
from io_benchmark.number_text import number_of, size
from io_benchmark.paths import explain_refusal, write_file
from io_benchmark.text import clean, clean_name

# A year of 60 pools with four workers each has a third of it.
MAXIMUM_BYTES = 96 * 1024 * 1024
_MOST_READINGS, _MOST_POOLS = 200_000, 2_000
_VERSION = 1
# The table shows a year; a push may be some days older than the index says.
_KEPT = timedelta(days=400)
_YEARS = range(2000, 2100)
_ADVICE = "name another file, or remove it to read everything again"


class _Version(Struct):
    version: int


def parse_kept(data: bytes, source: str, place: str | None) -> KeptReadings:
    """Return the readings of a file, which must be of this place; None: of any."""
    try:
        version = msgspec.json.decode(data, type=_Version).version
        if version > _VERSION:
            raise ResultError(
                f"{source}: written by a newer version of io-benchmark (format {version}, and "
                f"{_VERSION} is read here); install that version"
            )
        kept = msgspec.json.decode(data, type=KeptReadings)
        problem = next(_problems(kept), "")
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        problem = str(error)
    if problem:
        raise ResultError(
            f"{source}: is not a whole file of kept readings ({clean(problem, 150)}); {_ADVICE}"
        )
    if place is not None and kept.place != place:
        raise ResultError(f"{source}: has the readings of {_named(kept.place)}; {_ADVICE}")
    return kept


def read_kept(path: Path, place: str) -> KeptReadings:
    """Return the readings of a file; none where it does not exist yet."""
    source = clean_name(str(path))
    try:
        data = read_file(path, MAXIMUM_BYTES)
    except FileNotFoundError:
        return KeptReadings(place, ())
    except FileTooLargeError:
        raise ResultError(f"{source}: is larger than {size(MAXIMUM_BYTES)}; {_ADVICE}") from None
    except OSError as error:
        raise IoBenchmarkError(f"{source}: {error.strerror}; {_ADVICE}") from None
    return parse_kept(data, source, place)


def write_kept(path: Path, kept: KeptReadings) -> None:
    with explain_refusal(f"--readings {clean_name(str(path))}", "name another file"):
        write_file(path, msgspec.json.encode(kept) + b"\n")


def merged(older: KeptReadings, newer: KeptReadings) -> KeptReadings:
    """Return the readings of both, each run once."""
    readings: dict[Hashable, WorkerReading] = {}
    for reading in (*older.readings, *newer.readings):
        readings[reading.group, reading.task_id, reading.run_id] = reading
    return KeptReadings(
        newer.place,
        tuple(sorted(readings.values(), key=_order)),
        tuple(sorted({*older.pushes, *newer.pushes})),
        tuple(sorted({*older.announced, *newer.announced})),
    )


def without_old(kept: KeptReadings, now: datetime, pushes: Iterable[str] | None) -> KeptReadings:
    """Return what a year's table needs; of the pushes those that the index still has."""
    since = now - _KEPT
    readings = tuple(reading for reading in kept.readings if reading.time >= since)
    if pushes is not None:
        kept = replace(kept, pushes=tuple(sorted({*kept.pushes} & {*pushes})))
    return replace(kept, readings=readings)


def _order(reading: WorkerReading) -> tuple[datetime, str, str, int]:
    return reading.time, reading.pool, reading.task_id, reading.run_id or 0


def _problems(kept: KeptReadings) -> Iterator[str]:
    """Yield what no file has that this program wrote."""
    if len(kept.readings) > _MOST_READINGS:
        yield f"more than {_MOST_READINGS:,} readings"
    if len({reading.pool for reading in kept.readings}) > _MOST_POOLS:
        yield f"more than {number_of(_MOST_POOLS, 'pool')}"
    for reading in kept.readings:
        if reading.time.tzinfo is None or reading.time.year not in _YEARS:
            yield f"{reading.time.isoformat()} is not the time of a push"
        for value in reading.values.values():
            if not (math.isfinite(value) and value > 0):
                yield f"the value {value} is not a number above 0"
        price = reading.price
        if price is not None and not LEAST_AMOUNT <= price.per_hour <= MOST_AMOUNT:
            yield f"the price {price.per_hour} is not from {LEAST_AMOUNT} to {MOST_AMOUNT:,.0f}"


def _named(place: str) -> str:
    return clean_name(place) if place else "folders or tasks"
