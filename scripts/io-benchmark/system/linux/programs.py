# SPDX-License-Identifier: MPL-2.0
"""Programs of single workloads: the one that does nothing, and one that is read while it runs."""

import os
import select
import signal
import subprocess

from system.linux import processes
from system.linux.crews import ending_with_parent

# How the workload spawn starts its program.
STARTING = ("posix-spawn", "os.posix_spawn, os.waitpid")


def does_nothing():
    """Return a program that does nothing, and its words, the first of which is its name."""
    return os.path.realpath(processes.path_of("true")), ("true",)


class Program:
    """A program that ends with this process; what it prints as errors is read while it runs."""

    def __init__(self, command, folder):
        self.exit_code = None
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            preexec_fn=ending_with_parent(),  # noqa: PLW1509 - there are no threads here
        )

    def read(self, wait_s):
        """Return what was printed, nothing at the end, None if nothing comes within this time."""
        end = self._process.stderr.fileno()
        return os.read(end, 1 << 16) if select.select([end], [], [], wait_s)[0] else None

    def end(self):
        os.kill(self._process.pid, signal.SIGKILL)

    def wait(self):
        processes.wait_for(self._process.pid)

    def reap(self):
        """Set `exit_code`, after wait(); return what the program spent."""
        status, spent = processes.reap(
            self._process.pid, processes.waiting_ns_of(self._process.pid)
        )
        is_killed = os.WIFSIGNALED(status)
        self.exit_code = -os.WTERMSIG(status) if is_killed else os.WEXITSTATUS(status)
        self._process.returncode = self.exit_code
        self._process.stderr.close()
        return spent


def make_waits_precise():
    """Do nothing: waits end within fractions of a millisecond."""
