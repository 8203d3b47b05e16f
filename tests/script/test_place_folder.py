# SPDX-License-Identifier: MPL-2.0
"""Where the script writes: in folders that nobody else can redirect."""

import os
from pathlib import Path

import place_folder
import pytest
from worker import Worker

STRANGER = 65534
OF_A_STRANGER = (
    "belongs to another user (uid 65534), who could redirect what this run writes; "
    "run as that user or use another path"
)
OPEN = (
    "every user can write there and replace what this run writes; "
    "run `chmod o-w` on it or use another path"
)


@pytest.fixture
def job(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The work folder of a job of a CI system."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / "job"))
    (tmp_path / "job").mkdir()
    return tmp_path / "job"


def _refusal_of(path: Path) -> str:
    with pytest.raises(OSError, match=r".") as refusal:
        place_folder.claim(str(path))
    return str(refusal.value.strerror)


@pytest.mark.root
def test_folders_of_another_user(worker: Worker, job: Path, tmp_path: Path) -> None:
    """A place, a link to one's own and the artifacts are refused; only the job's folder may be anyone's."""
    if os.geteuid() != 0:
        pytest.skip("needs root: gives a folder to another user")
    link = worker.workspace.with_name("link")
    link.symlink_to(job)
    for path in (worker.workspace, link, job):
        os.chown(path, STRANGER, STRANGER, follow_symlinks=False)
    assert _refusal_of(worker.workspace) == OF_A_STRANGER
    assert list(worker.workspace.iterdir()) == []
    worker.artifacts = worker.workspace
    code, output = worker.run("--retrieves", "10")
    assert code == 1
    assert f"error: the result cannot be written: {worker.artifacts}: {OF_A_STRANGER}\n" in output
    place_folder.leave(place_folder.claim(str(job)), str(job))
    # Wherever a link leads: its owner can let it lead elsewhere.
    plain = link.with_name("plain")
    plain.symlink_to(tmp_path)
    os.chown(plain, STRANGER, STRANGER, follow_symlinks=False)
    assert _refusal_of(plain) == OF_A_STRANGER


@pytest.mark.parametrize(
    ("mode", "refusal"),
    [(0o777, OPEN), (0o1777, None), (0o775, None)],
    ids=["open", "sticky, as /tmp", "a group's"],
)
def test_who_can_write(tmp_path: Path, job: Path, mode: int, refusal: str | None) -> None:
    """Without the sticky bit anyone can put a link in place of the run's folder, except in a job."""
    place, link = tmp_path / "place", tmp_path / "link"
    place.mkdir()
    link.symlink_to(place)
    for path in (place, job):
        path.chmod(mode)
    if refusal is None:
        place_folder.leave(place_folder.claim(str(link)), str(link))
    else:
        assert _refusal_of(link) == refusal
    place_folder.leave(place_folder.claim(str(job)), str(job))
    assert list(place.iterdir()) == list(job.iterdir()) == []


def test_a_place_without_folders(worker: Worker) -> None:
    """Such as /proc, or a mount whose source was removed: it has its reason; the others are measured."""
    reasons = ["no folder can be made there; use a path on a disk", "Not a directory", None]
    places = ("/proc", "/dev/full", str(worker.workspace))
    given = [f"--place=p{at}={path}" for at, path in enumerate(places)]
    code, output = worker.run("--retrieves", "10", "--place", "p0=/proc", *given[1:])
    assert (code, "Traceback" in output) == (1, False)
    assert f"error: place p1 (/dev/full): {reasons[1]}\n" in output
    result = worker.result()
    assert [place.failed for place in result.storage.places] == reasons
    assert [entry.outcome.state for entry in result.workloads] == ["failed", "failed", "completed"]


def test_whoever_leaves_last_removes_the_place(tmp_path: Path) -> None:
    """A place that was missing stays while a run is at work, then it is gone, whatever the umask."""
    place = str(tmp_path / "missing")
    umask = os.umask(0)
    try:
        first, second = place_folder.claim(place), place_folder.claim(place)
    finally:
        os.umask(umask)
    place_folder.leave(first, place)
    assert list(Path(place).iterdir()) == [Path(second)]
    place_folder.leave(second, place)
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
    second = Worker(worker.workspace, tmp_path / "second")
    runs = [run.start("--retrieves", "100", "--place", f"p={place}") for run in (worker, second)]
    for run in runs:
        output, _ = run.communicate(timeout=60)
        assert run.returncode == 0, output
        assert "not-cleaned" not in output
    assert not place.exists()
