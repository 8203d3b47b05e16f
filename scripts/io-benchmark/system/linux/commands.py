# SPDX-License-Identifier: MPL-2.0
"""A command that `measure` starts as this process was started, and ends as; and its profile."""

import errno
import os
import resource
import signal
from contextlib import suppress

from log import NS_PER_S
from system.linux.kernel import first_int
from system.linux.storage import mount_table

WAITED_FOR = {
    signal.SIGCHLD,
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGTERM,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGALRM,
}
SI_KERNEL = 0x80  # the origin of a signal: the kernel, such as for a terminal's Ctrl-C
# Python ignores these when it starts, and nothing shows whether they were ignored before.
IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
NOT_EXECUTABLE = 126
# Why a part of a profile is not known.
NO_DISK = "in memory, on a network, or on disks that only a write would identify"
NO_FLUSH_COUNT = "the kernel does not count flushes; Linux 5.5 and later do"
NO_READER = "no program reads this pipe; start one before, or use a file"


class Command:
    """One command; signals wait from here on, and are passed on to it."""

    def __init__(self):
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, WAITED_FOR)
        # Where it is ignored, the kernel forgets how children end.
        self._child_handler = signal.signal(signal.SIGCHLD, signal.SIG_DFL)

    def start(self, words):
        """Start it; OSError if that fails."""
        self._child = _start(words, self._mask, self._child_handler)

    def wait(self, rest_s, take):
        """Call take() when rest_s() is over, until the command ends.

        Return its exit code or None, its signal or None, and its user and kernel ns, with those of
        all processes that were waited for.
        """
        while True:
            ended, status, usage = os.wait4(self._child, os.WNOHANG)
            if ended:
                break
            arrived = signal.sigtimedwait(WAITED_FOR, rest_s())
            if arrived is None:
                take()
            elif arrived.si_signo != signal.SIGCHLD and arrived.si_code != SI_KERNEL:
                # A command such as sudo: then the sender has no permission either.
                with suppress(PermissionError):
                    os.kill(self._child, arrived.si_signo)
        times_ns = tuple(round(seconds * NS_PER_S) for seconds in (usage.ru_utime, usage.ru_stime))
        if os.WIFSIGNALED(status):
            return None, os.WTERMSIG(status), times_ns
        return os.WEXITSTATUS(status), None, times_ns


def _start(command, mask, child_handler):
    """Start the command with the signals that this program was started with.

    Not by posix_spawn(), because the GNU C library's leaves the signals 32 and 33 ignored.
    """
    if not command[0]:
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
    environment = _environment()
    # Closed when the command starts; otherwise it gets the reason why not.
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            for number in IGNORED_BY_PYTHON:
                signal.signal(number, signal.SIG_DFL)
            signal.signal(signal.SIGCHLD, child_handler)
            if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
                signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            os.execvpe(command[0], command, environment)
        except OSError as error:
            os.write(writer, str(error.errno).encode())
        finally:
            os._exit(NOT_EXECUTABLE)
    os.close(writer)
    failure = os.read(reader, 16)
    os.close(reader)
    if failure:
        os.waitpid(child, 0)
        raise OSError(int(failure), os.strerror(int(failure)))
    return child


def _environment():
    """Return the environment as it was given: Python sets LC_CTYPE where the locale is C.

    Without /proc nothing shows how it was given.
    """
    try:
        with open("/proc/self/environ", "rb") as file:
            variables = (entry.partition(b"=") for entry in file.read().split(b"\0"))
    except OSError:
        return dict(os.environb)
    return {name: value for name, equals, value in variables if equals}


def end_as(code, number):
    """Return the command's exit code, or end by the signal that ended it, as the parent sees it."""
    if number is None:
        return code
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    # Only the command's own core dump is kept.
    resource.setrlimit(resource.RLIMIT_CORE, (0, most))
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    return 128 + number  # the first process of a container survives its own signals


# --- what only a profile needs: counts of syncs, and a pipe or device to write it into ---


def requested_commits(place):
    """Return how many commits of the place's journal were requested, by syncs for the most part."""
    for device in place.get("devices", [])[:1]:
        return first_int(r"\((\d+) requested\)", "/proc/fs/jbd2/%s-8/info" % device["name"])
    return None


def is_without_barriers(place):
    options = [place["mount"]["super_options"]]
    numbers = [device["number"] for device in place["devices"]]
    options += [mount.super_options for mount in mount_table() if mount.device in numbers]
    return any({"nobarrier", "barrier=0"} & set(words.split(",")) for words in options)


def write_to_stream(target, path, data):
    """Write to a pipe or device, which the message calls `path`."""
    try:
        descriptor = os.open(target, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        raise OSError(error.errno, NO_READER, path) from None
    os.set_blocking(descriptor, True)
    with open(descriptor, "wb") as file:
        file.write(data)
