# SPDX-License-Identifier: MPL-2.0
"""Files of somebody's tree: what cannot be read is one line, and changes are written all or none."""

import errno

import pytest

from io_benchmark.adopt import changes
from io_benchmark.errors import IoBenchmarkError

FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("folder", "Is a directory; make it readable"),
        ("page", "is not UTF-8 at byte 5; save it as UTF-8"),
        ("list", "is not YAML"),
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
    tree = changes.Tree(tmp_path)
    files = tree.changes_to(dict.fromkeys(("changed", "first", "new/file"), b"after"))

    def write_file(path, content):
        if path.name == "file":
            raise error
        path.write_bytes(content)

    monkeypatch.setattr(changes, "write_file", write_file)
    with pytest.raises(raised, match=problem):
        tree.write(files)
    assert [path.name for path in tmp_path.iterdir()] == ["changed"]
    assert (tmp_path / "changed").read_bytes() == b"before"
    monkeypatch.undo()
    tree.write(files)
    assert {file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == {b"after"}
