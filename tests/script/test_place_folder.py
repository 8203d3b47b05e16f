# SPDX-License-Identifier: MPL-2.0
"""Where the script writes: in folders that nobody else can redirect."""

import os
import subprocess
from pathlib import Path

import place_folder
import pytest
from worker import Worker, outcome_of

STRANGER = 65534


@pytest.fixture
def strangers_folder(tmp_path: Path) -> Path:
    if os.geteuid() != 0:
        pytest.skip("needs root: gives a folder to another user")
    folder = tmp_path / "strangers"
    folder.mkdir()
    os.chown(folder, STRANGER, STRANGER)
    return folder


OF_A_STRANGER = (
    "belongs to another user (uid 65534), who could redirect what this run writes; "
    "run as that user or use another path"
)


@pytest.mark.root
def test_a_place_of_another_user_is_refused(worker: Worker, strangers_folder: Path) -> None:
    """Nothing is written there; one line says why."""
    code, output = worker.run("--retrieves", "10", "--place", f"p={strangers_folder}")
    assert code == 1
    assert f"error: place p ({strangers_folder}): {OF_A_STRANGER}\n" in output
    assert list(strangers_folder.iterdir()) == []
    (place,) = worker.result().storage.places
    assert place.failed == OF_A_STRANGER


@pytest.mark.root
@pytest.mark.usefixtures("strangers_folder")
def test_a_link_of_another_user_is_refused(worker: Worker) -> None:
    """Wherever it leads: its owner can let it lead elsewhere."""
    link = worker.workspace / "link"
    link.symlink_to(worker.workspace)
    os.chown(link, STRANGER, STRANGER, follow_symlinks=False)
    code, output = worker.run("--retrieves", "10", "--place", f"p={link}")
    assert code == 1
    assert f"error: place p ({link}): {OF_A_STRANGER}\n" in output
    assert list(worker.workspace.iterdir()) == [link]


@pytest.mark.root
def test_artifacts_of_another_user_are_refused(worker: Worker, strangers_folder: Path) -> None:
    """The result's own folder must meet the same conditions."""
    worker.artifacts = strangers_folder
    code, output = worker.run("--retrieves", "10")
    assert code == 1
    assert f"error: the result cannot be written: {strangers_folder}: {OF_A_STRANGER}\n" in output


def test_a_place_that_every_user_can_write_to_is_refused(worker: Worker) -> None:
    """Without the sticky bit anyone can put a link in place of the run's folder."""
    worker.workspace.chmod(0o777)
    code, output = worker.run("--retrieves", "10")
    assert code == 1
    assert (
        f"error: place workspace ({worker.workspace}): every user can write there and replace what "
        "this run writes; run `chmod o-w` on it or use another path\n"
    ) in output
    assert list(worker.workspace.iterdir()) == []


def test_a_sticky_place_is_measured(worker: Worker) -> None:
    """As /tmp and /dev/shm are."""
    worker.workspace.chmod(0o1777)
    code, output = worker.run("--retrieves", "10")
    assert code == 0, output


def test_a_link_of_this_user_is_measured(worker: Worker, tmp_path: Path) -> None:
    """A worker's folder on another disk is often a link."""
    link = tmp_path / "link"
    link.symlink_to(worker.workspace)
    code, output = worker.run("--retrieves", "10", "--place", f"p={link}")
    assert code == 0, output
    assert list(worker.workspace.iterdir()) == []


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        pytest.param("/proc", "no folder can be made there; use a path on a disk", id="proc"),
        pytest.param("/dev/full", "Not a directory", id="device"),
    ],
)
def test_a_place_without_folders(worker: Worker, path: str, reason: str) -> None:
    """Such as /proc, or a mount whose source was removed: it has its reason; the others are measured."""
    places = ("--place", f"bad={path}", "--place", f"good={worker.workspace}")
    code, output = worker.run("--retrieves", "10", *places)
    assert (code, "Traceback" in output) == (1, False)
    assert f"error: place bad ({path}): {reason}\n" in output
    result = worker.result()
    assert [place.failed for place in result.storage.places] == [reason, None]
    assert [outcome_of(entry)[0] for entry in result.workloads] == ["failed", "completed"]


def test_whoever_leaves_last_removes_the_place(tmp_path: Path) -> None:
    """Two runs in a place that was missing: it stays while one is at work, then it is gone."""
    place = str(tmp_path / "missing")
    first = place_folder.claim(place)
    second = place_folder.claim(place)
    place_folder.leave(first, place)
    assert list(Path(place).iterdir()) == [Path(second)]
    place_folder.leave(second, place)
    assert not Path(place).exists()


def test_a_place_that_was_there_stays(tmp_path: Path) -> None:
    """Only what a run made is removed."""
    folder = place_folder.claim(str(tmp_path))
    place_folder.leave(folder, str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_place_removed_between_making_and_using(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run that had made it leaves in that moment: it is made again."""
    place = tmp_path / "missing"
    plain, calls = place_folder.tempfile.mkdtemp, []

    def racing(**options: str) -> str:
        calls.append(options)
        if len(calls) == 1:
            place.rmdir()
        return str(plain(**options))

    monkeypatch.setattr(place_folder.tempfile, "mkdtemp", racing)
    place_folder.leave(place_folder.claim(str(place)), str(place))
    assert len(calls) == 2
    assert not place.exists()


def test_two_runs_in_a_missing_place(worker: Worker, tmp_path: Path) -> None:
    """Both succeed, and nothing of the place is left."""
    place = tmp_path / "missing"
    others = Worker(worker.workspace, tmp_path / "others")
    runs = [one.start("--retrieves", "100", "--place", f"p={place}") for one in (worker, others)]
    for run in runs:
        output, _ = run.communicate(timeout=60)
        assert run.returncode == 0, output
        assert "not-cleaned" not in output
    assert not place.exists()


def test_a_umask_that_hides_nothing(worker: Worker, tmp_path: Path) -> None:
    """A place that is made belongs to this run alone, whatever the umask."""
    command = worker.command("--retrieves", "10", "--place", f"p={tmp_path}/missing")
    done = subprocess.run(
        ["bash", "-c", 'umask 0; exec "$@"', "bash", *command],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout
    assert not (tmp_path / "missing").exists()
