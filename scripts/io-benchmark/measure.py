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
from typing import Any

from log import STDERR, say
from settings import (
    PLACE,
    Parser,
    Place,
    WrongArgumentsError,
    check_places,
    matching,
    new_place,
    pool_name,
)
from system import clock, commands

WRONG_ARGUMENTS, NOT_EXECUTABLE, NOT_FOUND = 2, 126, 127
LONGEST_REST_S = 3600


def measure(arguments, job):
    """Return the command's exit code; end by its signal if one ended it."""
    command = commands.Command()
    try:
        settings = _parse(arguments, job)
    except WrongArgumentsError as error:
        say("error: %s; measure --help lists the arguments" % error, STDERR)
        return WRONG_ARGUMENTS
    times_ns = None
    ending: Any = {"code": None, "signal": None, "error": None}
    profiling = _Profiling(settings)
    started_ns = clock.now_ns()
    try:
        command.start(settings.command)
    except OSError as error:
        wall_ns = clock.now_ns() - started_ns
        code = NOT_FOUND if error.errno == errno.ENOENT else NOT_EXECUTABLE
        ending.update(code=code, error=error.strerror)
        say("io-benchmark: %s: %s" % (settings.command[0], error.strerror), STDERR)
    else:
        code, number, times_ns = command.wait(profiling.rest_s, profiling.take)
        wall_ns = clock.now_ns() - started_ns
        ending.update(code=code, signal=number)
    profiling.finish(ending, wall_ns, times_ns)
    return commands.end_as(ending["code"], ending["signal"])


def _parse(arguments, job):
    parser = Parser(
        prog="io-benchmark measure",
        description="Run a command, and write what it asked of this machine.",
        usage="%(prog)s [--place NAME=/path ...] [--pool NAME] [--label TEXT] [--output FILE] "
        "-- COMMAND ...",
        epilog="Exit code: the command's; 2 wrong arguments, 126 and 127 it cannot be run.",
    )
    add = parser.add_argument
    places: Any = {"dest": "places", "action": "append", "metavar": "NAME=/path"}
    add("--place", **places, type=new_place, help="where it works (default: here)")
    add("--pool", type=pool_name, metavar="NAME", help="the pool of this machine")
    text = "1 to 100 characters without line breaks"
    label = matching(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]{1,100}", str, text)
    add("--label", type=label, metavar="TEXT", help="the task's name (default: the command's)")
    default = "default: a new file, task-profile.json if there is none"
    # A stream of this process has other writers.
    file = matching(r"(?!-$|/dev/(?!shm/)|/proc/)[^\0]+", os.path.abspath, "a file's name")
    add("--output", type=file, metavar="FILE", help=default)
    end = arguments.index("--") if "--" in arguments else len(arguments)
    settings = parser.parse_args(arguments[:end])
    settings.command, settings.job = arguments[end + 1 :], job
    if not settings.command:
        parser.error("the command is missing; give it after --")
    settings.places = settings.places or [Place(PLACE, os.curdir)]
    check_places(parser, settings.places)
    return settings


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
