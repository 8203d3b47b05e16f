# SPDX-License-Identifier: MPL-2.0
"""Paths that a user gives."""

import re
from pathlib import Path

import pytest

from io_benchmark.errors import UsageError
from io_benchmark.paths import current_folder, resolve_path


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param("link", "folder", id="a link"),
        pytest.param("folder/../none", "none", id="not there"),
        pytest.param("file/none", "file/none", id="below a file"),
        pytest.param("~/folder", "folder", id="home"),
        pytest.param("~no-such-user/x", "~no-such-user/x", id="nobody's home"),
    ],
)
def test_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, expected: str
) -> None:
    """As the shell would understand it; what is missing is the caller's to tell."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("folder")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert resolve_path(Path(given), "--root") == tmp_path / expected


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        pytest.param("n" * 300, "File name too long", id="too long"),
        pytest.param("loop", "Too many levels of symbolic links", id="a circle"),
    ],
)
def test_nobody_can_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, reason: str
) -> None:
    """One line with the option and the system's reason."""
    (tmp_path / "loop").symlink_to("loop")
    monkeypatch.chdir(tmp_path)
    expected = f"--root X: cannot read this path ({reason}); name another folder"
    with pytest.raises(UsageError, match=re.escape(expected)):
        resolve_path(Path(given), "--root X")


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
