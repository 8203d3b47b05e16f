# SPDX-License-Identifier: MPL-2.0
"""Stopped at any moment: a valid file, a clean place, the right exit code."""

import os
import shutil
import signal
import time

import pytest
from worker import at_import, outcome_of, wait_for

# The first line about the progress comes after a moment.
SOON = "import log; log.PROGRESS_EVERY_NS = 300_000_000\n"


@pytest.mark.parametrize(
    ("number", "send"),
    [
        (signal.SIGTERM, os.kill),
        # A terminal sends these to every process of the group.
        (signal.SIGINT, os.killpg),
        (signal.SIGHUP, os.killpg),
    ],
)
def test_a_signal_while_retrieving(worker, number, send):
    """What was measured until then is in the file, also the timeline.

    Code and last line name it.
    """
    worker.environment["TASK_ID"] = "Prp_WjpGRx26VH-wA8fjTA"
    given = ("--retrieves", "100000")
    code, output = worker.signalled(number, *given, after="/100000]", prelude=SOON, send=send)
    assert code == 128 + number, output
    assert f"\nTEST-UNEXPECTED-FAIL | amd-16: stopped by {number.name}\n" in output
    assert "=== RESULTS" in output
    result = worker.result()
    (entry,) = worker.retrieves()
    stopped = ("stopped", f"stopped by {number.name}")
    assert (outcome_of(result), outcome_of(entry)) == (stopped, stopped)
    assert 0 < len(entry.samples.copy_ns) < 100000
    assert result.warnings == []


def test_nohup(worker):
    """Where SIGHUP is ignored from the start, the run goes on."""
    ignoring = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)"
    given = (signal.SIGHUP, "--retrieves", "100")
    code, output = worker.signalled(*given, after="drop_caches", prelude=ignoring)
    assert code == 0, output


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_modules_load(worker, number):
    """Before the record exists: it is written all the same, and says what stopped the run."""
    code, output = worker.run("--retrieves", "300", prelude=at_import("settings", number))
    assert code == 128 + number, output
    assert outcome_of(worker.result()) == ("stopped", f"stopped by {number.name}")


def test_a_signal_after_the_last_line(worker):
    """While the interpreter would end, its handlers are gone: the exit code stays the run's."""
    worker.workloads = ("spawn",)
    process = worker.start("--profile", "quick")
    wait_for(process, "=== Benchmark complete")
    while process.poll() is None:
        os.kill(process.pid, signal.SIGTERM)
    process.communicate()
    assert process.returncode == 0


@pytest.mark.parametrize("delay_s", [0.2, 0.7, 1.1])
def test_a_signal_at_any_moment(worker, delay_s):
    """Whenever it comes from the first line on, also twice, the file is valid, the place clean."""
    both = ("--destination", "fresh", "--destination", "unlink")
    process = worker.start("--retrieves", "300", *both)
    wait_for(process, "=== io-benchmark")
    time.sleep(delay_s)
    for _ in range(2):
        if process.poll() is None:
            os.kill(process.pid, signal.SIGTERM)
    output, _ = process.communicate(timeout=60)
    assert "Traceback" not in output
    result, stopped = worker.result(), "stopped by SIGTERM"
    if process.returncode != 0:
        assert (process.returncode, outcome_of(result)) == (143, ("stopped", stopped)), output
        states = {outcome_of(entry) for entry in result.workloads}
        assert states <= {("completed", None), ("stopped", stopped), ("not-started", stopped)}
    else:
        assert outcome_of(result) == ("completed", None)
    worker.assert_clean(process.pid)


# Right after a folder was closed by Python's own clean-up, which then closes it once more.
CLOSED_TWICE = """
import os, shutil, signal
class Closing:
    def __getattr__(self, name):
        return getattr(os, name)
    def close(self, descriptor):
        os.close(descriptor)
        os.kill(os.getpid(), signal.SIGTERM)
from workloads import unpack
make_ready = unpack.WORKLOAD._make_ready
def interrupted(self):
    shutil.os = Closing()
    make_ready(self)
unpack.WORKLOAD._make_ready = interrupted
unpack.QUICK.update(small_files=30, samples=3)
"""
# When the first crew is to end its processes, as that of the sampler never does.
AT_THE_END = """
import os, signal
from system.linux import crews
end = crews.Crew.__exit__
class Crew(crews.Crew):
    def __exit__(self, *error):
        os.kill(os.getpid(), signal.SIGTERM)
        return end(self, *error)
crews.Crew = Crew
"""
# While Python deletes an object: it drops what is raised there.
WHILE_DELETING = """
import os, signal
class Deleted:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
from workloads.spawn import WORKLOAD
add = WORKLOAD.add
def adding(self, *times):
    Deleted()
    return add(self, *times)
WORKLOAD.add = adding
"""


@pytest.mark.parametrize(
    ("name", "prelude"),
    [
        ("unpack", CLOSED_TWICE),
        ("upload", AT_THE_END),
        ("sync-write", AT_THE_END),
        ("spawn", WHILE_DELETING),
    ],
)
def test_a_signal_that_nothing_can_hide(worker, name, prelude):
    """Neither an error of a clean-up that it interrupts, nor Python; no process is left behind."""
    if name == "upload" and shutil.which("curl") is None:
        pytest.skip("needs curl")
    worker.workloads = (name,)
    code, output = worker.signalled(0, "--profile", "quick", after="=== Plan", prelude=prelude)
    assert code == 143, output
    assert "has not ended" not in output
    stopped = ("stopped", "stopped by SIGTERM")
    assert outcome_of(worker.result()) == stopped
    states = {outcome_of(entry) for entry in worker.result().workloads}
    assert states <= {stopped, ("completed", None), ("not-started", "stopped by SIGTERM")}


# A hundred retrieves, and what comes before them, may take a busy machine longer than a test
# should.
ENOUGH = """
from measuring import fixed_work
from system.linux import page_cache
from workloads.cache_retrieve import WORKLOAD
fixed_work.BURST_NS = 1
page_cache.sync_filesystem = lambda _path: None
page_cache.drop_all = lambda: "refused: by a test"
WORKLOAD.samples_for_a_verdict = {}
"""


@pytest.mark.parametrize(("enough", "code"), [(1, 0), (100_000, 1)])
def test_the_time_budget(worker, enough, code):
    """Out of time with enough for a verdict, the code is 0.

    Otherwise the task must not look green.
    """
    given = ("--retrieves", "100000", "--time-budget", "4")
    assert worker.run(*given, prelude=ENOUGH.format(enough))[0] == code
    result, ended = worker.result(), ("time-budget", "the time budget of 4 s is used up")
    assert [outcome_of(part) for part in (result, *result.workloads)] == [ended, ended]
    assert 1 <= len(worker.retrieves()[0].samples.copy_ns) < 100_000
