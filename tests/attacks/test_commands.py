# SPDX-License-Identifier: MPL-2.0
"""Hostile command lines, and standard streams that are closed, full or left: never a traceback.

Each hostile path, each place and each stream comes once, and not every pair.
"""

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

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
IN_TREE = (b"--root", os.fsencode(ROOT))
NO_POOL = (b"--baseline", b"no-such-pool")
# Where a path can be given, with the exit codes that are right there.
PLACES: dict[str, tuple[Callable[[bytes], list[bytes]], set[int]]] = {
    "firefox": (lambda path: [b"firefox", b"--", path], {2}),
    "init": (lambda path: [b"init", b"--", path], {2}),
    "--root": (lambda path: [b"rehearse", b"-j", b"none", b"--root", path], {1, 2}),
    "--at": (lambda path: [b"rehearse", *IN_TREE, b"--at", b"amd-16=" + path, *NO_POOL], {2}),
    "rehearse --output": (lambda path: [b"rehearse", *IN_TREE, *NO_POOL, b"--output", path], {2}),
    "compare": (lambda path: [b"compare", b"--", path], {1, 2}),
    "--against": (lambda path: [b"compare", os.fsencode(RESULT), b"--against", path], {1, 2}),
    "--write": (
        lambda path: [b"compare", os.fsencode(RESULT), b"--write", b"json=" + path],
        {1, 2},
    ),
    "tasks": (lambda path: [b"tasks", b"--", path], {1, 2}),
    "--label": (lambda path: [b"tasks", b"file", b"--label", path], {1, 2}),
    "history": (lambda path: [b"history", b"amd-16", b"--", path], {1, 2}),
    "fetch": (lambda path: [b"fetch", b"--", path], {1, 2}),
    "fetch --output": (lambda path: [b"fetch", b"not-an-address", b"--output", path], {2}),
    "script --root": (lambda path: [b"script", b"-o", b"/dev/null", b"--root", path], {1, 2}),
    "--owner": (lambda path: [b"submit", *IN_TREE, b"--image", b"x", b"--owner", path], {2}),
    "--resume": (lambda path: [b"submit", b"--resume", path], {2}),
    "--cancel": (lambda path: [b"submit", b"--cancel", path], {2}),
    "a command": (lambda path: [path], {2}),
    "an option": (lambda path: [b"compare", b"file", b"--none" + path], {2}),
    "--format": (lambda path: [b"compare", b"file", b"--format", path], {2}),
    "-j": (lambda path: [b"rehearse", *IN_TREE, b"-j", path], {2, 1}),
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


def environment(**variables: str) -> dict[str, str]:
    return {**os.environ, "TASKCLUSTER_ROOT_URL": NOWHERE, "PYTHONUNBUFFERED": "", **variables}


def chosen() -> Iterator[tuple[str, str]]:
    """Every path at a quick command, and one of them at every other place."""
    yield from (("firefox", path) for path in PATHS)
    yield from ((place, "circle") for place in PLACES if place != "firefox")


@pytest.mark.parametrize(("place", "path"), list(chosen()))
def test_hostile_arguments(folder: Path, place: str, path: str) -> None:
    """One error line of printable text, and the exit code of wrong usage or of a failure."""
    arguments, codes = PLACES[place]
    done = program.run(
        *map(os.fsdecode, arguments(PATHS[path])),
        folder=folder,
        expected=None,
        environment={"TASKCLUSTER_ROOT_URL": NOWHERE},
    )
    assert done.exit_code in codes, done.stderr
    lines = done.stderr.split("\n")
    errors = [line for line in lines if re.match("error: |io-benchmark.* error:", line)]
    assert 1 <= len(errors) <= (2 if place in TWO_ERRORS else 1), done.stderr
    assert not set(HARMFUL) & set(done.stderr)


def closed() -> int | None:
    return None


def full() -> int | None:
    return os.open("/dev/full", os.O_WRONLY)


def left() -> int | None:
    """A pipe whose reader has gone before anything was written."""
    reader, writer = os.pipe()
    os.close(reader)
    return writer


def run_with(streams: dict[int, int | None], arguments: list[str], folder: Path) -> tuple[int, str]:
    """Exit code and what was said on stderr, where that is none of the streams."""
    # A shell closes what is to be closed; Python's own subprocess cannot.
    shell = "exec " + " ".join(
        f"{number}>&-" for number, stream in streams.items() if stream is None
    )
    given = {
        {1: "stdout", 2: "stderr"}[number]: stream for number, stream in streams.items() if stream
    }
    try:
        done = subprocess.run(
            ["bash", "-c", f'{shell} "$@"', "bash", *program.PROGRAM, *arguments],
            cwd=folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            check=False,
            **{"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, **given},  # type: ignore[call-overload]
        )
    finally:
        for stream in given.values():
            os.close(stream)
    return done.returncode, (done.stderr or b"").decode()


STREAMS: dict[str, tuple[dict[int, Callable[[], int | None]], int, str]] = {
    "stdout closed": ({1: closed}, 1, "error: cannot write to stdout: Bad file descriptor\n"),
    "stdout full": ({1: full}, 1, "error: cannot write to stdout: No space left on device\n"),
    "stdout left": ({1: left}, 141, ""),
    "stderr closed": ({2: closed}, 0, ""),
    "stderr full": ({2: full}, 0, ""),
    "stderr left": ({2: left}, 0, ""),
    "both closed": ({1: closed, 2: closed}, 1, ""),
    "both full": ({1: full, 2: full}, 1, ""),
    "both left": ({1: left, 2: left}, 141, ""),
}


@pytest.mark.parametrize("streams", STREAMS)
def test_broken_streams(folder: Path, streams: str) -> None:
    """Quiet where a reader has gone, one line where a device is full; the exit code tells it."""
    kinds, code, said = STREAMS[streams]
    opened = {number: make() for number, make in kinds.items()}
    assert run_with(opened, ["--version"], folder) == (code, said)
