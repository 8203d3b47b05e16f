# SPDX-License-Identifier: MPL-2.0
"""The only way to read a result file or the profile of a task.

Any task can have written it, so nothing in it is trusted. Its size, its types and its consistency
are checked before any other code uses it.

The types limit every list, but only after decoding, when lists of lists take twenty times the
file's size. So a few characters are counted first. Characters inside texts are included: the counts
are upper bounds.
"""

import re
import struct
import threading
from array import array
from collections.abc import Sequence
from operator import lt
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from io_benchmark.errors import MissingError, ResultError
from io_benchmark.files import read_file
from io_benchmark.number_text import listed
from io_benchmark.results.format import (
    MAXIMUM_ENTRIES,
    PROFILE_VERSION,
    VERSION,
    AnyEntry,
    RecordedTimeline,
    Remark,
    Result,
    TaskProfile,
    TimelineColumns,
)
from io_benchmark.results.parts import Columns, Name
from io_benchmark.results.workloads import WORKLOADS
from io_benchmark.results.workloads.cache_retrieve import SPENT_COLUMNS
from io_benchmark.text import problem_in_words

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
_NAMES_LISTED = 5
_DECODERS: dict[type, msgspec.json.Decoder[Any]] = {}
_COMPILING = threading.Lock()
DECODE_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
# What a failed download leaves in the place of a file, by its first bytes.
_OTHER_CONTENT = (
    (b"<", "is a web page, such as a login page; log in and download it again"),
    (b"\x1f\x8b", "is a compressed file; unpack it"),
    (b"PK\x03\x04", "is a zip file; unpack it"),
    (b"version https://git-lfs", "is a pointer of Git LFS; run `git lfs pull`"),
)

_Kind = TypeVar("_Kind")


class _Content(msgspec.Struct, frozen=True):
    """What tells this program's files apart; another file has none of it."""

    version: int = 0  # none
    wall_ns: msgspec.Raw = msgspec.Raw()  # a profile
    duration_ns: msgspec.Raw = msgspec.Raw()  # a result


class _FileKind(NamedTuple):
    """What is said of a file that is not of this kind."""

    no_version: str
    other_kind: str
    remedy: str


_RESULT = _FileKind(
    "not a result of the benchmark: it has no `version`",
    "a profile of a task, which the command predict reads, not a result",
    "give an io-benchmark.json that the benchmark wrote",
)
_PROFILE = _FileKind(
    "not a profile of a task: it has no `version`",
    "a result of the benchmark, which predict reads by --on, not a profile",
    "give a task-profile.json that measure wrote, or a profile_resource-usage.json",
)


class _Named(msgspec.Struct, frozen=True):
    name: Name


class _NamedEntries(msgspec.Struct, frozen=True):
    workloads: Annotated[tuple[_Named, ...], Meta(max_length=MAXIMUM_ENTRIES)] = ()


def parse(data: bytes, source: str) -> Result:
    """Parse a result; a ResultError names `source`, the key and the problem."""
    check_size(data, source)
    version = _version(data, source, _RESULT)
    if version != VERSION:
        age, remedy = "newer than", "update io-benchmark"
        if version < VERSION:
            age, remedy = "too old for", "run the benchmark again"
        readable = f"this program, which reads version {VERSION}"
        raise reading_error(source, f"$.version: {version} is {age} {readable}: {remedy}")
    names = dict.fromkeys(entry.name for entry in decode(_NamedEntries, data, source).workloads)
    unknown = [name for name in names if name not in WORKLOADS]
    result = decode(Result, _without_entries(data, unknown) if unknown else data, source)
    if problem := result.inconsistency:
        raise reading_error(source, problem)
    warnings = [*result.warnings]
    if unknown:
        skipped = "unknown to this program and skipped; update io-benchmark"
        message = f"{listed(unknown, _NAMES_LISTED)}: {skipped}"
        warnings.append(Remark(name="unknown-workload", message=message))
    return replace(
        result,
        workloads=[_packed_entry(entry) for entry in result.workloads],
        timeline=_packed_timeline(result.timeline) if result.timeline else None,
        warnings=warnings,
    )


def parse_profile(data: bytes, source: str) -> TaskProfile:
    """Parse the profile of a task; a ResultError names `source`, the key and the problem."""
    check_size(data, source)
    version = _version(data, source, _PROFILE)
    if version != PROFILE_VERSION:
        readable = f"this program reads profiles of version {PROFILE_VERSION}"
        raise reading_error(source, f"$.version: {version}, but {readable}: update io-benchmark")
    profile = decode(TaskProfile, data, source)
    times = [time for time in profile.timeline.columns.get("time_ns", ()) if time is not None]
    problem = profile.timeline.inconsistency
    if not problem and not all(map(lt, times, times[1:])):
        problem = "$.timeline.columns.time_ns: does not increase"
    if problem:
        raise reading_error(source, problem)
    return profile


