# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Run a command as if it ran alone, and write what it demanded of the machine into one file.

Measured: wall time; of the command and of all processes that were waited for: CPU time, memory, and
I/O; of the places' disks: bytes, requests and flushes, ten times per second; dirty pages; pressure.
Not measured: processes that outlive the command. The counters of the disks, and those of
syncs, are the whole machine's: `other_cpu_ms` and `cgroup_bytes` show whether others used it.

The command has this process' streams, environment, limits and process group. Signals for this
process are passed on to it; those of a terminal reach both by themselves. A signal to the whole
group reaches the command twice. This process ends as the command did, by the same exit code or
signal, also if the profile fails. Exit code 127: the command was not found; 126: it is not executable.
"""

import errno
import os
import resource
import signal
import time
from contextlib import suppress
from typing import NamedTuple, Optional

from log import ERRORS
from reading import read_text
from settings import WrongArgumentsError, parse_measure

FORWARDED = (
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGALRM,
    signal.SIGTERM,
)
WAITED_FOR = {signal.SIGCHLD, *FORWARDED}
SI_KERNEL = 0x80  # the origin of a signal: the kernel, such as for a terminal's Ctrl-C
# Python ignores these when it starts, and nothing shows whether they were ignored before.
IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
WRONG_ARGUMENTS, NOT_EXECUTABLE, NOT_FOUND = 2, 126, 127
LONGEST_REST_S = 3600
SHELL = "/bin/sh"


def measure(arguments):
    """Return the command's exit code; end by its signal if one ended it."""
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, WAITED_FOR)
    # Where it is ignored, the kernel forgets how children end.
    of_children = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        settings = parse_measure(arguments)
    except WrongArgumentsError as error:
        ERRORS.say("error: %s; measure --help lists the arguments" % error)
        return WRONG_ARGUMENTS
    attempts = _Attempts()
    profile = attempts.make(_begin, settings)
    started_ns = time.monotonic_ns()
    try:
        child = _start(settings.command, mask, of_children)
    except OSError as error:
        wall_ns, usage = time.monotonic_ns() - started_ns, None
        ending = _Ending.of_error(error, settings.command[0])
        ERRORS.say("io-benchmark: %s: %s" % (settings.command[0], ending.error))
    else:
        status, usage = _wait(child, profile, attempts)
        wall_ns = time.monotonic_ns() - started_ns
        ending = _Ending.of_status(status)
    if profile is not None:
        attempts.make(profile.finish, ending._asdict(), wall_ns, usage)
    if attempts.failed is not None:
        ERRORS.say("io-benchmark: the command has no profile: " + attempts.failed)
    return ending.code if ending.signal is None else _end_by(ending.signal)


class _Ending(NamedTuple):
    """How the command ended: its code, or the signal that ended it."""

    code: Optional[int]
    signal: Optional[int]
    error: Optional[str]  # why it was not started; the code is then a shell's

    @classmethod
    def of_status(cls, status):
        if os.WIFSIGNALED(status):
            return cls(None, os.WTERMSIG(status), None)
        return cls(os.WEXITSTATUS(status), None, None)

    @classmethod
    def of_error(cls, error, name):
        import shutil  # noqa: PLC0415 - few commands need it

        # bash tries only paths; it looks for other names, and folders are none.
        is_looked_for = "/" not in name and shutil.which(name, os.F_OK) is None
        is_missing = is_looked_for or error.errno == errno.ENOENT
        return cls(NOT_FOUND if is_missing else NOT_EXECUTABLE, None, error.strerror)


class _Attempts:
    """Steps of the profile; after one fails, the others are skipped, and the command continues."""

    def __init__(self):
        self.failed = None

    def make(self, step, *arguments):
        """Return what the step returns; None where it fails."""
        if self.failed is not None:
            return None
        try:
            return step(*arguments)
        except OSError as error:
            self.failed = ": ".join(filter(None, (error.filename, error.strerror)))
        except Exception as error:  # noqa: BLE001 - a bug here must not end the command
            self.failed = "%s: %s" % (type(error).__name__, error)
        return None


def _begin(settings):
    from task_profile import TaskProfile  # noqa: PLC0415 - --help must not take its time

    return TaskProfile(settings, settings.command)


def _start(command, mask, of_children):
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
            signal.signal(signal.SIGCHLD, of_children)
            if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
                signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            _become(command, environment)
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


def _become(command, environment):
    try:
        os.execvpe(command[0], command, environment)
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
    import shutil  # noqa: PLC0415 - few commands need it

    # As a shell does with a script whose first line names no interpreter.
    script = shutil.which(command[0]) or command[0]
    os.execve(SHELL, [SHELL, script, *command[1:]], environment)


def _environment():
    """Return the environment as it was given: Python sets LC_CTYPE where the locale is C."""
    environment = dict(os.environ)
    given = read_text("/proc/self/environ")
    if given is not None:
        environment.pop("LC_CTYPE", None)
        for entry in given.split("\0"):
            if entry.startswith("LC_CTYPE="):
                environment["LC_CTYPE"] = entry[len("LC_CTYPE=") :]
    return environment


def _wait(child, profile, attempts):
    """Return the status and the usage of the command when it has ended."""
    while True:
        ended, status, usage = os.wait4(child, os.WNOHANG)
        if ended:
            return status, usage
        is_profiled = profile is not None and attempts.failed is None
        rest_s = profile.timeline.rest_s() if is_profiled else LONGEST_REST_S
        arrived = signal.sigtimedwait(WAITED_FOR, rest_s)
        if arrived is None:
            if is_profiled:
                attempts.make(profile.timeline.take)
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
