# SPDX-License-Identifier: MPL-2.0
"""Programs that are started, waited for, and accounted for one by one."""

import os
from contextlib import AbstractContextManager

from errors import WorkloadError
from log import NS_PER_S
from system.linux.accounts import waiting_ns_in
from system.linux.kernel import read_text


def path_of(name):
    import shutil  # noqa: PLC0415 - measure must not load it

    path = shutil.which(name)
    if path is None:
        raise WorkloadError("not on PATH: %s; install what is missing" % name)
    return path


class Finder:
    """The program that looks a URL up in a list: it prints the number of its line, then the URL."""

    method = "grep -Fnx, posix_spawn"

    def __init__(self):
        # With its path: a bare name would cost a failed execve per folder of PATH.
        self.program = path_of("grep")

    @staticmethod
    def words(url, url_list):
        return ("grep", "-Fnx", url, url_list)


class Answers(AbstractContextManager):
    """One pipe for all programs: each prints one line, which is read when it has ended."""

    def __init__(self):
        self._answer, self.output = os.pipe()
        os.set_blocking(self._answer, False)

    def __exit__(self, *_):
        os.close(self._answer)
        os.close(self.output)

    def read(self):
        """Return what was printed; it may be nothing."""
        try:
            return os.read(self._answer, 4096)
        except BlockingIOError:
            return b""


def start(program, words, output=None):
    """Return a new child; what it prints goes to `output`, of Answers."""
    actions = () if output is None else ((os.POSIX_SPAWN_DUP2, output, 1),)
    return os.posix_spawn(program, words, os.environ, file_actions=actions)


def wait_for(child):
    """Wait until the child has ended; its times can still be read in the process table."""
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)


def waiting_ns_of(child):
    """Return how long a child without threads waited for a CPU; call it before reap()."""
    return waiting_ns_in(read_text("/proc/%d/schedstat" % child) or "")


def reap(child, waiting_ns):
    """Return the status of a child that has ended, and what it spent; see waiting_ns_of()."""
    _, status, usage = os.wait4(child, 0)
    times_ns = (round(seconds * NS_PER_S) for seconds in (usage.ru_utime, usage.ru_stime))
    return status, (*times_ns, waiting_ns)


def output_of(command):
    """Return a command's output; empty where it is missing or does not answer."""
    import subprocess  # noqa: PLC0415 - measure must not load it

    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace")
