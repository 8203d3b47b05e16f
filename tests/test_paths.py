# SPDX-License-Identifier: MPL-2.0
"""Paths that a user gives; what one names is written to as what it is: file, link, pipe, device.

The folder for results is new, or unchanged after an error.
"""

import errno
import os
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from io_benchmark.errors import UsageError
from io_benchmark.paths import (
    DEFAULT_FOLDER,
    current_folder,
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
        current_folder()
    with pytest.raises(UsageError, match="the current folder was removed"):
        resolve_path(Path("relative"), "--root")
    assert resolve_path(tmp_path, "--root") == tmp_path


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_a_new_file_gets_what_the_umask_leaves(tmp_path: Path) -> None:
    """Others may read it, unless the user's umask says otherwise; nothing else is left."""
    before = os.umask(0o027)
    try:
        write_file(tmp_path / "new", NEW)
    finally:
        os.umask(before)
    assert (mode_of(tmp_path / "new"), [*tmp_path.iterdir()]) == (0o640, [tmp_path / "new"])


def test_a_file_is_replaced_and_keeps_its_mode(tmp_path: Path) -> None:
    """In one step: whoever has the old file open reads the old text. It stays its owner's."""
    file = tmp_path / ("n" * 255)
    file.write_bytes(OLD)
    file.chmod(0o604)
    if os.geteuid() == 0:
        os.chown(file, 12345, 23456)
    before = file.stat()
    with file.open("rb") as reader:
        write_file(file, NEW)
        assert reader.read() == OLD
    assert (file.read_bytes(), mode_of(file), [*tmp_path.iterdir()]) == (NEW, 0o604, [file])
    assert (file.stat().st_uid, file.stat().st_gid) == (before.st_uid, before.st_gid)


def test_a_link_stays(tmp_path: Path) -> None:
    """What the last of several links leads to is made, or replaced, in its own folder."""
    (tmp_path / "far").mkdir()
    target = tmp_path / "far/target"
    (tmp_path / "second").symlink_to("far/target")
    (tmp_path / "first").symlink_to("second")
    for data in (OLD, NEW):
        write_file(tmp_path / "first", data)
        assert target.read_bytes() == data
    assert (tmp_path / "first").readlink() == Path("second")
    assert [*(tmp_path / "far").iterdir()] == [target]


def test_a_pipe_and_a_device_are_written_to(tmp_path: Path) -> None:
    """They stay what they are, also where a link leads to them."""
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    with os.fdopen(os.open(pipe, os.O_RDWR), "rb", buffering=0) as reader:
        write_file(pipe, NEW)
        assert reader.read(100) == NEW
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    link.symlink_to(os.devnull)
    write_file(link, NEW)
    assert (link.is_symlink(), stat.S_ISCHR(Path(os.devnull).stat().st_mode)) == (True, True)


@pytest.mark.parametrize("name", ["/dev/stdout", "out", "/dev/fd/2"])
def test_own_output_in_a_file(tmp_path: Path, name: str) -> None:
    """As in `--write json=out > out`: what is printed before and afterwards stays."""
    program = (
        "import os, sys; from pathlib import Path; from io_benchmark.paths import write_file\n"
        f"os.write(1, b'first '); write_file(Path({name!r}), b'data'); os.write(1, b' last')"
    )
    with (tmp_path / "out").open("wb") as file:
        command = [sys.executable, "-c", program]
        subprocess.run(command, stdout=file, stderr=file, check=True, cwd=tmp_path)
    assert (tmp_path / "out").read_bytes() == b"first data last"


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("", errno.EISDIR),
        ("no/file", errno.ENOENT),
        ("loop", errno.ELOOP),
        ("pipe", errno.ENXIO),  # without a reader
        ("/dev/full", errno.ENOSPC),
    ],
)
def test_what_cannot_be_written(folder: Path, name: str, number: int) -> None:
    """An OSError with the reason; nothing new is next to it."""
    os.mkfifo(folder / "pipe")
    before = sorted(folder.rglob("*"))
    with pytest.raises(OSError) as caught:  # noqa: PT011 - the number says which
        write_file(folder / name, NEW)
    assert caught.value.errno == number
    assert caught.value.strerror
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


def fill(folder: Path) -> None:
    (folder / "run").mkdir()
    (folder / "run" / "a.json").write_text("{}")
    (folder / "b").write_text("")


def interrupt(wanted: Path | None) -> None:
    """Fill a folder, and be interrupted."""
    with suppress(KeyboardInterrupt), new_output_folder(wanted, "test") as folder:
        fill(folder)
        raise KeyboardInterrupt


def test_what_is_done_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The default name has the kind of work and the time."""
    monkeypatch.chdir(tmp_path)
    with new_output_folder(None, "test") as folder:
        fill(folder)
    assert folder.parent == tmp_path / DEFAULT_FOLDER
    assert folder.name.startswith("test-2")
    assert sorted(path.name for path in folder.iterdir()) == ["b", "run"]


@pytest.mark.parametrize("listed", [True, False], ids=["later", "at-the-same-time"])
def test_a_folder_has_one_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, listed: bool
) -> None:
    """A second one is refused, even before the first wrote a result, and changes nothing."""
    with new_output_folder(tmp_path, "test") as folder:
        with monkeypatch.context() as patch:
            if not listed:
                patch.setattr(Path, "iterdir", lambda _folder: iter(()))
            with (
                pytest.raises(UsageError, match=f"--output {tmp_path}: .*name a"),
                new_output_folder(tmp_path, "test"),
            ):
                pass
        fill(folder)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b", "run"]


def test_an_interrupted_command_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every folder that was created on the way is removed; another run's folder next to it stays."""
    monkeypatch.chdir(tmp_path)
    interrupt(None)
    interrupt(Path("a/b/c"))
    assert list(tmp_path.iterdir()) == []
    with new_output_folder(tmp_path / "common" / "other", "test") as other:
        fill(other)
        interrupt(tmp_path / "common" / "one")
    assert [path.name for path in (tmp_path / "common").iterdir()] == ["other"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("full", "is not empty, or another command"),
        ("full/file", "--output .*/full/file: "),
        ("full/file/under", "--output .*Not a directory"),
    ],
)
def test_a_folder_that_cannot_be_taken_is_named(tmp_path: Path, name: str, message: str) -> None:
    """One line, and nothing is changed."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("x")
    with pytest.raises(UsageError, match=message), new_output_folder(tmp_path / name, "test"):
        pass
    assert (tmp_path / "full" / "file").read_text() == "x"
