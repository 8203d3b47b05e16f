# SPDX-License-Identifier: MPL-2.0
"""Files of somebody's tree: one line for what cannot be read; all changes are written, or none."""

import errno
import os

import pytest

from io_benchmark import files as files_module
from io_benchmark.adopt import changes
from io_benchmark.errors import IoBenchmarkError

FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("folder", "Is a directory; replace it by a readable file"),
        ("page", "is not UTF-8 at byte 5; save it as UTF-8"),
        ("list", "is not YAML .line 1: expected"),
    ],
)
def test_not_read(tmp_path, name, problem):
    """The line has the file and the reason."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "page").write_bytes(b"Task \xff")
    (tmp_path / "list").write_text("a: [")
    with pytest.raises(IoBenchmarkError, match=f"{name}: {problem}"):
        changes.Tree(tmp_path).yaml(name)


@pytest.mark.parametrize(
    ("error", "raised", "problem"),
    [
        (FULL, IoBenchmarkError, "new/file: No space left on device; make the checkout writable"),
        (KeyboardInterrupt(), KeyboardInterrupt, "^$"),
    ],
    ids=["full disk", "Ctrl-C"],
)
def test_not_written(tmp_path, monkeypatch, error, raised, problem):
    """What was there before is there again; a folder that was made for a file goes."""
    (tmp_path / "changed").write_bytes(b"before")
    (tmp_path / "empty").mkdir()
    tree = changes.Tree(tmp_path)
    files = tree.changes_to(dict.fromkeys(("changed", "empty/file", "new/file"), b"after"))

    def write_below(folder, path, content):
        if path == "new/file":
            (folder / "new").mkdir()
            raise error
        files_module.write_below(folder, path, content)

    monkeypatch.setattr(changes, "write_below", write_below)
    with pytest.raises(raised, match=problem):
        tree.write(files)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["changed", "empty"]
    assert (tmp_path / "changed").read_bytes() == b"before"
    monkeypatch.undo()
    tree.write(files)
    assert {file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == {b"after"}


def test_removed(tmp_path, monkeypatch):
    """A file whose content is None goes, or is there again; one that is not there is no change."""
    (tmp_path / "old").write_bytes(b"before")
    tree = changes.Tree(tmp_path)
    (change,) = tree.changes_to({"old": None, "none": None})
    assert (change.path, change.kind) == ("old", "removed")
    new = changes.FileChange("new", None, b"after")
    monkeypatch.setattr(changes, "write_below", _full_for_new)
    with pytest.raises(IoBenchmarkError, match="No space left"):
        tree.write([change, new])
    monkeypatch.undo()
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("old", b"before")]
    tree.write([change, new])
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


def _full_for_new(folder, path, content):
    if path == "new":
        raise FULL
    files_module.write_below(folder, path, content)


def test_links_out_of_the_tree(tmp_path):
    """Files below a link or behind one are refused before anything is written.

    Others are read through links.
    """
    outside, folder = tmp_path / "outside", tmp_path / "tree"
    outside.mkdir()
    folder.mkdir()
    (outside / "file").write_bytes(b"before")
    (folder / "file").symlink_to("../outside/file")
    (folder / "folder").symlink_to("../outside")
    (folder / "dangling").symlink_to("../outside/new")
    tree = changes.Tree(folder)
    assert tree.text("file") == "before"
    for path, link in (("file", "file"), ("folder/new/file", "folder"), ("dangling", "dangling")):
        with pytest.raises(
            IoBenchmarkError, match=f"tree/{link}: is a link, and files are written"
        ):
            tree.changes_to({"first": b"after", path: b"after"})
        # A link that was made after the check.
        change = changes.FileChange(path, None, b"after")
        with pytest.raises(IoBenchmarkError, match=f"{link} is a link"):
            tree.write([changes.FileChange("first", None, b"after"), change])
    assert {path.name: path.read_bytes() for path in outside.iterdir()} == {"file": b"before"}
    assert sorted(path.name for path in folder.iterdir()) == ["dangling", "file", "folder"]


def test_files_that_never_end(tmp_path):
    """A pipe and a device are refused at once, and a file that is too large is not read."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(2 * 1024**2 + 1)
    tree = changes.Tree(tmp_path)
    for name, problem in (
        ("pipe", "is not a regular file"),
        ("zero", "is not a regular file"),
        ("large", "is larger than 2 MiB"),
    ):
        with pytest.raises(IoBenchmarkError, match=f"{name}: {problem}; replace it"):
            tree.read(name)
