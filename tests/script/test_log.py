# SPDX-License-Identifier: MPL-2.0
"""The log may go anywhere: no sample is lost to it, and a run that ends badly says so in one line."""

import fcntl
import os
import re
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from log import _Log
from worker import Worker

F_SETPIPE_SZ = 1031


def run_into(worker: Worker, stdout: int, *extra: str, prelude: str = "") -> int:
    """The exit code of a run whose log goes to this descriptor."""
    process = subprocess.Popen(
        worker.command("--retrieves", "150", *extra, prelude=prelude),
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stdout,
        env={**os.environ, **worker.environment},
    )
    return process.wait(timeout=60)


def assert_whole(worker: Worker, warnings: list[str]) -> None:
    result = worker.result()
    assert result.outcome.state == "completed"
    assert [len(entry.samples.copy_ns) for entry in worker.retrieves()] == [150]
    assert [warning.name for warning in result.warnings] == warnings


@pytest.mark.parametrize("is_pipe", [True, False])
def test_a_log_that_nobody_takes(worker: Worker, is_pipe: bool) -> None:
    """Each line fails to be written: the run succeeds, the file says that lines are missing."""
    read_end, write_end = os.pipe() if is_pipe else (None, os.open("/dev/full", os.O_WRONLY))
    if read_end is not None:
        os.close(read_end)
    assert run_into(worker, write_end) == 0
    os.close(write_end)
    assert_whole(worker, ["log-lines-dropped"])


@pytest.mark.parametrize("closed", ["1", "0 1 2"])
def test_closed_descriptors(worker: Worker, closed: str) -> None:
    """Their numbers are not given to the result or to a child's pipe."""
    closing = " ".join(f"{number}>&-" for number in closed.split())
    command = ["bash", "-c", f'exec "$@" {closing}', "bash", *worker.command("--retrieves", "150")]
    done = subprocess.run(command, check=False, timeout=60, stderr=subprocess.DEVNULL)
    assert done.returncode == 0
    assert_whole(worker, [])


@pytest.mark.parametrize("encoding", ["latin-1", "ascii:strict"])
def test_an_encoding_without_the_unit(worker: Worker, encoding: str) -> None:
    """What the encoding lacks is escaped: µ is in the unit of spawn."""
    worker.workloads = ("spawn",)
    worker.environment["PYTHONIOENCODING"] = encoding
    process = subprocess.run(
        worker.command("--profile", "quick"),
        check=False,
        capture_output=True,
        timeout=60,
        env={**os.environ, **worker.environment},
    )
    assert process.returncode == 0, process.stdout
    assert ("µs" if encoding == "latin-1" else "\\xb5s").encode("latin-1") in process.stdout
    assert worker.result().outcome.state == "completed"


@pytest.fixture
def full_pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    fcntl.fcntl(ends[1], F_SETPIPE_SZ, 4096)
    os.write(ends[1], b"x" * 4096)
    yield ends
    for end in ends:
        os.close(end)


def test_a_pipe_that_nobody_reads(worker: Worker, full_pipe: tuple[int, int]) -> None:
    """Lines wait a few seconds in all, then are dropped; stdout stays as others share it."""
    read_end, write_end = full_pipe
    patience = "import log; log.LOG._patience_s = 0.5"
    assert run_into(worker, write_end, "--time-budget", "30", prelude=patience) == 0
    assert not fcntl.fcntl(write_end, fcntl.F_GETFL) & os.O_NONBLOCK
    assert os.read(read_end, 8192) == b"x" * 4096
    assert_whole(worker, ["log-lines-dropped"])


def test_lines_wait_for_a_slow_reader(full_pipe: tuple[int, int]) -> None:
    """Within its patience the log waits, and nothing is dropped."""
    read_end, write_end = full_pipe
    log = _Log(write_end)
    saying = threading.Thread(target=log.say, args=("the line",))
    saying.start()
    assert os.read(read_end, 4096) == b"x" * 4096
    saying.join()
    assert (os.read(read_end, 4096), log.lines_dropped) == (b"the line\n", 0)


def test_patience_is_for_all_lines(full_pipe: tuple[int, int]) -> None:
    """Many lines do not wait longer than one."""
    log, started_s = _Log(full_pipe[1]), time.monotonic()
    log._patience_s = 0.2
    for _ in range(10):
        log.say("a line")
    assert (log.lines_dropped, time.monotonic() - started_s < 1.5) == (10, True)


def test_a_line_is_one_line() -> None:
    """Control characters and broken names are escaped, a long line is cut."""
    read_end, write_end = os.pipe()
    _Log(write_end).say("a\nb\r\x1b[2J\u202e\udcff µ")
    assert os.read(read_end, 4096).decode() == "a\\nb\\r\\x1b[2J\\u202e\\udcff µ\n"
    _Log(write_end).say("x" * 10_000)
    assert os.read(read_end, 9000) == b"x" * 4000 + b"\n"
    os.close(read_end)
    os.close(write_end)


BUG = (
    "from measuring import retrieval\n"
    "def fail(*_): raise ZeroDivisionError('two\\nlines')\n"
    "retrieval.SeedSteps.copy = fail"
)
BUG_AT_THE_START = "from result import result_file\nresult_file._describe_task = None"
WRONG = "wrong arguments: argument --fidelity: invalid choice: 'none' (choose from 'seed', 'real')"


@pytest.mark.parametrize(
    ("extra", "prelude", "code", "reason"),
    [
        (("--place", "gone=/no/where"), "", 1, "place gone (/no/where): No such file or directory"),
        (("--time-budget", "0.05"), "", 1, "the time budget of 0.05 s is used up"),
        (
            *(("--output", "/proc/none"), "", 1),
            "the result cannot be written: /proc/none: No such file or directory",
        ),
        (("--fidelity", "none"), "", 2, WRONG),
        ((), BUG, 1, r"internal error: ZeroDivisionError: two\nlines"),
        (
            *((), BUG_AT_THE_START, 1),
            "internal error: TypeError: 'NoneType' object is not callable",
        ),
    ],
    ids=["failed", "too little", "not writable", "wrong arguments", "bug", "bug at the start"],
)
def test_a_bad_end_is_one_line_for_treeherder(
    worker: Worker, extra: tuple[str, ...], prelude: str, code: int, reason: str
) -> None:
    """However a run ends badly, one line has the pool and the reason."""
    exit_code, output = worker.run("--retrieves", "10", *extra, prelude=prelude)
    assert exit_code == code, output
    lines = [line for line in output.splitlines() if line.startswith("TEST-UNEXPECTED-FAIL")]
    expected = f"TEST-UNEXPECTED-FAIL | amd-16: {reason}"
    # Python 3.13 does not quote the choices of an option.
    assert lines in ([expected], [expected.replace("'seed', 'real'", "seed, real")])


def test_the_log_of_a_quick_run_is_short(
    worker: Worker, every_workload: list[str], tmp_path: Path
) -> None:
    """At most 150 lines besides progress, with every workload in several places."""
    worker.workloads = tuple(every_workload)
    given = ["--profile", "quick", "--time-budget", "3"]
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
        given += ["--place", f"{name}={tmp_path / name}"]
    for name in ("overwrite", "unlink", "fresh"):
        given += ["--destination", name]
    # Three seconds are enough: what is not measured has its line as well.
    code, output = worker.run(*given)
    assert code in (0, 1), output
    assert len(worker.document()["workloads"]) > 60
    lines = [line for line in output.splitlines() if not re.match(r" *\[ *\d+/\d+\] ", line)]
    assert len(lines) <= 150, output
