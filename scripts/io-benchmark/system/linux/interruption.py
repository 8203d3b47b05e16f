# SPDX-License-Identifier: MPL-2.0
"""The signals that end a run early, the timer among them, and the children that one left behind."""

import os
import signal
import time

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM)
CHILDREN_END_WITHIN_S = 10


def catch(handle):
    """Let handle(number, frame) be called for each signal."""
    for number in SIGNALS:
        # Under nohup, SIGHUP is ignored and has to stay so.
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handle)


def end_after(seconds):
    """Send a signal after this time; the kernel uses the monotonic clock, which does not jump."""
    signal.setitimer(signal.ITIMER_REAL, seconds)


def is_timer(number):
    """Return whether this signal may be that of end_after(); anybody can send it."""
    return number == signal.SIGALRM


def children_have_ended():
    """Wait for children of which an interruption came before their number was stored."""
    until_s = time.monotonic() + CHILDREN_END_WITHIN_S
    try:
        while time.monotonic() < until_s:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.01)
    except ChildProcessError:
        return True
    return False
