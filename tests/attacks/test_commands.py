# SPDX-License-Identifier: MPL-2.0
"""Hostile command lines, and standard streams that are closed, full or left: never a traceback.

Each hostile path, each place and each stream comes once, and not every pair.
"""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import program
import pytest
from checkout import ROOT

RESULT = ROOT / "tests/fixtures/result-v2.json"
# Nothing listens there.
NOWHERE = "http://127.0.0.1:1"
# What a terminal would obey, and what would look like a second message.
HARMFUL = "\x1b\x07\x85\u2028\u202e"

PATHS = {
    "long": b"n" * 300,
    "deep": b"/".join([b"n" * 200] * 30),
    "circle": b"circle",
    "below a circle": b"circle/x",
    "below a file": b"file/x",
    "newline": b"a\nerror: b",
    "escape": b"\x1b[31mred\x07",
    "direction": "a\u202eb\u2028c\x85d".encode(),
    "not UTF-8": b"x\xff\xfe",
    "nobody's home": b"~no-such-user/x",
    "dangling": b"dangling",
    "pipe": b"pipe",
    "empty": b"",
    "device": b"/dev/null",
    "dash": b"-",
}
IN_TREE = ("--root", str(ROOT))
REHEARSE = ("rehearse", *IN_TREE, "--baseline", "no-such-pool")
# Where a path can be given, with the exit codes that are right there.
PLACES: dict[str, tuple[list[str], set[int]]] = {
    "firefox": (["firefox", "--", "{}"], {2}),
    "init": (["init", "--", "{}"], {2}),
    "--root": (["rehearse", "-j", "none", "--root", "{}"], {1, 2}),
    "--at": ([*REHEARSE, "--at", "amd-16={}"], {2}),
    "rehearse --output": ([*REHEARSE, "--output", "{}"], {2}),
    "compare": (["compare", "--", "{}"], {1, 2}),
    "--against": (["compare", str(RESULT), "--against", "{}"], {1, 2}),
    "--write": (["compare", str(RESULT), "--write", "json={}"], {1, 2}),
    "tasks": (["tasks", "--", "{}"], {1, 2}),
    "--label": (["tasks", "file", "--label", "{}"], {1, 2}),
    "history": (["history", "amd-16", "--", "{}"], {1, 2}),
    "fetch": (["fetch", "--", "{}"], {1, 2}),
    "fetch --output": (["fetch", "not-an-address", "--output", "{}"], {2}),
    "script --root": (["script", "-o", "/dev/null", "--root", "{}"], {1, 2}),
    "--owner": (["submit", *IN_TREE, "--image", "x", "--owner", "{}"], {2}),
    "--resume": (["submit", "--resume", "{}"], {2}),
    "--cancel": (["submit", "--cancel", "{}"], {2}),
    "a command": (["{}"], {2}),
    "an option": (["compare", "file", "--none{}"], {2}),
    "--format": (["compare", "file", "--format", "{}"], {2}),
    "-j": (["rehearse", *IN_TREE, "-j", "{}"], {2, 1}),
}

# What cannot be read is an error, and that nothing is left to compare another.
TWO_ERRORS = ("compare", "--against", "--write", "tasks", "--label")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With what the paths lead to."""
    (tmp_path / "circle").symlink_to("circle")
    (tmp_path / "dangling").symlink_to("nowhere/x")
    (tmp_path / "file").write_text("no result")
    os.mkfifo(tmp_path / "pipe")
    return tmp_path


@pytest.mark.parametrize(
    ("place", "path"),
    [*(("firefox", path) for path in PATHS), *((place, "circle") for place in PLACES)],
)
def test_hostile_arguments(folder: Path, place: str, path: str) -> None:
    """One error line of printable text, and the exit code of wrong usage or of a failure."""
    arguments, codes = PLACES[place]
    done = program.run(
        *(argument.replace("{}", os.fsdecode(PATHS[path])) for argument in arguments),
        folder=folder,
        expected=None,
        environment={"TASKCLUSTER_ROOT_URL": NOWHERE},
    )
    assert done.exit_code in codes, done.stderr
    lines = done.stderr.split("\n")
    errors = [line for line in lines if re.match("error: |io-benchmark.* error:", line)]
    assert 1 <= len(errors) <= (2 if place in TWO_ERRORS else 1), done.stderr
    assert not set(HARMFUL) & set(done.stderr)


@pytest.mark.parametrize(
    ("numbers", "kind", "code", "message"),
    [
        ((1,), "closed", 1, "error: cannot write to stdout: Bad file descriptor\n"),
        ((1,), "full", 1, "error: cannot write to stdout: No space left on device\n"),
        ((1,), "left", 141, ""),
        ((2,), "closed", 0, ""),
        ((2,), "full", 0, ""),
        ((2,), "left", 0, ""),
        ((1, 2), "closed", 1, ""),
        ((1, 2), "full", 1, ""),
        ((1, 2), "left", 141, ""),
    ],
)
def test_broken_streams(numbers, kind, code, message):
    """Quiet where a reader has gone, one line where a device is full; the exit code tells it."""
    reader, writer = os.pipe()
    os.close(reader)
    target = {"closed": "&-", "full": "/dev/full", "left": f"&{writer}"}[kind]
    script = 'exec "$@" ' + " ".join(f"{number}>{target}" for number in numbers)
    command = ["bash", "-c", script, "bash", *program.PROGRAM, "--version"]
    environment = {**os.environ, "PYTHONUNBUFFERED": ""}
    options: dict[str, Any] = {"pass_fds": [writer], "env": environment, "capture_output": True}
    done = subprocess.run(command, text=True, check=False, **options)
    os.close(writer)
    assert (done.returncode, done.stderr) == (code, message)
