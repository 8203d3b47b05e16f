# SPDX-License-Identifier: MPL-2.0
"""The file of kept readings: written by this program, and whatever else has its name."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from io_benchmark.analysis.fleet.fleet_model import KeptReadings, WorkerReading
from io_benchmark.costs.worker_time import Price
from io_benchmark.errors import IoBenchmarkError, ResultError
from io_benchmark.operations.fleets import kept_readings
from io_benchmark.operations.fleets.kept_readings import (
    merged,
    parse_kept,
    read_kept,
    without_old,
    write_kept,
)

NOW = datetime(2026, 11, 20, tzinfo=UTC)


def reading(task_id="T1", **changes):
    values = {
        "pool": "amd-16",
        "time": NOW,
        "group": "G1",
        "task_id": task_id,
        "run_id": 0,
        "facts": (("kernel", "6.1"), ("mount options", ("rw", "noatime"))),
        "values": {"write": 350.5},
        "work": {"write": "ceiling"},
        "price": Price(0.31, "USD"),
    }
    return WorkerReading(**{**values, **changes})


KEPT = KeptReadings("index", (reading(), reading("T2")), ("G1",), ("a",), ("b",))


def test_what_is_written_is_read(tmp_path):
    """Every field comes back; a file that does not exist yet has nothing."""
    path = tmp_path / "kept.json"
    assert read_kept(path, "index") == KeptReadings("index", ())
    write_kept(path, KEPT)
    assert read_kept(path, "index") == KEPT


def changed(*path, value):
    """Return the file with a value at this path."""
    document = msgspec.json.decode(msgspec.json.encode(KEPT))
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return msgspec.json.encode(document)


WHOLE = msgspec.json.encode(KEPT)
NOT_WHOLE = "f: is not a whole file of kept readings ("
WRONG = {
    "cut": (WHOLE[:-9], f"{NOT_WHOLE}Input data was truncated"),
    "another": (b'{"version": 4, "pool": "x"}', "f: written by a newer version of io-benchmark"),
    "no version": (b"[1]", f"{NOT_WHOLE}Expected `object`, got `array`"),
    "not text": (b'"\xff"', f"{NOT_WHOLE}Expected `object`, got `str`"),
    "empty": (b"", f"{NOT_WHOLE}Input data was truncated"),
    "nested": (b"[" * 100_000, f"{NOT_WHOLE}"),
    "newer": (
        changed("version", value=2),
        "f: written by a newer version of io-benchmark (format 2, and 1 is read here); install",
    ),
    "no zone": (
        changed("readings", 0, "time", value="2026-11-20T00:00:00"),
        f"{NOT_WHOLE}2026-11-20T00:00:00 is not the time of a push",
    ),
    "year": (
        changed("readings", 0, "time", value="9999-11-20T00:00:00Z"),
        f"{NOT_WHOLE}9999-11-20T00:00:00+00:00 is not the time of a push",
    ),
    "zero": (
        changed("readings", 1, "values", "write", value=0),
        f"{NOT_WHOLE}the value 0.0 is not a number above 0",
    ),
    "free": (
        changed("readings", 1, "price", "per_hour", value=0),
        f"{NOT_WHOLE}the price 0.0 is not from 1e-09 to 1,000,000",
    ),
    "project": (
        changed("place", value="https://x/\x1b[31m"),
        "f: has the readings of https://x/",
    ),
    "folders": (changed("place", value=""), "f: has the readings of folders or tasks; name"),
}


@pytest.mark.parametrize(("data", "message"), WRONG.values(), ids=WRONG)
def test_what_is_no_file_of_kept_readings(data, message):
    """One line that says what it is, and what to do."""
    with pytest.raises(ResultError) as error:
        parse_kept(data, "f", "index")
    assert str(error.value).startswith(message)
    assert "\x1b" not in str(error.value)


@pytest.mark.parametrize("most", [1, 2])
def test_limits(monkeypatch, tmp_path, most):
    """Readings, pools and bytes have a limit, which itself is allowed."""
    path = tmp_path / "kept"
    kept = KeptReadings("", (reading(), reading("T2", pool="intel")))
    write_kept(path, kept)
    for name in ("_MOST_READINGS", "_MOST_POOLS"):
        with monkeypatch.context() as patch:
            patch.setattr(kept_readings, name, most)
            if most == 2:
                assert read_kept(path, "") == kept
            else:
                with pytest.raises(ResultError, match="more than 1 "):
                    read_kept(path, "")
    monkeypatch.setattr(kept_readings, "MAXIMUM_BYTES", path.stat().st_size + most - 2)
    if most == 2:
        assert read_kept(path, "") == kept
    else:
        with pytest.raises(ResultError, match="is larger than"):
            read_kept(path, "")


def test_paths(tmp_path):
    """A folder is no file; what cannot be written is an error that names the option."""
    with pytest.raises(IoBenchmarkError, match="Is a directory"):
        read_kept(tmp_path, "")
    with pytest.raises(IoBenchmarkError, match=r"--readings .*: No such file"):
        write_kept(tmp_path / "none" / "kept", KEPT)


def test_merged():
    """Each run once, as it was read last; sets of both, and the newer place."""
    newer = KeptReadings("index", (reading(values={"write": 1.0}), reading("T0")), ("G2",), ("c",))
    both = merged(KEPT, newer)
    assert both.readings == (reading("T0"), reading(values={"write": 1.0}), reading("T2"))
    assert (both.pushes, both.announced, both.alerts) == (("G1", "G2"), ("a", "c"), ())
    assert merged(both, both) == both


def test_without_old():
    """Readings of 400 days, and the pushes that the index still has, if that is known."""
    times = [NOW - timedelta(days=400), NOW - timedelta(days=400, seconds=1)]
    kept = KeptReadings("", tuple(reading(time=time) for time in times), ("G1", "G2"))
    assert without_old(kept, NOW, ["G2", "G3"]) == KeptReadings("", kept.readings[:1], ("G2",))
    assert without_old(kept, NOW, None).pushes == ("G1", "G2")
