# SPDX-License-Identifier: MPL-2.0
"""What a thread and its children spend: on a CPU, waiting for one, blocked."""

import itertools
import os
import sys
from pathlib import Path

import pytest
from measuring.workload import together
from system.linux import accounts, kernel, processes

MS = 1_000_000
SCHEDSTAT = Path("/proc/thread-self/schedstat")


def test_a_childs_times_are_read_before_it_is_reaped() -> None:
    """Its CPU time, its status, and what it waited for a CPU."""
    code = "import time\nwhile time.process_time() < 0.1: pass\nraise SystemExit(3)"
    child = os.posix_spawn(sys.executable, (sys.executable, "-S", "-c", code), os.environ)
    processes.wait_for(child)
    assert (processes.waiting_ns_of(child) is not None) == SCHEDSTAT.exists()
    status, (user_ns, kernel_ns, waiting_ns) = processes.reap(child, 55)
    assert (os.WEXITSTATUS(status), waiting_ns) == (3, 55)
    assert user_ns + kernel_ns > 90 * MS
    with pytest.raises(ChildProcessError):
        os.waitpid(child, os.WNOHANG)


@pytest.mark.parametrize(
    ("text", "later", "waiting_ns"),
    [
        ("100 20 3\n", "900 65 4\n", 45),
        # Not counted, two numbers, no number: waiting is unknown, time on a CPU is known all the
        # same.
        *((text, text, None) for text in (None, "", "0 0 0\n", "12 34\n", "12 x 3\n")),
    ],
)
def test_a_schedstat(recorded, text, later, waiting_ns):
    """The second number of three is the waiting; it is read again from the open file."""
    path = "/proc/thread-self/schedstat"
    recorded({} if text is None else {path: text, "/proc/7/schedstat": text})
    with accounts.Account() as account:
        before = account.read()
        if later is not None:
            Path(kernel.ROOT + path).write_text(later)
        user_ns, kernel_ns, waited_ns = account.since(before)
    assert user_ns + kernel_ns >= 0
    assert waited_ns == waiting_ns
    assert processes.waiting_ns_of(7) == (waiting_ns and 20)


def test_sums_of_processes() -> None:
    """What one of them does not know, nobody knows of all together."""
    spent = [(10, 4, 3, 2), (10, 1, 1, 0), (1, 1, 0, None), (1, 0, 1, 7)]
    sums = [(10, 4, 3, 2), (20, 5, 4, 2), (21, 6, 4, None), (22, 6, 5, None)]
    assert list(itertools.accumulate(spent, together)) == sums
