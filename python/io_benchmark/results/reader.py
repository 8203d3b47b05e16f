# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The only way to read a result file or the profile of a task.

Any task can have written it, so nothing in it is trusted. Its size, its types and its consistency are
checked before any other code uses it.

The types limit every list, but only after decoding, when lists of lists take twenty times the file's
size. So a few characters are counted first. Characters inside texts are included: the counts are upper
bounds.
"""

import math
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from operator import lt
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta, Struct

from io_benchmark.errors import ResultError
from io_benchmark.results import version_1
from io_benchmark.results.common_types import Name, ResultPart
from io_benchmark.results.format import (
    MAXIMUM_ENTRIES,
    OLDEST_VERSION,
    VERSION,
    AnyEntry,
    Remark,
    Result,
)
from io_benchmark.results.other_content import other_content
from io_benchmark.results.packed_columns import columns_of, packed_entry, packed_timeline
from io_benchmark.results.workloads import WORKLOADS
from io_benchmark.results.workloads.cache_retrieve import CacheRetrieveEntry

if TYPE_CHECKING:
    from io_benchmark.results.task_profile import TaskProfile

# A run with all defaults has 0.3 MB. Each figure is about a hundred times what such a run has.
MAXIMUM_BYTES = 16 * 1024 * 1024
MAXIMUM_PARTS = (
    (b",", 2_000_000, "commas"),
    (b'"', 200_000, "quotation marks"),
    (b"{", 50_000, "objects"),
    (b"[", 20_000, "lists"),
)
# A file up to this size takes few MB in any case; counting would take longer than decoding.
SMALL_BYTES = 256 * 1024
UNKNOWN_SHOWN = 5
DECODE_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_TRUNCATED = "Input data was truncated"  # msgspec's words


class _Envelope(Result, frozen=True):
    """A result whose entries are not yet decoded."""

    version: int  # already checked
    workloads: Annotated[list[msgspec.Raw], Meta(max_length=MAXIMUM_ENTRIES)]  # type: ignore[assignment]


class _Decoders(Struct, frozen=True):
    """The decoders of one version: of a whole result, and of its parts."""

    whole: msgspec.json.Decoder[Result]
    envelope: msgspec.json.Decoder[_Envelope]
    entries: Mapping[str, msgspec.json.Decoder[Any]]

    @staticmethod
    @cache
    def of(version: int) -> "_Decoders":
        """Make them when they are needed: few files are of an older version."""
        entries: dict[str, type[Any]] = {name: each.entry for name, each in WORKLOADS.items()}
        result, envelope = Result, _Envelope
        if version != VERSION:
            entries = {name: version_1.type_of(entry) for name, entry in entries.items()}
            result = envelope = version_1.type_of(_Envelope)
        return _Decoders(
            msgspec.json.Decoder(result.with_entries(entries.values())),
            msgspec.json.Decoder(envelope),
            {name: msgspec.json.Decoder(entry) for name, entry in entries.items()},
        )


_VERSION_DECODER = msgspec.json.Decoder(msgspec.defstruct("_VersionOnly", [("version", int)]))
_NAME_DECODER = msgspec.json.Decoder(msgspec.defstruct("_NameOnly", [("name", Name)]))


def parse(data: bytes, source: str) -> Result:
    """Parse a result; a ResultError names `source`, the key and the problem."""
    _check_size(data, source)
    result = _whole(data) or _in_parts(data, source)
    problem = _inconsistency(result)
    if problem:
        raise _error(source, problem)
    return msgspec.structs.replace(
        result,
        workloads=[packed_entry(entry) for entry in result.workloads],
        timeline=packed_timeline(result.timeline) if result.timeline else None,
    )


def parse_profile(data: bytes, source: str) -> "TaskProfile":
    """Parse the profile of a task; a ResultError names `source`, the key and the problem."""
    from io_benchmark.results import task_profile  # noqa: PLC0415 - only `predict` reads profiles

    _check_size(data, source)
    version = _decode(_VERSION_DECODER, data, source).version
    if version != task_profile.VERSION:
        readable = f"this program reads profiles of version {task_profile.VERSION}"
        remedy = "name a task-profile.json that measure wrote, or update io-benchmark"
        raise _error(source, f"$.version: {version}, but {readable}: {remedy}")
    decoder = msgspec.json.Decoder(task_profile.TaskProfile)
    profile: TaskProfile = _decode(decoder, data, source)
    times = [time for time in profile.timeline.columns.get("time_ns", ()) if time is not None]
    problem = profile.timeline.inconsistency
    if not problem and not all(map(lt, times, times[1:])):
        problem = "$.timeline.columns.time_ns: does not increase"
    if problem:
        raise _error(source, problem)
    return profile


def _whole(data: bytes) -> Result | None:
    """Decode a result in one pass; None where anything about it is unusual."""
    for version in range(VERSION, OLDEST_VERSION - 1, -1):
        with suppress(*DECODE_ERRORS):
            whole = _Decoders.of(version).whole.decode(data)
            if whole.version == version:
                return _result(whole, whole.workloads, whole.warnings, version)
    return None


def _in_parts(data: bytes, source: str) -> Result:
    """Decode the version, the result and its entries, each by itself, and find what is wrong."""
    version = _decode(_VERSION_DECODER, data, source).version
    if not OLDEST_VERSION <= version <= VERSION:
        is_old = version < OLDEST_VERSION
        age = "too old for" if is_old else "newer than"
        remedy = "run the benchmark again" if is_old else "update io-benchmark"
        readable = f"this program, which reads {OLDEST_VERSION} to {VERSION}"
        raise _error(source, f"$.version: {version} is {age} {readable}: {remedy}")
    decoders = _Decoders.of(version)
    return _with_entries(_decode(decoders.envelope, data, source), source, version)


def _check_size(data: bytes, source: str) -> None:
    if len(data) > MAXIMUM_BYTES:
        raise _error(source, f"holds {len(data):,} bytes, more than {MAXIMUM_BYTES:,}")
    if len(data) <= SMALL_BYTES:
        return
    for character, most, name in MAXIMUM_PARTS:
        count = data.count(character)
        if count > most:
            raise _error(source, f"holds {count:,} {name}, more than {most:,}")


def _with_entries(envelope: _Envelope, source: str, version: int) -> Result:
    """Decode the entries; those of unknown workloads are skipped, with a warning that names them."""
    entries: list[AnyEntry] = []
    unknown: dict[str, None] = {}
    for at, raw in enumerate(envelope.workloads):
        part = f"workloads[{at}]"
        name = _decode(_NAME_DECODER, raw, source, part).name
        if name in WORKLOADS:
            entries.append(_decode(_Decoders.of(version).entries[name], raw, source, part))
        else:
            unknown[name] = None
    warnings = envelope.warnings
    if unknown:
        more = f" and {len(unknown) - UNKNOWN_SHOWN} more" if len(unknown) > UNKNOWN_SHOWN else ""
        remark = Remark(
            name="unknown-workload",
            message=f"{', '.join(list(unknown)[:UNKNOWN_SHOWN])}{more}: unknown to this program and "
            "skipped; update io-benchmark",
        )
        warnings = [*warnings, remark]
    return _result(envelope, entries, warnings, version)


def _result(
    decoded: Result, entries: Sequence[AnyEntry], warnings: Sequence[Remark], version: int
) -> Result:
    """Return what was decoded as a result of this version."""
    if version != VERSION:
        entries = [
            version_1.translate(entry, WORKLOADS[str(entry.__struct_config__.tag)].entry)
            for entry in entries
        ]
        decoded = version_1.translate(decoded, Result)
    parts = {"version": VERSION, "workloads": entries, "warnings": warnings}
    return Result(**{**msgspec.structs.asdict(decoded), **parts})


def load(path: Path, maximum_bytes: int | None = None) -> bytes:
    """Return the bytes of a file, at most one more than the limit."""
    most = MAXIMUM_BYTES if maximum_bytes is None else maximum_bytes
    try:
        with path.open("rb") as file:
            # Memory for the limit, which few files reach, takes longer than reading the file.
            size_bytes = os.fstat(file.fileno()).st_size
            return file.read(min(size_bytes, most) + 1)
    except OSError as error:
        raise _error(str(path), error.strerror or str(error)) from None


def _decode(
    decoder: msgspec.json.Decoder[Any], data: bytes | msgspec.Raw, source: str, part: str = ""
) -> Any:
    try:
        return decoder.decode(data)
    except DECODE_ERRORS as error:
        text = decode_problem(error, data)
        if part:  # the error's path begins at the part that was decoded
            text = text.replace("`$", f"`$.{part}") if "`$" in text else f"{text} - at `$.{part}`"
        raise _error(source, text) from None


def decode_problem(error: Exception, data: bytes | msgspec.Raw) -> str:
    """Return what is wrong with JSON that cannot be decoded, and what to do if it is not whole."""
    if isinstance(error, RecursionError):
        return "is nested too deeply"
    if str(error) == _TRUNCATED:
        what = "ends too early: its upload or download was cut"
        return other_content(bytes(data).strip()) or f"{what}; download it again or measure again"
    return other_content(bytes(data)) or str(error)


def _inconsistency(result: Result) -> str | None:
    """Return the first inconsistency between values, as 'key: problem', or None."""
    floats = {
        "$.config.precision_ratio": result.config.precision_ratio,
        "$.config.time_budget_s": result.config.time_budget_s,
    }
    for key, value in floats.items():
        if value is not None and not math.isfinite(value):
            return f"{key}: is not a finite number"
    for at, entry in enumerate(result.workloads):
        problem = _entry_inconsistency(entry)
        if problem:
            return f"$.workloads[{at}].{problem}"
    return result.timeline.inconsistency if result.timeline is not None else None


def _entry_inconsistency(entry: AnyEntry) -> str | None:
    samples: ResultPart = entry.samples
    if len({len(values) for values in columns_of(samples).values()}) > 1:
        return "samples: its columns differ in length"
    problem = entry.inconsistency if isinstance(entry, CacheRetrieveEntry) else None
    ratio = entry.precision_reached_ratio
    if not problem and ratio is not None and not math.isfinite(ratio):
        return "precision_reached_ratio: is not a finite number"
    return problem


def _error(source: str, problem: str) -> ResultError:
    # A key of a hostile file may hold anything; the message is one printable line.
    text = re.sub(r"[^\x20-\x7e]", "?", f"{source}: {problem}")
    return ResultError(text[:500])
