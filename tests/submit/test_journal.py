# SPDX-License-Identifier: MPL-2.0
"""The journal of a submission: where it is, and that it is whole."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from submitted_tasks import generated

from io_benchmark.errors import UsageError
from io_benchmark.submit.definitions import SubmissionSettings, select_tasks
from io_benchmark.submit.journal import Journal, JournalFile
from io_benchmark.submit.submission import Submission

GROUP = "Fqm6GL_zRPurCmd1rRuTRQ"
SETTINGS = SubmissionSettings(image="x", replicates=2)
CHOSEN = select_tasks([generated("amd-16")], SETTINGS)
JOURNAL = Journal(
    "https://tc.example.com",
    GROUP,
    datetime.now(UTC),
    Submission.of(["io-benchmark"], SETTINGS, CHOSEN),
    CHOSEN,
)


@pytest.mark.parametrize(
    ("environment", "path"),
    [
        pytest.param({"XDG_STATE_HOME": "/s", "HOME": "/h"}, "/s", id="state"),
        pytest.param({"HOME": "/h"}, "/h/.local/state", id="home"),
        pytest.param({"XDG_STATE_HOME": "s", "HOME": "/h"}, "/h/.local/state", id="relative"),
    ],
)
def test_where(environment, path):
    """As the XDG base directories say; a relative folder is ignored."""
    expected = Path(path, "io-benchmark/submissions", f"{GROUP}.json")
    assert JournalFile.of(GROUP, environment).path == expected


def test_no_home(monkeypatch):
    """One line that says what to set."""

    def nobody():
        raise RuntimeError

    monkeypatch.setattr(Path, "home", nobody)
    with pytest.raises(UsageError, match="HOME is not set; set HOME or XDG_STATE_HOME"):
        JournalFile.of(GROUP, {})


def test_what_is_written_is_read(tmp_path):
    """Equal, alone in its folder, and for nobody else to read."""
    file = JournalFile.of(GROUP, {"XDG_STATE_HOME": str(tmp_path)})
    file.write(JOURNAL)
    assert file.read() == JOURNAL
    assert list(file.path.parent.iterdir()) == [file.path]
    assert file.path.stat().st_mode & 0o777 == 0o600
    file.remove()
    file.remove()
    assert file.read() is None


def test_an_old_one_goes(tmp_path):
    """Nobody resumes it any more; a newer one stays."""
    old, newer = tmp_path / "old.json", tmp_path / "newer.json"
    for path, days in ((old, 29), (newer, 27)):
        path.write_text("{}")
        time = (JOURNAL.created - timedelta(days=days)).timestamp()
        os.utime(path, (time, time))
    JournalFile(tmp_path / "new.json").write(JOURNAL)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.json", "newer.json"]


@pytest.mark.parametrize("keep", [0, 1, 100, -1])
def test_a_part_of_one(tmp_path, keep):
    """It counts as none: then the group itself is asked."""
    path = tmp_path / "x.json"
    JournalFile(path).write(JOURNAL)
    path.write_bytes(path.read_bytes()[:keep])
    assert JournalFile(path).read() is None


def test_a_pipe(tmp_path):
    """What is not a regular file counts as none: reading it might never end."""
    path = tmp_path / "x.json"
    os.mkfifo(path)
    assert JournalFile(path).read() is None


def test_a_full_disk(tmp_path, monkeypatch):
    """Nothing is left of it, and an earlier one stays as it was."""
    path = tmp_path / "x.json"
    path.write_text("earlier")

    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        JournalFile(path).write(JOURNAL)
    assert [one.read_text() for one in tmp_path.iterdir()] == ["earlier"]