def _version(data: bytes, source: str, form: _FileKind) -> int:
    """Return the file's version; refuse one without a version, and one of the other kind."""
    content = _Content()  # of what is not an object
    if data.lstrip().startswith(b"{"):
        content = decode(_Content, data, source)
    else:
        decode(msgspec.Raw, data, source)
    is_profile, is_result = bool(content.wall_ns), bool(content.duration_ns)
    is_this, is_other = (is_result, is_profile) if form is _RESULT else (is_profile, is_result)
    if content.version and (is_this or not is_other):
        return content.version
    problem = form.other_kind if is_other else form.no_version
    raise reading_error(source, f"is {problem}; {form.remedy}")


def _packed_entry(entry: AnyEntry) -> AnyEntry:
    """Return the entry with its samples as arrays; Python's integers take five times as much."""
    samples: Columns = entry.samples
    columns = {
        # What was spent is only averaged and takes no more than it must.
        name: _packed(values, "I" if name in SPENT_COLUMNS else "q")
        for name, values in samples.known.items()
    }
    return replace(entry, samples=replace(samples, **columns))


def _packed_timeline(timeline: RecordedTimeline) -> RecordedTimeline:
    def packed(columns: TimelineColumns) -> TimelineColumns:
        return {name: _packed(values) for name, values in columns.items()}

    devices = {device: packed(columns) for device, columns in timeline.devices.items()}
    return replace(timeline, columns=packed(timeline.columns), devices=devices)


def _packed(values: Sequence[int | None], code: str = "q") -> Sequence[int | None]:
    """Return numbers as an array, or as they are where some are missing.

    struct packs a list in half the time that array takes.
    """
    try:
        return array(code, struct.pack(f"{len(values)}{code}", *values))
    except struct.error:  # None, or longer than 32 bits
        return values if None in values else _packed(values)


def load(path: Path, most: int = MAXIMUM_BYTES) -> bytes:
    """Return the bytes of a regular file of at most this size; a ResultError says why not."""
    try:
        return read_file(path, most)
    except FileNotFoundError as error:
        raise MissingError(str(reading_error(str(path), str(error.strerror)))) from None
    except OSError as error:
        raise reading_error(str(path), error.strerror or str(error)) from None


def check_size(
    data: bytes,
    source: str,
    maximum_bytes: int = MAXIMUM_BYTES,
    maximum_parts: Sequence[tuple[bytes, int, str]] = MAXIMUM_PARTS,
) -> None:
    """Refuse what is too large to be decoded."""
    if len(data) > maximum_bytes:
        raise reading_error(source, f"holds {len(data):,} bytes, more than {maximum_bytes:,}")
    if len(data) <= SMALL_BYTES:
        return
    for character, most, name in maximum_parts:
        count = data.count(character)
        if count > most:
            raise reading_error(source, f"holds {count:,} {name}, more than {most:,}")


def _without_entries(data: bytes, names: list[str]) -> bytes:
    """Return a result without its entries of these workloads."""
    parts = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    entries = msgspec.json.decode(parts["workloads"], type=list[msgspec.Raw])
    readable = [entry for entry in entries if decode(_Named, entry, "").name not in names]
    return msgspec.json.encode({**parts, "workloads": readable})


def decode(kind: type[_Kind], data: bytes | msgspec.Raw, source: str) -> _Kind:
    """Decode one part of a file; a ResultError names `source`, the key and the problem."""
    # msgspec compiles a type when it is first used, and several threads at once make it crash.
    with _COMPILING:
        decoder = _DECODERS.get(kind) or _DECODERS.setdefault(kind, msgspec.json.Decoder(kind))
    try:
        decoded: _Kind = decoder.decode(data)
    except DECODE_ERRORS as error:
        raise reading_error(source, decode_problem(error, bytes(data))) from None
    return decoded


def decode_problem(error: Exception, data: bytes) -> str:
    """Return what is wrong with JSON that cannot be decoded, and what to do if it is not whole."""
    if isinstance(error, RecursionError):
        return "is nested too deeply"
    if str(error) == "Input data was truncated":  # msgspec's words
        what = "ends too early: its upload or download was cut"
        return _other_content(data.strip()) or f"{what}; download it again or measure again"
    return _other_content(data) or problem_in_words(str(error))


def _other_content(start: bytes) -> str | None:
    """Return what a file is, and what to do, if its start shows that a download failed."""
    if not start:
        return "is empty; download it again or measure again"
    return next(
        (content for first, content in _OTHER_CONTENT if start.lstrip().startswith(first)), None
    )


def reading_error(source: str, problem: str) -> ResultError:
    """Return the error that says what is wrong with a file."""
    # A key of a hostile file may hold anything; the message is one printable line.
    return ResultError(re.sub(r"[^\x20-\x7e]", "?", f"{source}: {problem}")[:500])
