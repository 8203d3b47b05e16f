# SPDX-License-Identifier: MPL-2.0
"""The files of the worker's program: written whole, in folders that nobody else can redirect."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import ci
import pytest
from result import files
from system.linux import commands, folders
from task_profile import _write_as_named
from worker import SCRIPT

from io_benchmark_taskgraph.worker_program import WorkerProgram

STRANGER = 65534
OF_A_STRANGER = folders.OF_ANOTHER % STRANGER
MAIN = "from result import files\nprint(files._script_sha256())\n"


def test_a_file_is_replaced_in_one_step(tmp_path):
    """Also a link, which is not followed: it may lead where somebody else wants to."""
    path, target = tmp_path / "profile.json", tmp_path / "target"
    target.touch()
    path.symlink_to(target)
    files.write(str(path), {"text": "x" * 100_000})
    assert json.loads(path.read_text()) == {"text": "x" * files.TEXT_LENGTH}
    assert (path.is_symlink(), target.read_text()) == (False, "")
    assert sorted(tmp_path.iterdir()) == [path, target]
    with pytest.raises(IsADirectoryError):
        files.write(str(tmp_path), {})
    assert [*tmp_path.parent.glob(".io-benchmark-*")] == []


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_a_file_that_is_replaced_keeps_its_mode(tmp_path, mode):
    """Who may read it is for its owner to say, whatever the umask adds or takes away."""
    path, umask = tmp_path / "io-benchmark.json", os.umask(0o022)
    try:
        path.touch()
        path.chmod(mode)
        for write in (files.write, _write_as_named):
            write(str(path), {"by": write.__name__})
            assert json.loads(path.read_text()) == {"by": write.__name__}
            assert path.stat().st_mode & 0o777 == mode
        new = tmp_path / "new.json"
        files.write(str(new), {})
        assert new.stat().st_mode & 0o777 == 0o644
    finally:
        os.umask(umask)


def test_what_a_person_named_stays_what_it_is(tmp_path):
    """A link leads to the file that is written, a pipe goes to its reader; neither is replaced."""
    target, link, dangling = (tmp_path / name for name in ("target", "link", "dangling"))
    target.touch(mode=0o600)
    link.symlink_to(target)
    dangling.symlink_to(tmp_path / "new")
    for path in (link, dangling):
        _write_as_named(str(path), {"a": 1})
        assert path.is_symlink()
        assert json.loads(path.read_text()) == {"a": 1}
    assert target.stat().st_mode & 0o777 == 0o600
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match=f"{commands.NO_READER}: '{pipe}'"):
        _write_as_named(str(pipe), {})
    read = tmp_path / "read"
    with read.open("wb") as file, subprocess.Popen(["cat", pipe], stdout=file):
        # After the reader has opened it; more than a pipe holds.
        writer = os.open(pipe, os.O_WRONLY)
        _write_as_named(str(pipe), {"list": [1] * 200_000})
        os.close(writer)
    assert json.loads(read.read_text()) == {"list": [1] * 200_000}
    assert pipe.is_fifo()
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    with pytest.raises(OSError, match="Too many levels"):
        _write_as_named(str(loop), {})
    assert loop.is_symlink()


def test_many_profiles_in_one_folder(profiled, tmp_path):
    """Without --output each command has its own file, and a line says its name."""
    output = ("--output", str(profiled.path))
    start = [word for word in profiled.command("true") if word not in output]
    options: Any = {"cwd": tmp_path, "stderr": subprocess.PIPE, "text": True}
    many = [subprocess.Popen(start, **options) for _ in range(5)]
    lines = "".join(sorted(process.communicate()[1] for process in many))
    names = ["task-profile.json", *(f"task-profile-{at}.json" for at in range(2, 6))]
    assert {path.name for path in tmp_path.iterdir()} == set(names)
    assert all(json.loads((tmp_path / name).read_text()) for name in names)
    assert all(
        f"io-benchmark: task-profile.json exists; the profile is {tmp_path / name}\n" in lines
        for name in names[1:]
    )


@pytest.mark.parametrize("is_file", [False, True], ids=["missing", "a folder with a file's name"])
def test_a_place_that_is_missing_is_made(tmp_path, is_file):
    """For its user alone; what is no folder is refused with the kernel's reason."""
    place = tmp_path / "place"
    if is_file:
        place.touch(mode=0o600)
        with pytest.raises(NotADirectoryError):
            files.claim_folder(str(place), None)
    else:
        folder = Path(files.claim_folder(str(place), None))
        assert (folder.parent, place.stat().st_mode & 0o777) == (place, 0o700)


def test_a_place_removed_between_making_and_using(tmp_path, monkeypatch):
    """Another run that had made it leaves in that moment: it is made again."""
    place = tmp_path / "missing"
    plain, made = os.mkdir, []

    def racing(path: str, mode: int) -> None:
        made.append(Path(path).parent)
        if made == [tmp_path, place]:
            place.rmdir()
        plain(path, mode)

    monkeypatch.setattr(os, "mkdir", racing)
    files.leave_folder(files.claim_folder(str(place), None), str(place))
    assert made == [tmp_path, place] * 2
    assert not place.exists()


