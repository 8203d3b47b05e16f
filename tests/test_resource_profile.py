# SPDX-License-Identifier: MPL-2.0
"""The reader of resource profiles: what mozsystemmonitor writes, and what anyone may leave."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace
from published_profiles import MIB, RECORDED, RECORDED_ON_WINDOWS, Sample, resource_document

from io_benchmark.errors import ResultError
from io_benchmark.results.machine import LINUX, WINDOWS
from io_benchmark.results.resource_profile import (
    MAXIMUM_RESOURCE_BYTES,
    OTHER_SYSTEM,
    ResourceProfile,
    ResourceSample,
    parse_any_profile,
)

ONE = ResourceSample(1.0, 501.0, 0.195, 0.25, 0.1, 2 * MIB, 3 * MIB, 7, 50 * MIB)
Change = Callable[[dict[str, Any]], object]


def document() -> dict[str, Any]:
    return resource_document(
        [Sample(3, 0.1, 0.195, 0.25, read_mib=2, writes=7, cached_mib=50), Sample(span_ms=100)]
    )


def markers(made: dict[str, Any]) -> dict[str, Any]:
    columns: dict[str, Any] = made["threads"][0]["markers"]
    return columns


def read(made: dict[str, Any]) -> ResourceProfile:
    profile = parse_any_profile(json.dumps(made).encode(), "x.json")
    assert isinstance(profile, ResourceProfile)
    return profile


def test_a_recorded_profile() -> None:
    """The samples of a real one, without its phases and events."""
    profile = read(json.loads(RECORDED.read_bytes()))
    assert (profile.cpus, len(profile.samples), profile.wall_ns) == (2, 12, 1_513_000_000)
    assert profile.samples[0] == ResourceSample(
        3.0, 105.0, 0.195, 0.684, 0.098, 4259840, 20258816, 30, 12159307776
    )


def test_a_recorded_profile_of_windows() -> None:
    """What Windows does not know is not known, and no 0."""
    profile = read(json.loads(RECORDED_ON_WINDOWS.read_bytes()))
    assert (profile.system, profile.cpus, len(profile.samples)) == (WINDOWS, 2, 12)
    sample = profile.samples[1]
    assert sample == ResourceSample(126.0, 213.0, 0.172, 0.345, None, 0, 6397952, 31, None)


@pytest.mark.parametrize(
    ("lacks", "system"),
    [((), LINUX), (("iowait_pct",), OTHER_SYSTEM), (("iowait_pct", "nice_pct"), WINDOWS)],
)
def test_the_system_of_a_profile(lacks: tuple[str, ...], system: str) -> None:
    """It is told by the times that psutil has there, and by those of all samples."""
    made = document()
    assert len(markers(made)["data"]) == 7
    for row in (1, 4):
        put_data(row, **dict.fromkeys(lacks))(made)
    assert read(made).system == system
    if lacks:
        put_data(1, iowait_pct="1%")(made)
        assert read(made).system == OTHER_SYSTEM


def put(column: str, row: int, value: Any) -> Change:
    return lambda made: markers(made)[column].__setitem__(row, value)


def put_data(row: int, **values: Any) -> Change:
    """Change values of a marker; one that is None is not there."""

    def change(made: dict[str, Any]) -> None:
        data = markers(made)["data"][row] | values
        markers(made)["data"][row] = {key: kept for key, kept in data.items() if kept is not None}

    return change


def shared_strings(made: dict[str, Any]) -> None:
    made["shared"] = {"stringArray": made["threads"][0].pop("stringArray")}
    made["meta"] |= {"version": 34, "preprocessedProfileVersion": 60}


@pytest.mark.parametrize(
    ("change", "sample"),
    [
        (lambda _: None, ONE),
        # Newer versions have their strings once for all threads.
        (shared_strings, ONE),
        (put_data(1, iowait_pct="-0.1%", nice_pct="3%"), replace(ONE, user=0.225, waiting=0.0)),
        (put_data(1, system_pct="130.0%"), replace(ONE, kernel=1.0)),
        # Other systems than Linux write these.
        (put_data(1, iowait_pct=None), replace(ONE, waiting=None)),
        (put_data(2, cached=None), replace(ONE, cached_bytes=None)),
        # A sample may begin two milliseconds before the end of the one before it.
        (put("endTime", 1, 503.0), replace(ONE, end_ms=503.0)),
    ],
)
def test_what_is_read(change: Change, sample: ResourceSample) -> None:
    """The figures of the first sample."""
    made = document()
    change(made)
    assert read(made).samples[0] == sample


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            lambda made: made["threads"][0].update(stringArray=["(root)", "GCMajor"]),
            "has no markers named CPU Use, Memory, IO, in version 27 of the format",
        ),
        (
            lambda made: made["threads"].append(made["threads"][0]),
            "Expected `array` of length <= 1",
        ),
        (lambda made: made["meta"].update(logicalCPUs=0), "Expected `int` >= 1"),
        (lambda made: made["meta"].pop("version"), "x.json: $.meta.version: is missing"),
        (lambda made: markers(made)["data"].pop(), "markers: its columns differ in length"),
        (lambda made: markers(made)["endTime"].pop(), "markers: its columns differ in length"),
        (put("name", 4, 0), "markers: CPU Use, Memory, IO are not of the same samples"),
        (put("startTime", 0, float("nan")), "JSON is malformed"),
        (put("startTime", 0, "1"), "Expected `float`, got `str`"),
        (put("endTime", 1, None), "markers[1]: its time is not after the sample before it"),
        (put("endTime", 1, 2e9), "markers[1]: its time is not after"),
        # A clock that was set back, by more than times are rounded.
        (put("endTime", 1, 504.0), "markers[4]: its time is not after"),
        (put_data(1, user_pct="nan%"), "markers: 'nan%' is not a share such as 19.5%"),
        (put_data(1, user_pct="9" * 10_000 + "%"), "is not a share such as 19.5%"),
        (put_data(1, user_pct="\x1b[31m1%"), "is not a share such as 19.5%"),
        (put_data(1, user_pct=5), "markers.data[1]: Expected `str`, got `int` - at `$.user_pct`"),
        (put_data(3, write_bytes=-1), "markers.data[3]: Expected `int` >= 0 - at `$.write_bytes`"),
        (put_data(3, write_bytes=2**70), "markers.data[3]: "),
        (put_data(2, cached="1"), "markers.data[2]: Expected `int | null`"),
    ],
)
def test_what_is_refused(change: Change, problem: str) -> None:
    """The message names the file, the marker and the problem, in one printable line."""
    made = document()
    change(made)
    with pytest.raises(ResultError) as refused:
        read(made)
    assert str(refused.value).startswith("x.json: ")
    assert problem in str(refused.value)
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) <= 500


def test_neither_kind() -> None:
    """Other files are no profiles; what is too large or too deep is not decoded."""
    for data, problem in (
        (
            b"[]",
            "is not a profile of a task: it has no `version`; give a task-profile.json that me",
        ),
        (
            b'{"version": 2, "duration_ns": 5}',
            "is a result of the benchmark, which predict reads by --on",
        ),
        (b"<html>", "is a web page"),
        (b"", "is empty"),
        (b'{"version": "2", "samples": []}', "Expected `int`, got `str` - at `$.version`"),
        (b'{"meta": ' + b"[" * 19_000 + b"]" * 19_000 + b"}", "is nested too deeply"),
        (b"{}" + b" " * MAXIMUM_RESOURCE_BYTES, "bytes, more than 67,108,864"),
        (b'{"a": "' + b"{" * 1_000_001 + b'"}', "objects, more than 1,000,000"),
    ):
        with pytest.raises(ResultError, match=r"^x\.json: ") as refused:
            parse_any_profile(data, "x.json")
        assert problem in str(refused.value)


def test_a_day() -> None:
    """86,400 samples of a second are read."""
    made = resource_document([Sample(span_ms=1000)] * 86_400)
    profile = read(made)
    assert (len(profile.samples), profile.wall_ns) == (86_400, 86_400 * 10**9)
