# SPDX-License-Identifier: MPL-2.0
"""The log may go anywhere: no sample is lost to it, and a run that ends badly says so in one line."""

import os
import subprocess

import log
import pytest
from worker import Worker


def run_into(worker: Worker, stdout: int) -> int:
    """The exit code of a run whose log goes to this descriptor."""
    process = subprocess.Popen(
        worker.command("--retrieves", "150"),
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


def test_a_line(capfd: pytest.CaptureFixture[str]) -> None:
    """What would end it or steer a terminal is escaped; a pipe takes it as a whole."""
    log.say("a\nb\x1b[2J µ")
    log.say("x" * 5000)
    assert capfd.readouterr().out == f"a\\nb\\x1b[2J µ\n{'x' * 4000}\n"


@pytest.mark.parametrize(
    ("done", "longest_s", "line"),
    [
        (50, float("inf"), "  [ 50/200] 30.0 s left, mean 1 ms\n"),
        (50, 7.5, "  [ 50/200] 7.5 s left, mean 1 ms\n"),
        (0, 7.5, "  [  0/200] 7.5 s left, mean 1 ms\n"),
        (200, -1.0, "  [200/200] 0.0 s left, mean 1 ms\n"),
    ],
)
def test_progress(
    capfd: pytest.CaptureFixture[str], done: int, longest_s: float, line: str
) -> None:
    """Every five seconds, with the time that the rest takes at the speed so far, or until the limit."""
    progress = log.ProgressLines(200, 1000)
    assert progress.due_ns == 5 * 10**9 + 1000
    progress.show(done, 10**10 + 1000, ", mean 1 ms", longest_s)
    assert capfd.readouterr().out == line
    assert progress.due_ns == 15 * 10**9 + 1000