def test_the_last_run_removes_a_place_that_was_made(tmp_path):
    """The first leaves what the second needs; a place that existed stays."""
    place = tmp_path / "missing"
    first, second = (files.claim_folder(str(place), None) for _ in range(2))
    files.leave_folder(first, str(place))
    assert list(place.iterdir()) == [Path(second)]
    files.leave_folder(second, str(place))
    assert list(tmp_path.iterdir()) == []
    files.leave_folder(files.claim_folder(str(tmp_path), None), str(tmp_path))
    assert tmp_path.exists()


def refusal_of(path: Path, job: ci._Job | None = None) -> str | None:
    """Why no folder is made there; None where one is made."""
    try:
        Path(files.claim_folder(str(path), job)).rmdir()
    except OSError as error:
        return str(error.strerror)
    return None


@pytest.mark.root
def test_folders_of_another_user(worker, tmp_path):
    """A place, a link to one's own and the artifacts are refused.

    Only the job's folder may be anyone's.
    """
    if os.geteuid() != 0:
        pytest.skip("needs root: gives a folder to another user")
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    for path in (worker.workspace, link):
        os.chown(path, STRANGER, STRANGER, follow_symlinks=False)
        assert refusal_of(path) == OF_A_STRANGER
    assert list(worker.workspace.iterdir()) == []
    worker.artifacts = worker.workspace
    code, output = worker.run("--retrieves", "10")
    assert code == 1
    assert f"error: the result cannot be written: {worker.artifacts}: {OF_A_STRANGER}\n" in output
    inside = worker.workspace / "inside"
    inside.mkdir()
    os.chown(inside, STRANGER, STRANGER)
    job = ci._Job(str(worker.workspace), {})
    assert [refusal_of(path, job) for path in (worker.workspace, inside)] == [None, None]
    # Every path is inside of the root, which no CI system gives to one job.
    assert refusal_of(worker.workspace, ci._Job("/", {})) == OF_A_STRANGER


@pytest.mark.parametrize(
    ("mode", "refusal"),
    [(0o777, folders.OPEN_TO_ALL), (0o1777, None), (0o775, None)],
    ids=["open", "sticky, as /tmp", "a group's"],
)
def test_who_can_write(tmp_path, mode, refusal):
    """Without the sticky bit anyone can replace the run's folder by a link, except in a job."""
    place, link = tmp_path / "place", tmp_path / "link"
    place.mkdir()
    link.symlink_to(place)
    place.chmod(mode)
    assert refusal_of(link) == refusal
    assert refusal_of(link, ci._Job(str(place), {})) is None


def test_a_place_without_folders(worker):
    """Such as /proc, or a mount whose source was removed: its reason; others are measured."""
    worker.environment["TASK_ID"] = "Prp_WjpGRx26VH-wA8fjTA"  # in which a place may be made
    reasons = [files.NO_FOLDERS, "Not a directory", None]
    places = ("/proc", "/dev/full", str(worker.workspace))
    given = [f"--place=p{at}={path}" for at, path in enumerate(places)]
    code, output = worker.run("--retrieves", "10", "--place", "p0=/proc", *given[1:])
    assert code == 1
    assert f"error: place p1 (/dev/full): {reasons[1]}\n" in output
    result = worker.result()
    assert [place.failed for place in result.storage.places] == reasons
    assert [entry.outcome.state for entry in result.workloads] == ["failed", "failed", "completed"]


def test_no_password_in_a_file(tmp_path):
    """Results are public: of a URL with a user and a password, both are left out."""
    path, url = tmp_path / "io-benchmark.json", "https://u:{}@host/{}".format
    # Cut in the middle of the password, which then no longer looks like one.
    texts = {"a": url("secret", "x"), "b": [f"see {url('secret', '')} and ssh://secret@host"]}
    files.write(str(path), {**texts, "c": "x" * (files.TEXT_LENGTH - 17) + url("secret", "x")})
    hidden = {"a": "https://***@host/x", "b": ["see https://***@host/ and ssh://***@host"]}
    document = json.loads(path.read_text())
    assert {**hidden, "c": document["c"]} == document
    assert "secret" not in path.read_text()
    for text in ("git@host:a/b", "https://host/a@v1", "https://host?by=me@host"):
        files.write(str(path), {"text": text})
        assert json.loads(path.read_text()) == {"text": text}


def printed(path: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-B", path], stdout=subprocess.PIPE, check=True, text=True
    )
    return done.stdout.strip()


def test_the_same_sha256_in_each_form(tmp_path):
    """It is of each module's name, length and text, by name: in a folder, a file and a task."""
    texts = {
        **{path.relative_to(SCRIPT).as_posix(): path.read_text() for path in SCRIPT.rglob("*.py")},
        "__main__.py": MAIN,
        "observe/x.py": "y = 'ä'\n",
    }
    digest = hashlib.sha256()
    for name, text in sorted(texts.items()):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
        data = text.encode()
        digest.update(b"%s %d\n" % (name.encode(), len(data)) + data)
    assert printed(tmp_path) == digest.hexdigest()
    program, file = WorkerProgram(texts), tmp_path / "any name"
    for form in (program.file(), program.embedded("bench").data):
        file.write_bytes(form)
        assert printed(file) == digest.hexdigest()
