# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The only way to read a result file.

Anyone's task can have written it, so nothing in it is trusted: it is bounded in size, strict in
its types, and consistent in itself before anything else sees it.
"""

import math
import re
from array import array
from operator import add
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from io_benchmark.errors import ResultError
from io_benchmark.results.format import VERSION, CacheRetrieve, Result, Samples

MAXIMUM_BYTES = 64 * 1024 * 1024


class _VersionOnly(Struct):
    version: int


_VERSION_DECODER = msgspec.json.Decoder(_VersionOnly)
_DECODER = msgspec.json.Decoder(Result)


def parse(data: bytes, source: str) -> Result:
    """The result in `data`, or a ResultError that names `source`, the key and what is wrong."""
    if len(data) > MAXIMUM_BYTES:
        raise _error(source, f"holds {len(data):,} bytes, more than {MAXIMUM_BYTES:,}")
    version = _decode(_VERSION_DECODER, data, source).version
    if version < VERSION:
        raise _error(
            source,
            f"$.version: {version} is too old for this program, which reads {VERSION}: run the "
            f"benchmark again",
        )
    if version > VERSION:
        raise _error(
            source,
            f"$.version: {version} is newer than this program, which reads {VERSION}: update "
            f"io-benchmark",
        )
    result: Result = _decode(_DECODER, data, source)
    problem = _inconsistency(result)
    if problem:
        raise _error(source, problem)
    return msgspec.structs.replace(result, workloads=[_packed(one) for one in result.workloads])


def _packed(entry: CacheRetrieve) -> CacheRetrieve:
    """Columns as eight bytes a number: as Python's own integers they would take five times that."""
    columns = {
        name: array("q", getattr(entry.samples, name)) for name in entry.samples.__struct_fields__
    }
    return msgspec.structs.replace(entry, samples=Samples(**columns))


def read(path: Path) -> Result:
    """The result in a file, read no further than the limit."""
    try:
        with path.open("rb") as file:
            data = file.read(MAXIMUM_BYTES + 1)
    except OSError as error:
        raise _error(str(path), error.strerror or str(error)) from None
    return parse(data, str(path))


def json_schema() -> dict[str, Any]:
    """The format as a JSON Schema, published beside the documentation."""
    schema = msgspec.json.schema(Result)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"io-benchmark result, version {VERSION}",
        **schema,
    }


def _decode(decoder: msgspec.json.Decoder[Any], data: bytes, source: str) -> Any:
    try:
        return decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _error(source, str(error)) from None
    except RecursionError:
        raise _error(source, "is nested too deeply") from None


def _inconsistency(result: Result) -> str | None:
    """What the types alone cannot say, as 'key: problem'; None where all is well."""
    floats = {
        "$.config.precision_ratio": result.config.precision_ratio,
        "$.config.time_budget_s": result.config.time_budget_s,
        "$.timeline.interval_s": result.timeline.interval_s if result.timeline else None,
    }
    for key, value in floats.items():
        if value is not None and not math.isfinite(value):
            return f"{key}: is not a finite number"
    for at, entry in enumerate(result.workloads):
        problem = _entry_inconsistency(entry)
        if problem:
            return f"$.workloads[{at}].{problem}"
    if result.timeline is not None:
        lengths = {len(column) for column in result.timeline.columns.values()}
        for columns in result.timeline.devices.values():
            lengths |= {len(column) for column in columns.values()}
        if len(lengths) > 1:
            return "$.timeline: its columns differ in length"
    return None


def _entry_inconsistency(entry: CacheRetrieve) -> str | None:
    samples = entry.samples
    rows = len(samples.copy_ns)
    if not len(samples.file_index) == len(samples.start_ns) == len(samples.lookup_ns) == rows:
        return "samples: its columns differ in length"
    if not all(map(add, samples.lookup_ns, samples.copy_ns)):
        return "samples: a retrieve took no time at all"
    if rows > entry.retrieves_planned:
        return f"samples: {rows:,} retrieves, but {entry.retrieves_planned:,} were planned"
    if rows and max(samples.file_index) >= len(entry.file_sizes_bytes):
        return "samples.file_index: names a file that file_sizes_bytes does not have"
    ratio = entry.precision_reached_ratio
    if ratio is not None and not math.isfinite(ratio):
        return "precision_reached_ratio: is not a finite number"
    return None


def _error(source: str, problem: str) -> ResultError:
    # A key of a hostile file may hold anything; what is shown is one printable line.
    text = re.sub(r"[^\x20-\x7e]", "?", f"{source}: {problem}")
    return ResultError(text[:500])
