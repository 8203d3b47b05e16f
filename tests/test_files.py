# SPDX-License-Identifier: MPL-2.0
"""Files that anybody may have made: nothing is waited for, and nothing is written elsewhere."""

import errno
import fcntl
import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from io_benchmark import files
from io_benchmark.files import (
    FileTooLargeError,
    find_link,
    read_file,
    remove_below,
    replace_file,
    write_below,
)

OLD, NEW = b"old and longer", b"new"


def test_whole_or_not_at_all(tmp_path: Path) -> None:
    """A file at the limit is read whole, also where the system does not say its size."""
    file = tmp_path / "file"
    file.write_bytes(b"x" * 200_000)
    assert read_file(file, 200_000) == b"x" * 200_000
    with pytest.raises(FileTooLargeError) as caught:
        read_file(file, 199_999)
    assert (caught.value.errno, caught.value.strerror) == (errno.EFBIG, "is larger than 195 KiB")
    (tmp_path / "link").symlink_to(file)
    assert read_file(tmp_path / "link", 200_000) == b"x" * 200_000
    assert b"Name:" in read_file(Path("/proc/self/status"), 100_000)


def test_what_may_never_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe, a device and a socket are refused at once, through links as well."""
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    Path("zero").symlink_to("/dev/zero")
    Path("link").symlink_to("pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        for name in ("pipe", "zero", "link", "socket"):
            with pytest.raises(OSError, match="is not a regular file"):
                read_file(Path(name), 10)
    for name, reason in ((".", "Is a directory"), ("none", "No such file or directory")):
        with pytest.raises(OSError, match=reason):
            read_file(Path(name), 10)


def test_pipe_that_takes_a_files_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not waited for: the file that is open counts."""
    regular = tmp_path.joinpath("file")
    regular.touch()
    os.mkfifo(tmp_path / "pipe")
    status = regular.stat()
    with monkeypatch.context() as patched:
        patched.setattr(Path, "stat", lambda _path: status)
        with pytest.raises(OSError, match="is not a regular file"):
            read_file(tmp_path / "pipe", 10)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with links out of it, next to a folder with a file that must stay."""
    outside, tree = tmp_path / "outside", tmp_path / "tree"
    outside.mkdir()
    (outside / "file").write_bytes(OLD)
    (tree / "folder").mkdir(parents=True)
    (tree / "folder/file").write_bytes(OLD)
    (tree / "file-link").symlink_to("../outside/file")
    (tree / "folder-link").symlink_to("../outside")
    (tree / "inner-link").symlink_to("folder")
    (tree / "dangling").symlink_to("../outside/made")
    return tree


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("path", "link"),
    [
        ("file-link", "file-link"),
        ("dangling", "dangling"),
        ("folder-link/file", "folder-link"),
        ("folder-link/new/file", "folder-link"),
        ("inner-link/file", "inner-link"),
        ("dangling/file", "dangling"),
    ],
)
def test_links(tree: Path, path: str, link: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is written or removed through a link, nor through one that was made meanwhile."""
    assert find_link(tree, path) == tree / link
    with pytest.raises(OSError, match=f"{link} is a link"):
        write_below(tree, path, NEW)
    monkeypatch.setattr(files, "find_link", lambda _folder, _path: None)
    with pytest.raises(OSError, match=r"Not a directory|is not a regular file"):
        write_below(tree, path, NEW)
    if "/" in path:
        with pytest.raises(OSError, match="Not a directory"):
            remove_below(tree, path)
    assert contents(tree.parent / "outside") == {"file": OLD}
    assert contents(tree / "folder") == {"file": OLD}


def test_written_below(tree: Path) -> None:
    """A file keeps its mode, whoever has it open reads the old text, and folders are made."""
    file = tree / "folder/file"
    file.chmod(0o604)
    with file.open("rb") as reader:
        write_below(tree, "folder/file", NEW)
        assert reader.read() == OLD
    assert (contents(tree / "folder"), stat.S_IMODE(file.stat().st_mode)) == ({"file": NEW}, 0o604)
    assert find_link(tree, "folder/a/b/file") is None
    write_below(tree, "folder/a/b/file", NEW)
    assert contents(tree / "folder/a/b") == {"file": NEW}
    remove_below(tree, "folder/a/b/file")
    assert contents(tree / "folder/a/b") == {}
    # A hard link is another name of a file: its other name keeps the old text.
    (tree / "folder/hard").hardlink_to(tree.parent / "outside/file")
    write_below(tree, "folder/hard", NEW)
    assert contents(tree.parent / "outside") == {"file": OLD}


def test_other_kinds_of_files_stay(tree: Path) -> None:
    """A pipe is not waited for, and a folder is not replaced."""
    os.mkfifo(tree / "pipe")
    for path, reason in (("pipe", "is not a regular file"), ("folder", "Is a directory")):
        with pytest.raises(OSError, match=reason):
            write_below(tree, path, NEW)
    with pytest.raises(OSError, match="Not a directory"):
        write_below(tree, "folder/file/below", NEW)
    assert stat.S_ISFIFO((tree / "pipe").stat().st_mode)
    assert not [path for path in tree.rglob("*") if path.name.startswith(".io-benchmark")]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
def test_folder_that_cannot_be_listed(tree: Path) -> None:
    """It is enough that files may be made in it."""
    folder = tree / "folder"
    folder.chmod(0o300)
    try:
        write_below(tree, "folder/a/b", NEW)
        assert (folder / "a/b").read_bytes() == NEW
    finally:
        folder.chmod(0o700)


KILLED = """
import os, pathlib, signal, sys
from io_benchmark import files
os.replace = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
files.replace_file(pathlib.Path(sys.argv[1]), b"new")
"""


def test_what_a_killed_process_left(tmp_path: Path) -> None:
    """The next file that is written into the folder removes it; files of other names stay."""
    (tmp_path / ".io-benchmark-other").write_text("kept")
    target = tmp_path / "report"
    done = subprocess.run([sys.executable, "-c", KILLED, str(target)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 2
    replace_file(target, b"whole")
    assert {path.name for path in tmp_path.iterdir()} == {".io-benchmark-other", "report"}
    assert target.read_bytes() == b"whole"


def test_what_another_process_writes(tmp_path: Path) -> None:
    """A file that is being written is locked, and stays."""
    folder = os.open(tmp_path, os.O_RDONLY)
    name, descriptor = files._new_file(folder)
    replace_file(tmp_path / "report", b"whole")
    assert {path.name for path in tmp_path.iterdir()} == {name, "report"}
    os.close(descriptor)
    replace_file(tmp_path / "report", b"again")
    assert [path.name for path in tmp_path.iterdir()] == ["report"]
    os.close(folder)


def test_a_new_file_that_was_taken_for_an_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another one is made where a process removed it before it was locked."""
    folder, lock = os.open(tmp_path, os.O_RDONLY), fcntl.flock

    def late(descriptor: int, operation: int) -> None:
        monkeypatch.undo()
        for path in tmp_path.iterdir():
            path.unlink()
        lock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    name, descriptor = files._new_file(folder)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    os.close(descriptor)
    os.close(folder)
