# SPDX-License-Identifier: MPL-2.0
"""Paths that a user gives: files are written completely or not at all; folders are new."""

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

import pytest

from io_benchmark.errors import UsageError
from io_benchmark.paths import (
    DEFAULT_FOLDER,
    default_output_folder,
    new_output_folder,
    resolve_path,
    write_file,
)

OLD, NEW = b"old and longer", b"new"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("folder")
    (tmp_path / "loop").symlink_to("loop")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("link", "folder"),
        ("folder/../none", "none"),
        ("file/none", "file/none"),
        ("~/folder", "folder"),
        ("~no-such-user/x", "~no-such-user/x"),
    ],
)
def test_absolute(folder: Path, given: str, expected: str) -> None:
    """As the shell would understand it; what is missing is the caller's to tell."""
    assert resolve_path(Path(given), "--root") == folder / expected


@pytest.mark.usefixtures("folder")
def test_nobody_can_look() -> None:
    """One line with the option and the system's reason."""
    reason = r"\(Too many levels of symbolic links\)"
    expected = f"^--root X: cannot read this path {reason}; name another folder"
    with pytest.raises(UsageError, match=expected):
        resolve_path(Path("loop"), "--root X")


def test_a_removed_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Started where no folder is left, it says so; an absolute path is still good."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(UsageError, match="the current folder was removed"):
        resolve_path(Path("relative"), "--root")
    assert resolve_path(tmp_path, "--root") == tmp_path


def test_a_file_is_replaced_and_keeps_its_mode(tmp_path: Path) -> None:
    """A file is written in one step: whoever has the old one open reads the old text.

    A new file has the umask's mode.
    """
    file = tmp_path / ("n" * 255)
    before = os.umask(0o027)
    try:
        write_file(file, OLD)
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    file.chmod(0o604)
    with file.open("rb") as reader:
        write_file(file, NEW)
        assert reader.read() == OLD
    assert (file.read_bytes(), [*tmp_path.iterdir()]) == (NEW, [file])
    assert stat.S_IMODE(file.stat().st_mode) == 0o604


def test_what_is_no_file_is_written_to(tmp_path: Path) -> None:
    """A link, a pipe and a device stay what they are."""
    target, pipe = tmp_path / "target", tmp_path / "pipe"
    (tmp_path / "link").symlink_to("target")
    (tmp_path / "device").symlink_to(os.devnull)
    os.mkfifo(pipe)
    with os.fdopen(os.open(pipe, os.O_RDWR), "rb", buffering=0) as reader:
        for path in (tmp_path / "link", tmp_path / "device", pipe):
            write_file(path, NEW)
        assert (reader.read(100), target.read_bytes()) == (NEW, NEW)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "device").is_symlink()


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("", errno.EISDIR),
        ("no/file", errno.ENOENT),
        ("loop", errno.ELOOP),
        ("/dev/full", errno.ENOSPC),
    ],
)
def test_what_cannot_be_written(folder: Path, name: str, number: int) -> None:
    """An OSError with the reason; nothing new is next to it."""
    before = sorted(folder.rglob("*"))
    with pytest.raises(OSError) as caught:  # noqa: PT011 - the number says which
        write_file(folder / name, NEW)
    assert (caught.value.errno, bool(caught.value.strerror)) == (number, True)
    assert sorted(folder.rglob("*")) == before


def test_a_broken_off_replacement_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever stops it, the old file is whole and nothing is next to it."""
    file = tmp_path / "file"
    file.write_bytes(OLD)

    def stop(_descriptor: int, _mode: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fchmod", stop)
    with pytest.raises(KeyboardInterrupt):
        write_file(file, NEW)
    assert (file.read_bytes(), [*tmp_path.iterdir()]) == (OLD, [file])


def interrupt(path: Path) -> None:
    """Fill a folder, and be interrupted."""
    with suppress(KeyboardInterrupt), new_output_folder(path) as folder:
        (folder / "run").mkdir()
        (folder / "run" / "a.json").write_text("{}")
        raise KeyboardInterrupt


def test_a_folder_for_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is done stays, in a folder named after the kind of work and the time.

    The rest is removed.
    """
    monkeypatch.chdir(tmp_path)
    interrupt(default_output_folder("test"))
    interrupt(Path("a/b/c"))
    assert list(tmp_path.iterdir()) == []
    with new_output_folder(default_output_folder("test")) as done:
        (done / "file").touch()
        interrupt(done.parent / "another")
    assert (done.parent, [*done.iterdir()]) == (tmp_path / DEFAULT_FOLDER, [done / "file"])
    assert done.name.startswith("test-2")
    assert [*done.parent.iterdir()] == [done]


@pytest.mark.parametrize(
    ("name", "message"),
    [("folder", "File exists"), ("file", "File exists"), ("file/under", "Not a directory")],
)
def test_a_folder_that_cannot_be_taken_is_named(folder: Path, name: str, message: str) -> None:
    """One line: nothing that exists is filled, also not by a second command at the same time."""
    expected = rf"^--output .*{name}: cannot be created \({message}\); name a new folder$"
    with pytest.raises(UsageError, match=expected), new_output_folder(folder / name):
        pass
