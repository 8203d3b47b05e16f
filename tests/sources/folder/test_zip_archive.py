# SPDX-License-Identifier: MPL-2.0
"""Zip files as any job can make them: good ones are read, and the others are one line each."""

import re
import stat
import struct
import tempfile
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from io_benchmark.errors import UsageError
from io_benchmark.sources.folder import zip_archive
from io_benchmark.sources.gather import Gathered, gather
from io_benchmark.sources.run_results import RunResult

GOOD = (Path(__file__).parents[2] / "fixtures" / "result-v2.json").read_bytes()
RESULT = "io-benchmark/io-benchmark.json"
MIB = 1024 * 1024
EOCD = struct.Struct("<4s4H2LH")


def read(*paths: Path) -> Gathered[RunResult]:
    return gather([str(path) for path in paths], {}, lambda _progress: None, lambda result: result)


def make(path: Path, *entries: tuple[str | zipfile.ZipInfo, bytes], method: int = 8) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in entries:
            archive.writestr(name, data, method)
    return path


def link(name: str, target: bytes) -> tuple[zipfile.ZipInfo, bytes]:
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info, target


def patched(path: Path, change: Callable[[bytearray], None]) -> Path:
    data = bytearray(path.read_bytes())
    change(data)
    path.write_bytes(data)
    return path


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def set_number(
    form: str, value: int, in_list: int, in_entry: int | None = None
) -> Callable[[bytearray], None]:
    """Change a number of the first entry: in the list of entries, and in its own header."""

    def change(data: bytearray) -> None:
        struct.pack_into(form, data, data.index(b"PK\x01\x02") + in_list, value)
        if in_entry is not None:
            struct.pack_into(form, data, in_entry, value)

    return change


def damage(data: bytearray) -> None:
    """Change bytes in the middle of the compressed data."""
    data[200:220] = bytes(20)


def odd_name(data: bytearray) -> None:
    """Say that the names are UTF-8, which the first one is not."""
    set_number("<H", 0x800, 8, 6)(data)
    data[data.index(b"PK\x01\x02") + 46] = 0xFF


@pytest.mark.parametrize(
    ("name", "source"),
    [
        (RESULT, "amd/io-benchmark"),
        ("io-benchmark.json", "amd"),
        (f"amd/{RESULT}", "amd/io-benchmark"),
        (f"./builds//p/{RESULT}", "amd/builds/p/io-benchmark"),
        ("amd\\io-benchmark\\io-benchmark.json", "amd/io-benchmark"),
        (f"r\u00e9sultat/{RESULT}", "amd/r\u00e9sultat/io-benchmark"),
    ],
)
def test_a_result_in_an_archive(tmp_path: Path, name: str, source: str) -> None:
    """It is read from memory, and its source is where it would be in an unpacked folder."""
    archive = make(tmp_path / "amd.zip", ("log.txt", b"x"), (name, GOOD))
    for address in (archive, tmp_path):
        gathered = read(address)
        assert [run.source for run in gathered.results] == [str(tmp_path / source)]
        assert [run.archive for run in gathered.results] == [str(archive)]
        assert (gathered.unreadable, gathered.remarks) == ((), ())
    assert [path.name for path in tmp_path.iterdir()] == ["amd.zip"]


LEADS_OUT = "leads out of it; make the archive again with relative paths"
METHOD = "is compressed by method {}; only deflate is read: unpack it"
RECORD = "io-benchmark/task.json"


def patched_good(path: Path, change: Callable[[bytearray], None]) -> Path:
    return patched(make(path, (RESULT, GOOD)), change)


BAD: dict[str, tuple[Callable[[Path], Path], str]] = {
    "absolute": (lambda path: make(path, (f"/etc/{RESULT}", GOOD)), f"/etc/{RESULT} {LEADS_OUT}"),
    "drive": (lambda path: make(path, (f"C:\\{RESULT}", GOOD)), f"C:\\{RESULT} {LEADS_OUT}"),
    "parent": (lambda path: make(path, (f"../{RESULT}", GOOD)), f"../{RESULT} {LEADS_OUT}"),
    "link": (
        lambda path: make(path, link(RESULT, b"/etc/passwd")),
        f"{RESULT} is not a regular file",
    ),
    "deep": (
        lambda path: make(path, ("a/" * 11 + "io-benchmark.json", GOOD)),
        f"{'a/' * 11}io-benchmark.json is more than 10 folders deep",
    ),
    "encrypted": (
        lambda path: patched_good(path, set_number("<H", 1, 8, 6)),
        f"{RESULT} is encrypted; unpack it with its password",
    ),
    "lzma": (
        lambda path: make(path, (RESULT, GOOD), method=zipfile.ZIP_LZMA),
        f"{RESULT} {METHOD.format(14)}",
    ),
    "unknown-method": (
        lambda path: patched_good(path, set_number("<H", 99, 10, 8)),
        f"{RESULT} {METHOD.format(99)}",
    ),
    "large": (
        lambda path: make(path, (RESULT, bytes(16 * MIB + 1))),
        f"{RESULT} has 16,777,217 bytes, more than 16,777,216",
    ),
    "larger-than-it-says": (
        lambda path: patched(make(path, (RESULT, bytes(64 * MIB))), set_number("<L", 1000, 24)),
        f"{RESULT} cannot be read (Bad CRC-32 for file {RESULT!r})",
    ),
    "damaged": (lambda path: patched_good(path, damage), f"{RESULT} cannot be read ("),
    "odd-name": (
        lambda path: patched_good(path, odd_name),
        "is cut or damaged (a name in it is not UTF-8); download it again",
    ),
    "cut": (
        lambda path: patched_good(path, lambda data: data.__delitem__(slice(500, None))),
        "is cut or damaged (File is not a zip file); download it again",
    ),
    "empty": (lambda path: written(path, b""), "is empty; download it again or measure again"),
    "login-page": (
        lambda path: written(path, b"\n<!DOCTYPE html><title>Sign in</title>"),
        "is a web page, such as a login page; log in and download it again",
    ),
    "refusal": (
        lambda path: written(path, b'{"message":"Bad credentials","status":"401"}'),
        """is not a zip file (it begins with '{"message":"Bad credentials","status":"401"}')""",
    ),
    "noise": (
        lambda path: written(path, bytes(range(128, 160)) * 100),
        "is not a zip file; download it again",
    ),
    "login-page-as-result": (
        lambda path: make(path, (RESULT, b"<html>")),
        f"{RESULT}: is a web page, such as a login page; log in and download it again",
    ),
    "result-of-no-result": (
        lambda path: make(path, (RESULT, b"{")),
        f"{RESULT}: ends too early: its upload or download was cut",
    ),
    "bad-record": (
        lambda path: make(path, (RESULT, GOOD), (RECORD, b"{")),
        f"{RECORD}: ends too early: its upload or download was cut",
    ),
    "large-record": (
        lambda path: make(path, (RESULT, GOOD), (RECORD, bytes(2 * MIB))),
        f"{RECORD} has 2,097,152 bytes, more than 1,048,576",
    ),
}


