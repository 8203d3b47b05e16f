# SPDX-License-Identifier: MPL-2.0
"""The log may go anywhere: no sample is lost to it, and a run that ends badly says so in one line."""

import fcntl
import os
import subprocess
import threading
import time
from collections.abc import Iterator

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


def assert_whole(worker: Worker) -> None:
    result = worker.result()
    assert result.outcome.state == "completed"
    assert [len(entry.samples.copy_ns) for entry in worker.retrieves()] == [150]
    assert result.warnings == []


@pytest.mark.parametrize("is_pipe", [True, False])
def test_a_log_that_nobody_takes(worker: Worker, is_pipe: bool) -> None:
    """Each line fails to be written: the run succeeds, and its file is whole."""
    read_end, write_end = os.pipe() if is_pipe else (None, os.open("/dev/full", os.O_WRONLY))
    if read_end is not None:
        os.close(read_end)
    assert run_into(worker, write_end) == 0
    os.close(write_end)
    assert_whole(worker)


@pytest.mark.parametrize("closed", ["1", "0 1 2"])
def test_closed_descriptors(worker: Worker, closed: str) -> None:
    """Their numbers are not given to the result or to a child's pipe."""
    closing = " ".join(f"{number}>&-" for number in closed.split())
    command = ["bash", "-c", f'exec "$@" {closing}', "bash", *worker.command("--retrieves", "150")]
    done = subprocess.run(command, check=False, timeout=60, stderr=subprocess.DEVNULL)
    assert done.returncode == 0
    assert_whole(worker)


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
    assert_whole(worker)


def test_patience(full_pipe: tuple[int, int]) -> None:
    """The log waits for a slow reader; many lines do not wait longer than one."""
    read_end, write_end = full_pipe
    log = _Log(write_end)
    saying = threading.Thread(target=log.say, args=("the line",))
    saying.start()
    assert os.read(read_end, 4096) == b"x" * 4096
    saying.join()
    assert os.read(read_end, 4096) == b"the line\n"
    os.write(write_end, b"x" * 4096)
    started_s, log._patience_s = time.monotonic(), 0.2
    for _ in range(10):
        log.say("a line")
    assert time.monotonic() - started_s < 1.5
