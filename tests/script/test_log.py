# SPDX-License-Identifier: MPL-2.0
"""The log may go anywhere: no sample is lost to it, and a bad end is one line."""

import os
import subprocess
from types import SimpleNamespace

import log
import pytest

FEW = ("--retrieves", "60")


def run(worker, redirections, **options):
    """Run with these redirections of bash; what was measured is whole."""
    command = ["bash", "-c", f'exec "$@" {redirections}', "bash", *worker.command(*FEW)]
    environment = {**os.environ, **worker.environment}
    done = subprocess.run(command, check=False, timeout=60, env=environment, **options)
    assert done.returncode == 0
    result = worker.result()
    assert (result.outcome.state, result.warnings) == ("completed", [])
    assert [len(entry.samples.start_ns) for entry in result.workloads] == [60]
    return done


@pytest.mark.parametrize(
    "redirections",
    [">/dev/full 2>&1", "> >(exit) 2>&1", "1>&-", "0>&- 1>&- 2>&-"],
    ids=["full", "left", "closed", "all closed"],
)
def test_a_log_that_nobody_takes(worker, redirections):
    """Each line fails to be written.

    Closed descriptors are not given to the result or a child's pipe.
    """
    run(worker, redirections, stderr=subprocess.DEVNULL)


@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
def test_an_encoding_without_the_unit(capfdbinary, monkeypatch, encoding):
    """What the encoding lacks is escaped, such as the µ of a unit."""
    monkeypatch.setattr(log.sys, "stdout", SimpleNamespace(encoding=encoding))
    log.say("µs")
    assert capfdbinary.readouterr().out == (b"\xb5s\n" if encoding == "latin-1" else b"\\xb5s\n")


def test_a_line(capfd):
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
def test_progress(capfd, done, longest_s, line):
    """Every five seconds, with the time of the rest at the speed so far, or until the limit."""
    progress = log.ProgressLines(200, 1000)
    assert progress.due_ns == 5 * 10**9 + 1000
    progress.show(done, 10**10 + 1000, ", mean 1 ms", longest_s)
    assert capfd.readouterr().out == line
    assert progress.due_ns == 15 * 10**9 + 1000