@pytest.mark.parametrize(
    ("bad", "message"), [pytest.param(*case, id=name) for name, case in BAD.items()]
)
def test_a_bad_archive_is_one_line(
    tmp_path: Path, bad: Callable[[Path], Path], message: str
) -> None:
    """It names the archive and the reason, and the result next to it is read."""
    good = make(tmp_path / "good.zip", (RESULT, GOOD))
    archive = bad(tmp_path / "bad.zip")
    gathered = read(tmp_path)
    assert [run.archive for run in gathered.results] == [str(good)]
    (line,) = gathered.unreadable
    assert line.startswith(f"{archive}: {message}")
    assert line.isprintable()


def test_a_name_given_twice(tmp_path: Path) -> None:
    """Which of the two is meant is not known, so that neither is read."""
    with pytest.warns(UserWarning, match="Duplicate name"):
        archive = make(tmp_path / "a.zip", (RESULT, GOOD), (RESULT, GOOD))
    reason = "is in it 2 times; which one is meant is not known"
    assert read(archive).unreadable == (f"{archive}: {RESULT} {reason}",)


def test_only_results_are_read(tmp_path: Path) -> None:
    """Nested archives, hidden folders and everything else are left alone."""
    inner = make(tmp_path / "inner", (RESULT, GOOD)).read_bytes()
    (tmp_path / "inner").unlink()
    archive = make(
        tmp_path / "a.zip", ("inner.zip", inner), (f".cache/{RESULT}", GOOD), ("bomb", bytes(MIB))
    )
    with pytest.raises(UsageError, match=re.escape("a.zip: has no io-benchmark.json; name an arc")):
        read(archive)
    with pytest.raises(UsageError, match="has no results; name a folder that contains io-bench"):
        read(tmp_path)


def test_a_long_list_of_entries_is_not_decoded(tmp_path: Path) -> None:
    """A list takes twenty times its size in memory, so that a long one is refused before."""
    archive = tmp_path / "many.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr(RESULT, GOOD)
    data = archive.read_bytes()
    at = data.index(b"PK\x01\x02")
    entry = data[at : -EOCD.size]
    count = 5 * MIB // len(entry)
    end = EOCD.pack(b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, count * len(entry), at, 0)
    archive.write_bytes(data[:at] + entry * count + end)
    tracemalloc.start()
    started = time.process_time()
    (line,) = read(archive).unreadable
    took, (_, peak) = time.process_time() - started, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    limit = "bytes, more than 4,194,304; unpack it"
    assert re.fullmatch(rf"{archive}: its list of entries has 5,\d\d\d,\d\d\d {limit}", line)
    assert peak < 2 * MIB
    assert took < 5


def test_many_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An archive has a limit of results, which is a line and not one for each."""
    monkeypatch.setattr(zip_archive, "_MAXIMUM_RESULTS", 20)
    for count, problems in ((20, 20), (21, 1)):
        archive = make(tmp_path / "a.zip", *((f"{n}/{RESULT}", b"{") for n in range(count)))
        lines = read(archive).unreadable
        assert len(lines) == problems
    assert lines == (f"{archive}: has 21 results, more than 20",)


@given(
    st.lists(
        st.tuples(st.integers(0, 2000), st.binary(max_size=8), st.integers(0, 30)),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]),
)
@settings(max_examples=300, deadline=None)
def test_a_changed_archive(changes: list[tuple[int, bytes, int]], method: int) -> None:
    """Whatever bytes are replaced, inserted or removed, the answer is results and printable lines."""
    with tempfile.TemporaryDirectory() as name:
        entries = ((f"{number}/{RESULT}", b'{"version": 99}' * 9) for number in range(3))
        archive = make(Path(name) / "a.zip", *entries, method=method)
        data = bytearray(archive.read_bytes())
        for at, new, removed in changes:
            data[at % len(data) : at % len(data) + removed] = new or b"PK\x05\x06"
        archive.write_bytes(data)
        try:
            lines = read(archive).unreadable
        except UsageError as error:
            lines = (str(error),)
        assert lines
        assert all(line.isprintable() and len(line) <= 500 for line in lines)
