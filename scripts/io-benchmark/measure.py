# SPDX-License-Identifier: MPL-2.0
"""Run a command as if it ran alone, and write what it demanded of the machine into one file.

Measured: wall time; CPU time of the command and of all processes that were waited for; of the
places' disks: bytes, requests and flushes, ten times per second; dirty pages; pressure; how many
threads are runnable.
Not measured: processes that outlive the command. Runnable threads and the counters of the disks
and of syncs are the whole machine's: `other_cpu_ms` shows whether others used it.

The command has this process' streams, environment, limits and process group. Signals for this
process are passed on to it; those of a terminal reach both by themselves. A signal to the whole
group reaches the command twice. This process ends as the command did, by the same exit code or
signal, also if the profile fails. Exit code 127: the command was not found; 126: it cannot run.
"""

import errno
import os
import resource
import signal
import time
from contextlib import suppress
from typing import Any

from log import STDERR, say
from settings import WrongArgumentsError, parse_measure

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
WRONG_ARGUMENTS, NOT_EXECUTABLE, NOT_FOUND = 2, 126, 127
LONGEST_REST_S = 3600


def measure(arguments, job):
    """Return the command's exit code; end by its signal if one ended it."""
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, WAITED_FOR)
    # Where it is ignored, the kernel forgets how children end.
    child_handler = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        settings = parse_measure(arguments, job)
    except WrongArgumentsError as error:
        say("error: %s; measure --help lists the arguments" % error, STDERR)
        return WRONG_ARGUMENTS
    usage = None
    ending: Any = {"code": None, "signal": None, "error": None}
    profiling = _Profiling(settings)
    started_ns = time.monotonic_ns()
    try:
        child = _start(settings.command, mask, child_handler)
    except OSError as error:
        wall_ns = time.monotonic_ns() - started_ns
        code = NOT_FOUND if error.errno == errno.ENOENT else NOT_EXECUTABLE
        ending.update(code=code, error=error.strerror)
        say("io-benchmark: %s: %s" % (settings.command[0], error.strerror), STDERR)
    else:
        status, usage = _wait(child, profiling)
        wall_ns = time.monotonic_ns() - started_ns
        if os.WIFSIGNALED(status):
            ending["signal"] = os.WTERMSIG(status)
        else:
            ending["code"] = os.WEXITSTATUS(status)
    profiling.finish(ending, wall_ns, usage)
    return ending["code"] if ending["signal"] is None else _end_by(ending["signal"])


class _Profiling:
    """The profile of the command; after a step of it fails, the others are skipped."""

    def __init__(self, settings):
        self._failure = None
        self._profile = self._attempt(_begin, settings)

    def _attempt(self, step, *arguments):
        try:
            return step(*arguments)
        except OSError as error:
            self._failure = ": ".join(filter(None, (error.filename, error.strerror)))
        except Exception as error:  # noqa: BLE001 - a bug here must not end the command
            self._failure = "%s: %s" % (type(error).__name__, error)
        return None

    def rest_s(self):
        return self._profile.timeline.rest_s() if self._failure is None else LONGEST_REST_S

    def take(self):
        if self._failure is None:
            self._attempt(self._profile.timeline.take)

    def finish(self, *facts):
        if self._failure is None:
            self._attempt(self._profile.finish, *facts)
        if self._failure is not None:
            say("io-benchmark: the command has no profile: " + self._failure, STDERR)


def _begin(settings):
    from task_profile import TaskProfile  # noqa: PLC0415 - --help must not take its time

    return TaskProfile(settings)


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


def _wait(child, profiling):
    while True:
        ended, status, usage = os.wait4(child, os.WNOHANG)
        if ended:
            return status, usage
        arrived = signal.sigtimedwait(WAITED_FOR, profiling.rest_s())
        if arrived is None:
            profiling.take()
        elif arrived.si_signo != signal.SIGCHLD and arrived.si_code != SI_KERNEL:
            # A command such as sudo: then the sender has no permission either.
            with suppress(PermissionError):
                os.kill(child, arrived.si_signo)


def _end_by(number):
    """End by the signal that ended the command, so that the parent process sees it."""
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    # Only the command's own core dump is kept.
    resource.setrlimit(resource.RLIMIT_CORE, (0, most))
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    return 128 + number  # the first process of a container survives its own signals
