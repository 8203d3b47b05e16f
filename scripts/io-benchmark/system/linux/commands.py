# SPDX-License-Identifier: MPL-2.0
"""A command that `measure` starts as this process was started, and ends as."""

import errno
import os
import resource
import signal
from contextlib import suppress

from log import NS_PER_S

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
