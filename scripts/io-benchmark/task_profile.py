# SPDX-License-Identifier: MPL-2.0
"""The profile of a command: what it demanded of the machine, as one JSON document.

A value that cannot be known is None, and `unknown` has the reason. Until the command has ended,
nothing is written and no process is started, because the profile must not disturb the command.
"""

import hashlib
import itertools
import os
import time

from log import STDERR, say
from measuring import timelines
from result import files
from system import clock, commands, counters, devices, host, storage

# 1 (2026-11-22): the first.
VERSION = 1
DEFAULT_NAME = "task-profile.json"
EVERY_S = 0.1
# The share of the time that rows may cost while a command runs; costly rows are further apart.
COST_SHARE = 0.005
ROWS_AT_MOST = 40_000  # an hour at ten per second
CELLS_AT_MOST = 400_000  # about 4 MB of JSON
NOT_STARTED = "the command was not started"
NO_CPU_TIME = "the system counted no CPU time of the command's processes: too little, or it cannot"
NO_WRITE_CACHE = "the disks have no volatile write cache, so a sync flushes nothing"
NO_BARRIERS = "mounted without barriers, so a sync flushes nothing"
NO_JOURNAL = "only ext4 shows how many commits were requested, and none is visible"


class TaskProfile:
    """A profile that begins when this is made; `timeline` takes rows until it is finished."""

    def __init__(self, settings):
        # None: of several commands in one folder, each has its profile.
        self._output = settings.output
        self._new_output = os.path.abspath(DEFAULT_NAME)
        self._unknown = {}
        self._document = files.head(VERSION, settings)
        words = [os.fsencode(word) for word in settings.command]
        # Without its arguments: these may hold what must not be public.
        self._document["command"] = {
            "program": os.path.basename(settings.command[0]),
            "arguments": len(words) - 1,
            "sha256": hashlib.sha256(b"\0".join(words)).hexdigest(),
            "label": settings.label,
        }
        self._document["limits"] = host.observe_limits()
        self._places = [self._observe(place) for place in settings.places]
        self._document["storage"] = {"places": self._places}
        leaves = (leaf["name"] for place in self._places for leaf in _leaves(place))
        self._leaves = list(dict.fromkeys(leaves))
        self._before = self._read()
        self.timeline = _CommandTimeline(self._leaves)

    def finish(self, ending, wall_ns, times_ns):
        """Write the file; OSError if that fails. `times_ns` is None if they are not known."""
        self.timeline.take()
        grown = _growth(self._before, self._read())
        other_cpu_ms = spent = None
        reason = NOT_STARTED if ending["error"] else NO_CPU_TIME
        if times_ns is not None:
            spent = dict(zip(("user_ns", "kernel_ns"), times_ns))
            other_cpu_ms = _other_cpu_ms(grown, times_ns)
            reason = "the kernel does not show the machine's CPU time"
        self._document.update(
            ended=time.strftime(files.UTC, time.gmtime()),
            ending=ending,
            wall_ns=wall_ns,
            usage=self._noted("usage", spent, reason),
            other_cpu_ms=self._noted("other_cpu_ms", other_cpu_ms, reason),
            io=None,  # readers of 1.0.0 need this key and the next
            cgroup_bytes=None,
            syncs={place["name"]: self._syncs(place, grown) for place in self._places},
            host=host.observe(may_measure=False),
            timeline=self.timeline.as_timeline(),
            unknown=self._unknown,
        )
        self._write()

    def _write(self):
        """Write to the file that was given, or to a new one."""
        if self._output is not None:
            os.makedirs(os.path.dirname(self._output), exist_ok=True)
            _write_as_named(self._output, self._document)
            return
        written = _write_new(self._new_output, self._document)
        if written != self._new_output:
            say("io-benchmark: %s exists; the profile is %s" % (DEFAULT_NAME, written), STDERR)

    def _noted(self, path, value, reason):
        """Return the value; where it is None, note why."""
        if value is None:
            self._unknown[path] = reason
        return value

    def _observe(self, place):
        reason = commands.NO_DISK
        try:
            observed = storage.observe(place.name, os.path.abspath(place.path), may_write=False)
        except OSError as error:
            observed = dict(place._asdict(), failed=error.strerror)
            reason = str(error.strerror)
        if not observed.get("devices"):
            self._unknown["storage.places.%s.devices" % place.name] = reason
        return observed

    def _read(self):
        """Read counters; what they grow by is the command's, or the machine's meanwhile."""
        totals = dict(zip(counters.CPU_COLUMNS, counters.cpu_ms_and_threads()[0]))
        totals["own_cpu_ns"] = time.process_time_ns()
        on_devices = devices.counters()
        for name in self._leaves:
            totals["flushes:" + name] = on_devices.get(name, devices.UNSEEN)[devices.FLUSHES]
        for place in self._places:
            totals["commits:" + place["name"]] = commands.requested_commits(place)
        return totals

    def _syncs(self, place, grown):
        """Return what the kernel counted of synchronous writes, also those of other tasks."""
        path = "syncs.%s." % place["name"]
        leaves = _leaves(place)
        flushes = [grown["flushes:" + leaf["name"]] for leaf in leaves]
        reason = ""
        if not leaves:
            reason = commands.NO_DISK
        elif None in flushes:
            reason = commands.NO_FLUSH_COUNT
        elif {leaf["write_cache"] for leaf in leaves} == {"write through"}:
            reason = NO_WRITE_CACHE
        elif commands.is_without_barriers(place):
            reason = NO_BARRIERS
        return {
            # A sync flushes every disk of a stripe.
            "flushes": self._noted(path + "flushes", None if reason else max(flushes), reason),
            "commits": self._noted(path + "commits", grown["commits:" + place["name"]], NO_JOURNAL),
        }


