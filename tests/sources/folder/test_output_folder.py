# SPDX-License-Identifier: MPL-2.0
"""The folder for results: new, or unchanged after an error."""

from pathlib import Path

import pytest

from io_benchmark.errors import UsageError
from io_benchmark.sources.folder import output_folder


def fill(folder: Path) -> None:
    (folder / "run").mkdir()
    (folder / "run" / "a.json").write_text("{}")
    (folder / "b").write_text("")


def break_off(wanted: Path | None) -> None:
    with output_folder.new_output_folder(wanted, "test") as folder:
        fill(folder)
        raise KeyboardInterrupt


def interrupted(wanted: Path | None) -> None:
    with pytest.raises(KeyboardInterrupt):
        break_off(wanted)


def test_what_is_done_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The default name has the kind of work and the time."""
    monkeypatch.chdir(tmp_path)
    with output_folder.new_output_folder(None, "test") as folder:
        fill(folder)
    assert folder.parent == tmp_path / output_folder.DEFAULT_FOLDER
    assert folder.name.startswith("test-2")
    assert sorted(path.name for path in folder.iterdir()) == ["b", "run"]


@pytest.mark.parametrize("listed", [True, False], ids=["later", "at-the-same-time"])
def test_a_folder_has_one_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, listed: bool
) -> None:
    """A second one is refused, even before the first wrote a result, and changes nothing."""
    with output_folder.new_output_folder(tmp_path, "test") as folder:
        with monkeypatch.context() as patch:
            if not listed:
                patch.setattr(Path, "iterdir", lambda _folder: iter(()))
            with pytest.raises(UsageError, match=f"--output {tmp_path}: .*name a"):
                break_off(tmp_path)
        fill(folder)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b", "run"]


def test_what_is_broken_off_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every folder that was created on the way is removed."""
    monkeypatch.chdir(tmp_path)
    interrupted(None)
    interrupted(Path("a/b/c"))
    assert list(tmp_path.iterdir()) == []


def test_another_runs_folder_beside_it_stays(tmp_path: Path) -> None:
    """Two runs at once: the interrupted one leaves the folder of the other."""
    common = tmp_path / "common"
    with output_folder.new_output_folder(common / "other", "test") as other:
        fill(other)
        interrupted(common / "one")
    assert [path.name for path in common.iterdir()] == ["other"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param("full", "is not empty, or another command", id="not-empty"),
        pytest.param("full/file", "--output .*/full/file: ", id="a-file"),
        pytest.param("full/file/under", "--output .*Not a directory", id="below-a-file"),
    ],
)
def test_a_folder_that_cannot_be_taken_is_named(tmp_path: Path, name: str, message: str) -> None:
    """One line, and nothing is changed."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("x")
    with (
        pytest.raises(UsageError, match=message),
        output_folder.new_output_folder(tmp_path / name, "test"),
    ):
        pass
    assert (tmp_path / "full" / "file").read_text() == "x"
