# SPDX-License-Identifier: MPL-2.0
"""What a thread and its children spend: on a CPU, waiting for one, blocked."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import kernel
import pytest
from measuring.batches import ProcessTimes

MS = 1_000_000
SCHEDSTAT = Path("/proc/thread-self/schedstat")

Spent = tuple[int, int, int | None]


def spent_by(action: Callable[[], object]) -> Spent:
    with kernel.Account() as account:
        account.begin()
        action()
        spent: Spent = account.end()
        return spent


def start(code: str) -> int:
    return os.posix_spawn(sys.executable, (sys.executable, "-S", "-c", code), os.environ)


def test_a_childs_times_are_read_before_it_is_reaped() -> None:
    """Its CPU time, its status, and what it waited for a CPU."""
    child = start("import time\nwhile time.process_time() < 0.1: pass\nraise SystemExit(3)")
    kernel.wait_for(child)
    status, spent = kernel.reap(child, kernel.waiting_ns_of(child))
    user_ns, kernel_ns, waiting_ns = spent
    assert os.WEXITSTATUS(status) == 3
    assert user_ns + kernel_ns > 90 * MS
    if SCHEDSTAT.exists():
        assert waiting_ns is not None
        assert waiting_ns >= 0
    with pytest.raises(ChildProcessError):
        os.waitpid(child, os.WNOHANG)


def test_a_reaped_childs_waiting(recorded: Callable[..., None]) -> None:
    """It is the second number of its schedstat, or unknown."""
    children = [start(""), start("")]
    recorded({f"/proc/{children[0]}/schedstat": "1 55 2\n"})
    waiting = [kernel.waiting_ns_of(child) for child in children]
    assert [kernel.reap(*each)[1][2] for each in zip(children, waiting, strict=True)] == [55, None]


@pytest.mark.parametrize(
    ("text", "later", "waiting_ns"),
    [
        ("100 20 3\n", "900 65 4\n", 45),
        # Not counted, two numbers, no number: waiting is unknown, time on a CPU is known all the same.
        *((text, text, None) for text in (None, "", "0 0 0\n", "12 34\n", "12 x 3\n")),
    ],
)
def test_a_schedstat(recorded, text, later, waiting_ns):
    """The second number of three is the waiting; it is read again from the open file."""
    path = "/proc/thread-self/schedstat"
    recorded({} if text is None else {path: text, "/proc/7/schedstat": text})

    def grow():
        if later is not None:
            Path(kernel.ROOT + path).write_text(later)

    user_ns, kernel_ns, waited_ns = spent_by(grow)
    assert user_ns + kernel_ns >= 0
    assert waited_ns == waiting_ns
    assert kernel.waiting_ns_of(7) == (waiting_ns and 20)


def test_sums_of_processes() -> None:
    """What one of them does not know, nobody knows of all together."""
    times = ProcessTimes()
    assert times.as_document() is None
    keys = ("wall_ns", "user_ns", "kernel_ns", "waiting_ns")
    for spent, sums in (
        ((10, 4, 3, 2), (10, 4, 3, 2)),
        ((10, 1, 1, 0), (20, 5, 4, 2)),
        ((1, 1, 0, None), (21, 6, 4, None)),
        ((1, 0, 1, 7), (22, 6, 5, None)),
    ):
        times.add(*spent)
        assert times.as_document() == dict(zip(keys, sums, strict=True))