class _CommandTimeline(timelines.Timeline):
    """Rows about disks, CPUs, runnable threads and dirty pages while a command runs.

    There are ten per second, the first at time 0. In a long run, every second row is dropped and
    the interval doubles, as often as needed.
    """

    memory, pressure = ("dirty", "writeback"), counters.PRESSURE[:1]
    disk_columns = devices.COLUMNS
    has_threads = True

    def __init__(self, disks):
        super().__init__(disks, EVERY_S, clock.now_ns())
        # Even: the last row is never dropped.
        self._rows_at_most = min(ROWS_AT_MOST, CELLS_AT_MOST // len(self._names)) // 2 * 2
        self._due_s = time.monotonic()
        self.take()

    def rest_s(self):
        """Return the seconds until the next row is due."""
        return max(0.0, self._due_s - time.monotonic())

    def take(self):
        before_ns = time.thread_time_ns()
        self._rows.append(self.row())
        if len(self._rows) > self._rows_at_most:
            self._rows = [row for index, row in enumerate(self._rows) if index % 2 == 0]
            self._every_s *= 2
        cost_s = (time.thread_time_ns() - before_ns) / 1e9
        rest_s = max(self._every_s, cost_s / COST_SHARE)
        # After a pause of the machine, rows that were missed are not made up for.
        self._due_s = max(self._due_s + rest_s, time.monotonic())


def _leaves(place):
    return [device for device in place.get("devices", []) if not device["below"]]


def _write_as_named(path, document):
    """Write to a path that a person gave: through a link, and into a pipe or device."""
    target = os.path.realpath(path)
    if _is_stream(target):
        commands.write_to_stream(target, path, files.encoded(document))
    else:
        files.write(target, document)


def _is_stream(target):
    """Return whether this is a pipe or device; OSError for a file that may not be changed."""
    if os.path.isfile(target):
        os.close(os.open(target, os.O_WRONLY))  # the system decides whether it may be changed
        return False
    return os.path.lexists(target)


def _write_new(path, document):
    """Write to this path, or to the first numbered one that no other run has; return it."""
    stem, ending = os.path.splitext(path)
    for number in itertools.count(2):
        try:
            open(path, "xb").close()
        except FileExistsError:
            path = "%s-%d%s" % (stem, number, ending)
        else:
            break
    try:
        files.write(path, document)
    except OSError:
        os.unlink(path)
        raise
    return path


def _growth(before, after):
    """Return how much each counter grew; None for one that is not known, or started again at 0."""
    return {
        name: None if None in (then, after[name]) or after[name] < then else after[name] - then
        for name, then in before.items()
    }


def _other_cpu_ms(grown, times_ns):
    """Return the CPU time of all that is neither the command nor this program."""
    busy = [grown["cpu_%s_ms" % name] for name in counters.BUSY]
    if None in busy:
        return None
    own_ms = (grown["own_cpu_ns"] + sum(times_ns)) / 1e6
    return max(0, round(sum(busy) - own_ms))
