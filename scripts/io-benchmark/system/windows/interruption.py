# SPDX-License-Identifier: MPL-2.0
"""Ctrl-C, Ctrl-Break and a timer, which end a run early; and the children that are left behind.

Python runs a handler between two steps of the main thread, so a call that waits delays it: calls
here wait for a moment at a time. Windows tells a process nothing before it ends it with its
console, or by `taskkill /f`.
"""

import _thread
import os
import signal
import time

from system.windows import accounts

SIGBREAK = 21  # signal.SIGBREAK, which Python has on Windows alone
SIGNALS = (signal.SIGINT, SIGBREAK)
# Nothing sends it on Windows: a handler gets it for the timer.
TIMER = signal.SIGTERM
CHILDREN_END_WITHIN_S = 10
_timer = {"number": 0, "is_over": False}


def catch(handle):
    """Let handle(number, frame) be called for each signal; children end with this process."""

    def call(number, frame):
        is_over, _timer["is_over"] = _timer["is_over"], False
        handle(TIMER if is_over else number, frame)

    for number in SIGNALS:
        signal.signal(number, call)
    accounts.begin_job()


def end_after(seconds):
    """Let the handler be called after this time, and not by an earlier timer."""
    _timer["number"] += 1
    # Not threading's: a handler may call this while another thread is being started.
    _thread.start_new_thread(_end_after, (seconds, _timer["number"]))


def _end_after(seconds, number):
    time.sleep(seconds)
    if number == _timer["number"]:
        _timer["is_over"] = True
        # Of all signals this one also wakes the main thread from time.sleep().
        signal.raise_signal(signal.SIGINT)


def is_timer(number):
    return number == TIMER


def children_have_ended():
    """Wait for children of which an interruption came before their handle was stored."""
    until_s = time.monotonic() + CHILDREN_END_WITHIN_S
    try:
        with accounts.job_of(os.getpid()) as job:
            while accounts.times_in(job)[1] > 1:
                if time.monotonic() >= until_s:
                    return False
                time.sleep(0.01)
    except OSError:
        pass  # without a job nothing tells
    return True
