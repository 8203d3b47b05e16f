# SPDX-License-Identifier: MPL-2.0
"""The folder for results: new, or unchanged after an error."""

from contextlib import suppress
from pathlib import Path

import pytest

from io_benchmark.errors import UsageError
from io_benchmark.paths import DEFAULT_FOLDER, new_output_folder


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
